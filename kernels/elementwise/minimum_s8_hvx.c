// SPDX-License-Identifier: Apache-2.0
// y = the smaller of a and b, int8, with HVX: 128 at a time.
#include "kernels/elementwise/extremum_s8.h"
#include "kernels/engine/hvx/scale_hvx.h"

EMBER_EXTREMUM_S8_HVX(Q6_Vb_vmin_VbVb)
EMBER_KERNEL(minimum_s8_hvx, ember_pair_s8_t);
