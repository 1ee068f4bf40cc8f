// SPDX-License-Identifier: Apache-2.0
// y = the smaller of a and b, int8, with Helium: 16 at a time.
#include <arm_mve.h>

#include "kernels/elementwise/extremum_s8.h"

EMBER_EXTREMUM_S8_MVE(vminq_s8)
EMBER_KERNEL(minimum_s8_mve, ember_pair_s8_t);
