// SPDX-License-Identifier: Apache-2.0
// y = a where it is positive, else 0, float32 in one layout; NaN stays.
#ifndef EMBER_KERNELS_ELEMENTWISE_RELU_F32_H
#define EMBER_KERNELS_ELEMENTWISE_RELU_F32_H

// The bits of -infinity as int32: those of -0 to -infinity are at most this, those of
// positive numbers and of every NaN are above.
#define EMBER_RELU_ZERO_UNTIL (-0x800000)

#endif // EMBER_KERNELS_ELEMENTWISE_RELU_F32_H
