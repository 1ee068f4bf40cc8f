// SPDX-License-Identifier: Apache-2.0
// The dialect's convolutions in plain C: any groups, strides and dilations.
#include "kernels/cortex_m/conv_s8_run.h"

#include "kernels/cortex_m/conv_s8_windows.h"

void ember_conv_s8_run(const ember_conv_s8_t *s, bool depthwise) {
    ember_conv_s8_windows(s, depthwise, ember_scaled_s8);
}
