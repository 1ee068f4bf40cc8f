// SPDX-License-Identifier: Apache-2.0
// ember::quantized_lstm.out
#include "kernels/recurrent/recurrent.h"

EMBER_RECURRENT_KERNEL(quantized_lstm, lstm, ember_recurrent_core, ember_lstm_cells);
