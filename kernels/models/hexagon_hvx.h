// SPDX-License-Identifier: Apache-2.0
// A model in C of the instructions of Hexagon's vector unit that kernels use
// (kernels/intrinsics/hexagon_hvx.h), for hosts without them. Sums wrap; addresses are
// checked to the byte.
#ifndef EMBER_MODELS_HEXAGON_HVX_H
#define EMBER_MODELS_HEXAGON_HVX_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { EMBER_HVX = 128 }; // bytes of a vector

#define EMBER_HVX_UNROLL
#define EMBER_HVX_ROLLED

typedef union ember_hvx_lanes {
    alignas(128) int8_t b[128];
    uint8_t ub[128];
    int16_t h[64];
    uint16_t uh[64];
    int32_t w[32];
    uint32_t uw[32];
} HVX_Vector;

typedef struct ember_hvx_pair {
    HVX_Vector lo;
    HVX_Vector hi;
} HVX_VectorPair;

typedef struct ember_hvx_bits {
    bool b[128];
} HVX_VectorPred;

static inline int64_t ember_hvx_cut(int64_t x, int bits) {
    const int64_t high = ((int64_t)1 << (bits - 1)) - 1;
    return x > high ? high : x < -high - 1 ? -high - 1 : x;
}

// Item `i` of a register of four bytes.
static inline int8_t ember_hvx_byte(int32_t x, int i) {
    return (int8_t)(uint8_t)((uint32_t)x >> (8 * (i & 3)));
}

#include "hexagon_hvx_memory.h"

#include "hexagon_hvx_integer.h"

#include "hexagon_hvx_lanes.h"

#endif // EMBER_MODELS_HEXAGON_HVX_H
