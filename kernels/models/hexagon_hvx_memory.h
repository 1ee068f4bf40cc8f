// SPDX-License-Identifier: Apache-2.0
// The model of HVX: from and to memory. Included by hexagon_hvx.h.
#ifndef EMBER_MODELS_HEXAGON_HVX_MEMORY_H
#define EMBER_MODELS_HEXAGON_HVX_MEMORY_H

static inline int32_t ember_hvx_hidden(int32_t x) {
    return x;
}

static inline const void *ember_hvx_somewhere(const void *x) {
    return x;
}

static inline HVX_Vector ember_hvx_load_any(const void *from) {
    HVX_Vector x;
    memcpy(&x, from, sizeof(x));
    return x;
}

static inline void ember_hvx_store_any(void *to, HVX_Vector x) {
    memcpy(to, &x, sizeof(x));
}

// The core ignores the lower bits of these addresses.
static inline HVX_Vector ember_hvx_load(const void *from) {
    return *(const HVX_Vector *)from;
}

static inline void ember_hvx_store(void *to, HVX_Vector x) {
    *(HVX_Vector *)to = x;
}

static inline HVX_Vector ember_hvx_load_part(const void *from, int32_t count) {
    HVX_Vector x;
    memset(&x, 0x5a, sizeof(x));
    memcpy(&x, from, (size_t)count);
    return x;
}

static inline void ember_hvx_store_part(void *to, HVX_Vector x, int32_t count) {
    if (count < 1 || count > EMBER_HVX) {
        __builtin_trap(); // on Hexagon, 0 bytes are 128 where `to` is aligned
    }
    memcpy(to, &x, (size_t)count);
}

static inline int64_t ember_hvx_eight(const int8_t *from) {
    int64_t x;
    memcpy(&x, __builtin_assume_aligned(from, 8), sizeof(x));
    return x;
}

#endif // EMBER_MODELS_HEXAGON_HVX_MEMORY_H
