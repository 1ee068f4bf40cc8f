// SPDX-License-Identifier: Apache-2.0
// y = the larger of a and b, int8, with the DSP extension: four at a time.
#include "kernels/elementwise/extremum_s8.h"
#include "kernels/engine/dsp/bytes_dsp.h"

EMBER_EXTREMUM_S8_DSP(ember_word_max, a > b ? a : b)
EMBER_KERNEL(maximum_s8_dsp, ember_pair_s8_t);
