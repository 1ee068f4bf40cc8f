// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/sme/vector.h"

uint32_t ember_xnn_sme_model_vector = 64;

uint32_t ember_xnn_sme_vector(void) {
    return ember_xnn_sme_model_vector;
}
