// SPDX-License-Identifier: Apache-2.0
// cadence_conv_nhwc_s8 with Hexagon's vectors. Contract: lent_hvx.h.
#include "kernels/cadence/lent_hvx.h"

EMBER_LENT_KERNEL(cadence_conv_nhwc_s8_hvx, ember_lent_hvx_t, ember_lent_hvx_prepare,
                  ember_lent_hvx_run, ember_turn_hvx, true);
