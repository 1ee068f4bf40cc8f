// SPDX-License-Identifier: Apache-2.0
// Forced in front of every file that is proved: what the prover knows of the compiler
// and of the C library, and how a proof speaks to it. docs/proofs.md.
#ifndef EMBER_PROOFS_MODEL_H
#define EMBER_PROOFS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// The prover does not check a pointer that it reads from a union. Nothing in the core
// reads another member than it wrote but for the bits of a number, which are any then.
#define union struct

// clang-format off
#ifdef PROOF_WITNESSES // which asks only for marks
#define REQUIRE(condition) ((void)(condition))
#else
#define REQUIRE(condition) __ESBMC_assert((condition), #condition)
#endif
#define ASSUME(condition)  __ESBMC_assume(condition)
// clang-format on

// The prover shows this place to be reached when it looks for witnesses; a proof in
// which one is not reached is empty.
#ifdef PROOF_WITNESSES
#define REACHED(label) __ESBMC_assert(false, "reached " label)
#else
#define REACHED(label) ((void)0)
#endif

// Anything.
uint8_t nondet_uint8(void);
uint16_t nondet_uint16(void);
uint32_t nondet_uint32(void);
int32_t nondet_int32(void);
uint64_t nondet_uint64(void);
size_t nondet_size(void);
bool nondet_bool(void);
void *malloc(size_t size);

// Objects are aligned to 16, so the offset in one says how a pointer is aligned.
static inline const void *proof_aligned(const void *at, size_t align) {
    REQUIRE((__ESBMC_POINTER_OFFSET(at) & (align - 1)) == 0);
    return at;
}
#define __builtin_assume_aligned(at, align) proof_aligned((at), (align))

// Objects have no gaps: who can read the first and the last byte can read all.
static uint8_t proof_read;

static inline void proof_readable(const void *at, size_t size) {
    if (size > 0) {
        proof_read = ((const uint8_t *)at)[0]; // an unused read is dropped
        proof_read = ((const uint8_t *)at)[size - 1];
    }
}

static inline void proof_writable(void *at, size_t size) {
    if (size > 0) {
        ((uint8_t *)at)[0] = nondet_uint8();
        ((uint8_t *)at)[size - 1] = nondet_uint8();
    }
}

static inline int proof_memcmp(const void *a, const void *b, size_t size) {
    proof_readable(a, size);
    proof_readable(b, size);
    return size > 0 ? nondet_int32() : 0;
}
#define memcmp(a, b, size) proof_memcmp((a), (b), (size))

static inline void *proof_memset(void *at, size_t size) {
    proof_writable(at, size);
    return at;
}
#define memset(at, value, size) proof_memset((at), (size))

#endif // EMBER_PROOFS_MODEL_H
