// SPDX-License-Identifier: Apache-2.0
// Hexagon's vector unit: the compiler's intrinsics, and vectors from and to memory.
// kernels/models has the same in C for the intrinsics that kernels use.
//
// Only integer instructions up to V66. Of what V68 adds, the emulator decodes some as
// other instructions and lacks others: tests/qemu/test_kernel_objects.py.
#ifndef EMBER_INTRINSICS_HEXAGON_HVX_H
#define EMBER_INTRINSICS_HEXAGON_HVX_H

#include <hexagon_protos.h>
#include <hexagon_types.h>
#include <hvx_hexagon_protos.h>
#include <stdint.h>

enum { EMBER_HVX = 128 }; // bytes of a vector

// Before a loop over an array of vectors that must stay in registers.
#define EMBER_HVX_UNROLL _Pragma("clang loop unroll(full)")

// Before a loop that must stay one copy of code.
#define EMBER_HVX_ROLLED _Pragma("clang loop unroll(disable)")

// The same number, opaque to the compiler. For a loop that ends by something else than
// its condition, such as when fewer bytes are left than a vector has, clang 19 counts
// one turn too few (HexagonHardwareLoops). So that test is made on an opaque number.
static inline int32_t ember_hvx_hidden(int32_t x) {
    __asm__("" : "+r"(x));
    return x;
}

// The same address, opaque to the compiler, which otherwise turns unaligned loads of
// neighbouring vectors into aligned ones and shifts, which are slower if rows are read
// side by side, and spills the addresses of loads too far from a pointer.
static inline const void *ember_hvx_somewhere(const void *x) {
    __asm__("" : "+r"(x));
    return x;
}

typedef long ember_hvx_any_t __attribute__((vector_size(128), aligned(1), may_alias));

// Whole vectors, aligned or not.
static inline HVX_Vector ember_hvx_load(const void *from) {
    return *(const HVX_Vector *)from;
}

static inline void ember_hvx_store(void *to, HVX_Vector x) {
    *(HVX_Vector *)to = x;
}

static inline HVX_Vector ember_hvx_load_any(const void *from) {
    return (HVX_Vector)(*(const ember_hvx_any_t *)from);
}

static inline void ember_hvx_store_any(void *to, HVX_Vector x) {
    *(ember_hvx_any_t *)to = (ember_hvx_any_t)x;
}

// The first `count` bytes, 1 to 128; the others are whatever is in the same 128 bytes
// of memory.
static inline HVX_Vector ember_hvx_load_part(const void *from, int32_t count) {
    const char *bytes = from;
    const HVX_Vector low = *(const HVX_Vector *)(bytes - ((uintptr_t)bytes & 127));
    const char *last = bytes + count - 1;
    const HVX_Vector high = *(const HVX_Vector *)(last - ((uintptr_t)last & 127));
    return Q6_V_valign_VVR(high, low, (int32_t)(uintptr_t)bytes);
}

// The first `count` bytes, 1 to 128; no other byte is written.
static inline void ember_hvx_store_part(void *to, HVX_Vector x, int32_t count) {
    char *bytes = to;
    const int32_t at = (int32_t)((uintptr_t)bytes & 127);
    HVX_Vector *line = (HVX_Vector *)(bytes - at);
    const int32_t past = at + count;
    const HVX_Vector turned = Q6_V_vror_VR(x, -at);
    const HVX_VectorPred before = Q6_Q_vsetq_R(at);

    if (past > 128) {
        Q6_vmem_QnRIV(before, line, turned);
        Q6_vmem_QRIV(Q6_Q_vsetq_R(past - 128), line + 1, turned);
    } else {
        const HVX_VectorPred until = Q6_Q_vsetq2_R(past);
        Q6_vmem_QRIV(Q6_Q_and_QQn(until, before), line, turned);
    }
}

// Eight bytes at an address that is a multiple of eight.
static inline int64_t ember_hvx_eight(const int8_t *from) {
    return *(const int64_t __attribute__((may_alias)) *)(const void *)from;
}

#endif // EMBER_INTRINSICS_HEXAGON_HVX_H
