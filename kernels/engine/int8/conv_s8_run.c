// SPDX-License-Identifier: Apache-2.0
// Convolutions of cortex_m in plain C: any groups, strides and dilations.
#include "kernels/engine/int8/conv_s8_run.h"

#include "kernels/engine/int8/conv_s8_windows.h"

void ember_conv_s8_run(const ember_conv_s8_t *s, bool depthwise) {
    ember_conv_s8_windows(s, depthwise, ember_scaled_s8);
}
