// SPDX-License-Identifier: Apache-2.0
// What the operators of ExecuTorch's Cadence dialect share: their rounding, and
// arguments that are numbers in one overload and tensors in another.
//
//     q = clamp(zero_point + round(x * inverse))          halves to even, in float32
//
// This is how the dialect's portable C++ rounds. What it leaves undefined is defined
// here: values beyond int64 are clamped like others, NaN becomes the minimum.
#ifndef EMBER_KERNELS_ENGINE_CADENCE_NUMBERS_H
#define EMBER_KERNELS_ENGINE_CADENCE_NUMBERS_H

#include "ember/node.h"
#include "kernels/engine/mathf.h"

// Zero points are in [-EMBER_CADENCE_ZERO, EMBER_CADENCE_ZERO], so that the range of a
// 16-bit dtype around them stays in [-2^22, 2^22).
enum { EMBER_CADENCE_ZERO = 1 << 21 };

// How real numbers become those of a dtype of 8 or 16 bits.
typedef struct ember_cadence_cut {
    float low; // of the dtype, minus the zero point
    float high;
    int32_t offset; // the zero point, minus the bits of COUNTER
} ember_cadence_cut_t;

// 1.5 * 2^23: adding it to a number in [-2^22, 2^22) rounds that to an integer, ties to
// even, and the low bits of the sum are that integer.
#define EMBER_CADENCE_COUNTER 12582912.0f

// Whether `dtype` is an integer of 8 or 16 bits.
bool ember_cadence_small(uint32_t dtype);

// False if the zero point is out of range. `dtype` is such an integer.
EMBER_MUST_USE bool ember_cadence_cut_set(ember_cadence_cut_t *cut, uint32_t dtype,
                                          int32_t zero_point);

static inline int32_t ember_cadence_cut_of(const ember_cadence_cut_t *cut, float x) {
    float q = x > cut->low ? x : cut->low;
    q = q > cut->high ? cut->high : q;
    return (int32_t)ember_float_bits(q + EMBER_CADENCE_COUNTER) + cut->offset;
}

// An argument that is a number, or a tensor with one for each of `count`.
typedef struct ember_cadence_number {
    const void *at; // data of a tensor; NULL: `real` and `whole` are the number
    float real;
    int32_t whole;
    uint8_t dtype; // of the tensor
    uint8_t step;  // 0: one number for all
} ember_cadence_number_t;

// A scale; a tensor is of float32.
ember_cadence_number_t ember_cadence_real_arg(ember_node_t *node, uint32_t arg,
                                              uint32_t count);
// A zero point, multiplier or shift; a tensor is of any integer dtype.
ember_cadence_number_t ember_cadence_whole_arg(ember_node_t *node, uint32_t arg,
                                               uint32_t count);

// The number for `index`; of a tensor, its value at run time.
float ember_cadence_real(const ember_cadence_number_t *number, uint32_t index);
int32_t ember_cadence_whole(const ember_cadence_number_t *number, uint32_t index);

// For outputs of `dtype`: UNSUPPORTED unless it is such an integer; BAD_PROGRAM if the
// zero point is known and out of range.
EMBER_MUST_USE ember_status_t ember_cadence_cut_check(
    ember_node_t *node, uint32_t dtype, const ember_cadence_number_t *zero_point);

// multiplier * 2^(shift - 31)
float ember_cadence_scale(int32_t multiplier, int32_t shift);

// Tensors of the dialect are contiguous. False, with a failure recorded, if one is not.
bool ember_cadence_plain(ember_node_t *node, const ember_tensor_t *tensor);

// Element `i` of a tensor of 8, 16 or 32 bits.
int32_t ember_cadence_element(const void *data, uint32_t dtype, uint32_t i);
void ember_cadence_store(void *data, uint32_t dtype, uint32_t i, int32_t number);

#endif // EMBER_KERNELS_ENGINE_CADENCE_NUMBERS_H
