// SPDX-License-Identifier: Apache-2.0
// quantized_gru_dsp: with the DSP instructions.
#include "kernels/recurrent/recurrent.h"

EMBER_RECURRENT_KERNEL(quantized_gru_dsp, gru, ember_recurrent_core_dsp,
                       ember_gru_cells_dsp);
