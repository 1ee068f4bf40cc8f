// SPDX-License-Identifier: Apache-2.0
// cadence_conv_nchw with the DSP instructions. Contract: dots.h.
#include "kernels/cadence/dots.h"

EMBER_DOTS_KERNEL(cadence_conv_nchw_dsp, conv, conv,
                  ember_cadence_conv(&s->conv, node, false), ember_dots_dsp);
