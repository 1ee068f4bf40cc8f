// SPDX-License-Identifier: Apache-2.0
// quantized_lstm_mve: with Helium.
#include "kernels/recurrent/recurrent.h"

EMBER_RECURRENT_KERNEL(quantized_lstm_mve, lstm, ember_recurrent_core_mve,
                       ember_lstm_cells_mve);
