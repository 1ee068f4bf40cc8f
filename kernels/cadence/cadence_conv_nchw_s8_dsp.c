// SPDX-License-Identifier: Apache-2.0
// cadence_conv_nchw_s8 with the DSP instructions. Contract: lent_dsp.h.
#include "kernels/cadence/lent_dsp.h"

EMBER_LENT_KERNEL(cadence_conv_nchw_s8_dsp, ember_lent_dsp_t, ember_lent_dsp_prepare,
                  ember_lent_dsp_run, ember_turn_dsp, false);
