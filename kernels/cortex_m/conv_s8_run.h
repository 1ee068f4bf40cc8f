// SPDX-License-Identifier: Apache-2.0
// The dialect's convolutions in plain C: any groups, strides and dilations.
#ifndef EMBER_KERNELS_CORTEX_M_CONV_S8_RUN_H
#define EMBER_KERNELS_CORTEX_M_CONV_S8_RUN_H

#include "kernels/cortex_m/conv_s8.h"

void ember_conv_s8_run(const ember_conv_s8_t *s, bool depthwise);

#endif // EMBER_KERNELS_CORTEX_M_CONV_S8_RUN_H
