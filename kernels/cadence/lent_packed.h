// SPDX-License-Identifier: Apache-2.0
// ember::cadence_packed_conv2d.out: convolutions of the dialect whose weights the host
// has packed for cores with DSP instructions, as those of cortex_m (packed_s8.h).
#ifndef EMBER_KERNELS_CADENCE_LENT_PACKED_H
#define EMBER_KERNELS_CADENCE_LENT_PACKED_H

#include "kernels/cadence/lent_image.h"

// Reads a call, sets the shape of its output and `fours` of a row of taps, and takes
// scratch for what is turned.
EMBER_MUST_USE ember_status_t ember_lent_packed_args(ember_lent_t *lent,
                                                     ember_conv_s8_t *conv,
                                                     ember_node_t *node,
                                                     int32_t *fours);

#endif // EMBER_KERNELS_CADENCE_LENT_PACKED_H
