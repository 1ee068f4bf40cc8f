// SPDX-License-Identifier: Apache-2.0
// choose_qparams: the scale and zero point that map a tensor's range, 0 included,
// to the quantised one. Contract: choose_qparams.h.
#include "kernels/quantized/choose_qparams.h"

#include "kernels/engine/affine.h"
#include "kernels/engine/mathf.h"

enum { SELF, LOWEST, HIGHEST, EPSILON, DTYPE, SCALE, ZERO_POINT };

// A float cast to int32 like PyTorch's.
static int32_t to_s32(double number) {
    return number >= -2147483648.0 && number < 2147483648.0 ? (int32_t)number
                                                            : INT32_MIN;
}

// The float arithmetic of PyTorch's observers: a float16 range is rounded to float16
// until it is combined with the epsilon, a float32.
void ember_choose_qparams_put(const ember_choose_qparams_t *s, ember_extent_t extent) {
    const double steps = (double)s->high - (double)s->low;
    const double width = ember_rounded(s->x_dtype, extent.high - extent.low);
    double scale = ember_rounded(s->x_dtype, width / steps);
    scale = ember_larger(scale, (double)s->epsilon);

    const float shift = ember_roundf((float)(extent.low / scale));
    // wraps like int32 tensors
    int32_t zero = (int32_t)((uint32_t)s->low - (uint32_t)to_s32((double)shift));
    zero = zero < s->low ? s->low : zero;
    zero = zero > s->high ? s->high : zero;
    ember_put_double(s->scale_dtype, s->scale, scale);
    ember_put_int(s->zero_dtype, s->zero_point, zero);
}

ember_status_t ember_choose_qparams_prepare(ember_node_t *node, void *state) {
    static const int32_t one[] = {1};
    ember_choose_qparams_t *s = state;
    ember_tensor_t x;
    ember_tensor_t scale;
    ember_tensor_t zero;
    int64_t low = 0;
    int64_t high = 0;

    ember_node_tensor(node, SELF, &x);
    const bool known = ember_quantized_range(
        (uint32_t)ember_node_int_in(node, DTYPE, 0, UINT8_MAX), &low, &high);
    s->low = ember_node_int_in(node, LOWEST, INT32_MIN, 0);
    s->high = ember_node_int_in(node, HIGHEST, 0, INT32_MAX);
    s->epsilon = (float)ember_node_double(node, EPSILON);
    ember_node_output(node, SCALE, 1, one, &scale);
    ember_node_output(node, ZERO_POINT, 1, one, &zero);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!known || x.numel == 0 || s->low == s->high) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "choose_qparams: no elements, or an empty range");
    }
    s->x = x.data;
    s->scale = scale.data;
    s->zero_point = zero.data;
    s->count = x.numel;
    s->x_dtype = x.dtype;
    s->scale_dtype = scale.dtype;
    s->zero_dtype = zero.dtype;
    return ember_is_real(x.dtype) && ember_is_real(scale.dtype) &&
                   !ember_is_real(zero.dtype)
               ? EMBER_OK
               : EMBER_UNSUPPORTED;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_choose_qparams_prepare(node, state);
}

static int32_t run(void *state) {
    const ember_choose_qparams_t *s = state;
    const int32_t size = (int32_t)ember_dtype_size(s->x_dtype);
    ember_choose_qparams_put(s, ember_extent_of(s->x_dtype, s->x, size, s->count));
    return EMBER_OK;
}

EMBER_KERNEL(choose_qparams, ember_choose_qparams_t);
