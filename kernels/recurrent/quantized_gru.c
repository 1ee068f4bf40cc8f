// SPDX-License-Identifier: Apache-2.0
// ember::quantized_gru.out
#include "kernels/recurrent/recurrent.h"

EMBER_RECURRENT_KERNEL(quantized_gru, gru, ember_recurrent_core, ember_gru_cells);
