// SPDX-License-Identifier: Apache-2.0
// quantized_svdf_dsp: with the DSP instructions.
#include "kernels/engine/dsp/dot_s16_dsp.h"
#include "kernels/recurrent/svdf.h"

EMBER_SVDF_KERNEL(quantized_svdf_dsp, ember_recurrent_core_dsp, ember_dot_s16_dsp);
