// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/sme/vector.h"

#include <arm_sme.h>

uint32_t ember_xnn_sme_vector(void) {
    return (uint32_t)svcntsb();
}
