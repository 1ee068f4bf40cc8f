// SPDX-License-Identifier: Apache-2.0
// cadence_conv_nhwc with Helium. Contract: dots.h.
#include "kernels/cadence/dots.h"

EMBER_DOTS_KERNEL(cadence_conv_nhwc_mve, conv, conv,
                  ember_cadence_conv(&s->conv, node, true), ember_dots_mve);
