// SPDX-License-Identifier: Apache-2.0
// cadence_conv_nchw_s8 with Helium. Contract: lent_mve.h.
#include "kernels/cadence/lent_mve.h"

EMBER_LENT_KERNEL(cadence_conv_nchw_s8_mve, ember_lent_mve_t, ember_lent_mve_prepare,
                  ember_lent_mve_run, ember_turn_mve, false);
