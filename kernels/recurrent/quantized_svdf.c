// SPDX-License-Identifier: Apache-2.0
// ember::quantized_svdf.out
#include "kernels/recurrent/svdf.h"

EMBER_SVDF_KERNEL(quantized_svdf, ember_recurrent_core, ember_dot_s16);
