// SPDX-License-Identifier: Apache-2.0
// y = the larger of a and b, int8.
#include "kernels/elementwise/extremum_s8.h"

EMBER_EXTREMUM_S8(a > b ? a : b)
EMBER_KERNEL(maximum_s8, ember_pair_s8_t);
