// SPDX-License-Identifier: Apache-2.0
// A model of kernels/intrinsics/arm_fpscr.h: models of conversions set no flag, so it
// assumes that they met an invalid operation.
#ifndef EMBER_MODELS_ARM_FPSCR_H
#define EMBER_MODELS_ARM_FPSCR_H

#include <stdbool.h>

static inline void ember_invalid_clear(void) {
}

static inline bool ember_invalid_seen(void) {
    return true;
}

#endif // EMBER_MODELS_ARM_FPSCR_H
