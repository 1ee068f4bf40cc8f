// SPDX-License-Identifier: Apache-2.0
// Affine quantisation: small integers for real numbers, with a scale and a zero point
// for a whole tensor, for a channel of it, or for a token (a line along the last
// dimension).
//
//     q = clamp(round(x / scale) + zero_point)        y = (q - zero_point) * scale
//
// Every step is rounded like PyTorch's eager operators: x is multiplied by the inverse
// of the scale; float64 scales of more than one element make it float64 arithmetic; a
// float16 result is rounded after each step. Values are clamped to the quantised range
// before they become integers; NaN becomes 0, in int32 the lowest number.
//
// Arguments: (input, scale, zero_point, [axis,] quant_min, quant_max, dtype, ...), the
// second and third as tensors or as numbers.
#ifndef EMBER_KERNELS_ENGINE_AFFINE_H
#define EMBER_KERNELS_ENGINE_AFFINE_H

#include "kernels/engine/element.h"
#include "kernels/engine/strided.h"

// What a scale applies to.
typedef enum ember_affine_form {
    EMBER_AFFINE_TENSOR,
    EMBER_AFFINE_CHANNEL,
    EMBER_AFFINE_TOKEN, // rounds after adding the zero point
} ember_affine_form_t;

enum {
    EMBER_AFFINE_Y,
    EMBER_AFFINE_X,
    EMBER_AFFINE_SCALE,
    EMBER_AFFINE_ZERO,
    EMBER_AFFINE_OPERANDS,
};

typedef struct ember_affine {
    double scale;         // storage of a scale that is a number
    int64_t zero_point;   // storage of a zero point that is a number, or None
    ember_number_t low;   // of `class`; when quantising: the range
    ember_number_t high;  //
    ember_number_t worst; // when quantising: what NaN becomes
    char *data[EMBER_AFFINE_OPERANDS];
    uint8_t dtypes[EMBER_AFFINE_OPERANDS];
    uint8_t class;      // of the multiplication
    uint8_t difference; // when dequantising: dtype of x - zero_point
    uint8_t form;       // ember_affine_form_t
    uint8_t dims;       // of the table; 0: no elements
    int32_t table[EMBER_WALK_ITEMS(EMBER_AFFINE_OPERANDS)];
} ember_affine_t;

EMBER_MUST_USE ember_status_t ember_quantize_prepare(ember_affine_t *affine,
                                                     ember_node_t *node,
                                                     ember_affine_form_t form);
void ember_quantize_run(const ember_affine_t *affine);

EMBER_MUST_USE ember_status_t ember_dequantize_prepare(ember_affine_t *affine,
                                                       ember_node_t *node,
                                                       ember_affine_form_t form);
void ember_dequantize_run(const ember_affine_t *affine);

// A whole kernel: VERB is quantize or dequantize.
#define EMBER_AFFINE_KERNEL(NAME, VERB, FORM)                                          \
    static ember_status_t prepare(ember_node_t *node, void *state) {                   \
        return ember_##VERB##_prepare(state, node, (FORM));                            \
    }                                                                                  \
    static int32_t run(void *state) {                                                  \
        ember_##VERB##_run(state);                                                     \
        return EMBER_OK;                                                               \
    }                                                                                  \
    EMBER_KERNEL(NAME, ember_affine_t)

// --- parts, for other quantised kernels ------------------------------------------

// The range of a quantised dtype; false if `dtype` is not one.
bool ember_quantized_range(uint32_t dtype, int64_t *low, int64_t *high);

// Whether `dtype` is one of the floats.
bool ember_is_real(uint32_t dtype);

// Rounds numbers to `dtype` (f16, bf16, f32).
void ember_round_to(uint32_t dtype, float *numbers, uint32_t count);

// A number clamped to a range; `worst` for NaN.
static inline float ember_cut_f32(float q, float low, float high, float worst) {
    const float least = q < low ? low : q;
    const float cut = least > high ? high : least;
    return q != q ? worst : cut;
}

// Reads all four operands: y is output `out`, shaped like x. Fills data, dtypes, scale,
// zero_point, form and, if there are elements, the table; else `affine->dims` stays 0.
EMBER_MUST_USE ember_status_t ember_affine_read(ember_affine_t *affine,
                                                ember_node_t *node,
                                                ember_affine_form_t form, uint32_t out);

// Rows of a walk in blocks, for ember_affine_walk().
enum { EMBER_AFFINE_BLOCK = 16 };
typedef union ember_affine_numbers {
    float f32[EMBER_AFFINE_BLOCK];
    double f64[EMBER_AFFINE_BLOCK];
    int64_t s64[EMBER_AFFINE_BLOCK];
} ember_affine_numbers_t;

typedef struct ember_affine_block {
    ember_affine_numbers_t x; // of the dtype's own class
    ember_affine_numbers_t scale;
    ember_affine_numbers_t zero;
    uint32_t step; // 1: a scale and a zero point for each element; 0: one for all
} ember_affine_block_t;

// `begin` gets new scales (doubles) and zero points (of their dtype's class), `compute`
// each block of `count` elements, whose results it leaves in x as numbers of `class`.
typedef void (*ember_affine_fn)(const ember_affine_t *affine,
                                ember_affine_block_t *block, uint32_t count);
void ember_affine_walk(const ember_affine_t *affine, ember_affine_fn begin,
                       ember_affine_fn compute);

#endif // EMBER_KERNELS_ENGINE_AFFINE_H
