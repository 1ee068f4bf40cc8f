// SPDX-License-Identifier: Apache-2.0
// Build options of the runtime. Every one has a default here and may be set on
// the compiler's command line; all objects of one firmware must agree.
#ifndef EMBER_CONFIG_H
#define EMBER_CONFIG_H

// 1: failures carry a static English message. 0: status and instruction only; saves
// about 2 kB of constants.
#ifndef EMBER_ERROR_STRINGS
#define EMBER_ERROR_STRINGS 1
#endif

// The maximum rank of a tensor: ExecuTorch's limit. A larger rank is refused.
#define EMBER_MAX_RANK 16

// Alignment in bytes of planned memory, scratch, and node states with doubles.
#define EMBER_ALIGN 16

#define EMBER_MUST_USE __attribute__((warn_unused_result))

// Around the declarations of every header: C++ applications include them unchanged.
#ifdef __cplusplus
#define EMBER_C_BEGIN  extern "C" {
#define EMBER_C_END    }
#define EMBER_NORETURN [[noreturn]]
#else
#define EMBER_C_BEGIN
#define EMBER_C_END
#define EMBER_NORETURN _Noreturn
#endif

// A function that loading calls many times for each call of a program: worth inlining
// even if the rest is compiled for size.
#define EMBER_INLINE static inline __attribute__((always_inline))

// Linkage of functions shared between the runtime's files. ember_core.c, which includes
// them all, makes them static: that saves 1 kB.
#ifndef EMBER_LOCAL
#define EMBER_LOCAL
#endif

#endif // EMBER_CONFIG_H
