// SPDX-License-Identifier: Apache-2.0
// quantized_svdf_mve: with Helium.
#include "kernels/engine/mve/dot_s16_mve.h"
#include "kernels/recurrent/svdf.h"

EMBER_SVDF_KERNEL(quantized_svdf_mve, ember_recurrent_core_mve, ember_dot_s16_mve);
