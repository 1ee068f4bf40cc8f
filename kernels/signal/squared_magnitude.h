// SPDX-License-Identifier: Apache-2.0
// squared_magnitude: re * re + im * im of complex numbers, float32.
//
//     z    (.., 2)
//     out  (..)
#ifndef EMBER_KERNELS_SIGNAL_SQUARED_MAGNITUDE_H
#define EMBER_KERNELS_SIGNAL_SQUARED_MAGNITUDE_H

#include "kernels/signal/fft.h"

typedef struct ember_squared_magnitude {
    const ember_complex_t *z; // (count,)
    float *y;                 // (count,)
    uint32_t count;
} ember_squared_magnitude_t;

ember_status_t ember_squared_magnitude_prepare(ember_node_t *node,
                                               ember_squared_magnitude_t *s);

#endif // EMBER_KERNELS_SIGNAL_SQUARED_MAGNITUDE_H
