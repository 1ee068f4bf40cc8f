// SPDX-License-Identifier: Apache-2.0
// quantized_lstm_dsp: with the DSP instructions.
#include "kernels/recurrent/recurrent.h"

EMBER_RECURRENT_KERNEL(quantized_lstm_dsp, lstm, ember_recurrent_core_dsp,
                       ember_lstm_cells_dsp);
