// SPDX-License-Identifier: Apache-2.0
// add of int8 and uint8 with HVX, in integer arithmetic, 128 elements at a time: the
// bits of float32. Contract: quantized_add.h.
#include "kernels/engine/hvx/dequantize_words_hvx.h"
#include "kernels/quantized/quantize_hvx.h"
#include "kernels/quantized/quantized_add.h"

enum { Y, A, B };
enum { FEW = 8 };        // elements of a row
enum { UNSIGNED = 128 }; // what uint8 has more than int8

// An operand that is read.
typedef struct term {
    ember_dequantize_hvx_t by;
    HVX_Vector flip; // converts uint8 to int8
} term_t;

static int32_t added(const ember_quantized_add_t *s, uint32_t k) {
    return s->dtypes[k] == EMBER_U8 ? UNSIGNED : 0;
}

static term_t term_of(const ember_quantized_add_t *s, uint32_t k) {
    const int32_t more = added(s, k);
    return (term_t){ember_dequantize_by_hvx(s->scale[k], (int32_t)s->zero[k] - more),
                    Q6_Vb_vsplat_R(more)};
}

INLINE void words_of(const term_t *term, const char *x, int32_t left,
                     HVX_Vector *words) {
    const HVX_Vector bytes = ember_load_left_hvx((const int8_t *)x, left);
    ember_words_hvx(Q6_V_vxor_VV(bytes, term->flip), term->by.zero_point, words);
}

INLINE HVX_Vector sum_of(const term_t *a, HVX_Vector x, const term_t *b, HVX_Vector y) {
    const ember_float_hvx_t one =
        ember_float_hvx(Q6_V_vsplat_R((int32_t)ember_float_bits(1.0f)));
    const ember_float_hvx_t first =
        ember_float_of_bits_hvx(ember_dequantized_hvx(&a->by, x));
    return ember_fma_hvx(&first, &one, ember_dequantized_hvx(&b->by, y));
}

static void add_row(const ember_quantized_add_t *s, const ember_walk_t *walk,
                    const int32_t *row) {
    const ember_quantize_to_hvx_t to = {(int32_t)s->zero[Y], (int32_t)s->low,
                                        (int32_t)s->high, added(s, Y) != 0};
    const ember_quantize_hvx_t by = ember_quantize_by_hvx(s->scale[Y], &to);
    const term_t first = term_of(s, A), second = term_of(s, B);
    const char *a = walk->at[A], *b = walk->at[B];
    int8_t *y = (int8_t *)walk->at[Y];

    for (int32_t left = row[0]; left > 0; left -= EMBER_HVX) {
        HVX_Vector words[4], others[4];
        words_of(&first, a, left, words);
        words_of(&second, b, left, others);
        for (int i = 0; i < 4; i++) {
            const HVX_Vector sum = sum_of(&first, words[i], &second, others[i]);
            words[i] = ember_quantized_hvx(&by, sum);
        }
        ember_store_left_hvx(y, ember_quantize_bytes_hvx(&by, words), left);
        a += EMBER_HVX;
        b += EMBER_HVX;
        y += EMBER_HVX;
    }
}

static int32_t run(void *state) {
    ember_quantized_add_walk(state, add_row);
    return EMBER_OK;
}

// Products with 255 are in the range of ember_fma_hvx().
static bool takes_operand(const ember_quantized_add_t *s, const int32_t *steps,
                          uint32_t k) {
    const float least = s->dtypes[k] == EMBER_U8 ? 0.0f : (float)INT8_MIN;
    const bool bytes = s->dtypes[k] == EMBER_S8 || s->dtypes[k] == EMBER_U8;
    const float most = k == Y ? EMBER_QUANTIZE_MOST_HVX : EMBER_FLOAT_MOST / 256.0f;
    return bytes && steps[k] == 1 && s->scale[k] >= EMBER_FLOAT_LEAST &&
           s->scale[k] <= most && s->zero[k] >= least &&
           s->zero[k] <= least + (float)UINT8_MAX;
}

static bool takes(const ember_quantized_add_t *s) {
    if (s->dims == 0) {
        return false;
    }
    const int32_t *row =
        s->table + (s->dims - 1u) * (EMBER_QUANTIZED_ADD_OPERANDS + 1u);
    const int32_t *steps = row + 1;
    return row[0] >= FEW && takes_operand(s, steps, Y) && takes_operand(s, steps, A) &&
           takes_operand(s, steps, B);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_status_t status = ember_quantized_add_prepare(node, state);

    if (status == EMBER_OK && !takes(state)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "quantized_add_hvx: not rows of bytes");
    }
    return status;
}

EMBER_KERNEL(quantized_add_hvx, ember_quantized_add_t);
