// SPDX-License-Identifier: Apache-2.0
// quantized_gru_mve: with Helium.
#include "kernels/recurrent/recurrent.h"

EMBER_RECURRENT_KERNEL(quantized_gru_mve, gru, ember_recurrent_core_mve,
                       ember_gru_cells_mve);
