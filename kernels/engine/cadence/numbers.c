// SPDX-License-Identifier: Apache-2.0
// Numbers of the Cadence dialect. Contract: numbers.h.
#include "kernels/engine/cadence/numbers.h"

#include "kernels/engine/affine.h"

enum { COUNTER_BITS = 0x4b400000, MOST_SHIFT = 250 };

bool ember_cadence_small(uint32_t dtype) {
    return dtype == EMBER_S8 || dtype == EMBER_U8 || dtype == EMBER_S16 ||
           dtype == EMBER_U16;
}

bool ember_cadence_cut_set(ember_cadence_cut_t *cut, uint32_t dtype,
                           int32_t zero_point) {
    int64_t low = 0, high = 0;

    if (zero_point < -EMBER_CADENCE_ZERO || zero_point > EMBER_CADENCE_ZERO) {
        return false;
    }
    (void)ember_quantized_range(dtype, &low, &high);
    cut->low = (float)((int32_t)low - zero_point);
    cut->high = (float)((int32_t)high - zero_point);
    cut->offset = zero_point - COUNTER_BITS;
    return true;
}

ember_status_t ember_cadence_cut_check(ember_node_t *node, uint32_t dtype,
                                       const ember_cadence_number_t *zero_point) {
    ember_cadence_cut_t cut;

    if (!ember_cadence_small(dtype)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cadence: dtype");
    }
    if (zero_point->at == NULL &&
        !ember_cadence_cut_set(&cut, dtype, zero_point->whole)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "cadence: a zero point is out of range");
    }
    return ember_node_status(node);
}

static ember_cadence_number_t number_arg(ember_node_t *node, uint32_t arg,
                                         uint32_t count, bool real) {
    ember_cadence_number_t number = {.dtype = real ? EMBER_F32 : EMBER_S32};
    ember_tensor_t tensor;

    if (ember_node_kind(node, arg) != EMBER_TENSOR) {
        number.real = real ? (float)ember_node_double(node, arg) : 0.0f;
        number.whole = real ? 0 : ember_node_int_in(node, arg, INT32_MIN, INT32_MAX);
        return number;
    }
    ember_node_tensor(node, arg, &tensor);
    const bool integer =
        ember_class_of(tensor.dtype) == EMBER_CLASS_S64 && tensor.dtype != EMBER_B1;
    if (real ? tensor.dtype != EMBER_F32 : !integer) {
        ember_node_fail(node, EMBER_UNSUPPORTED, "cadence: wrong dtype of a parameter");
    } else if ((tensor.numel != 1 && tensor.numel != count) || tensor.numel == 0) {
        ember_node_fail(node, EMBER_BAD_PROGRAM, "cadence: wrong size of a parameter");
    }
    number.at = tensor.data;
    number.dtype = tensor.dtype;
    number.step = tensor.numel > 1;
    if (tensor.constant && tensor.numel == 1 && tensor.data != NULL &&
        ember_node_status(node) == EMBER_OK) { // as good as a number
        number.real = real ? ember_cadence_real(&number, 0) : 0.0f;
        number.whole = real ? 0 : ember_cadence_whole(&number, 0);
        number.at = NULL;
    }
    return number;
}

ember_cadence_number_t ember_cadence_real_arg(ember_node_t *node, uint32_t arg,
                                              uint32_t count) {
    return number_arg(node, arg, count, true);
}

ember_cadence_number_t ember_cadence_whole_arg(ember_node_t *node, uint32_t arg,
                                               uint32_t count) {
    return number_arg(node, arg, count, false);
}

float ember_cadence_real(const ember_cadence_number_t *number, uint32_t index) {
    const float *at = number->at;
    return at == NULL ? number->real : at[index * number->step];
}

int32_t ember_cadence_whole(const ember_cadence_number_t *number, uint32_t index) {
    return number->at == NULL
               ? number->whole
               : ember_cadence_element(number->at, number->dtype, index * number->step);
}

float ember_cadence_scale(int32_t multiplier, int32_t shift) {
    const int32_t up = shift > MOST_SHIFT ? MOST_SHIFT : shift;
    const int32_t by = up < -MOST_SHIFT + 31 ? -MOST_SHIFT + 31 : up;
    return ember_scale2((float)multiplier, by - 31);
}

bool ember_cadence_plain(ember_node_t *node, const ember_tensor_t *tensor) {
    if (ember_tensor_is_contiguous(tensor)) {
        return true;
    }
    ember_node_fail(node, EMBER_UNSUPPORTED, "cadence: a tensor is not contiguous");
    return false;
}

int32_t ember_cadence_element(const void *data, uint32_t dtype, uint32_t i) {
    switch (dtype) {
    case EMBER_U8:
        return ((const uint8_t *)data)[i];
    case EMBER_S8:
        return ((const int8_t *)data)[i];
    case EMBER_U16:
        return ((const uint16_t *)data)[i];
    case EMBER_S16:
        return ((const int16_t *)data)[i];
    case EMBER_S64:
        return (int32_t)(uint32_t)((const uint64_t *)data)[i];
    default:
        return ((const int32_t *)data)[i];
    }
}

void ember_cadence_store(void *data, uint32_t dtype, uint32_t i, int32_t number) {
    if (dtype == EMBER_U8 || dtype == EMBER_S8) {
        ((uint8_t *)data)[i] = (uint8_t)number;
    } else {
        ((uint16_t *)data)[i] = (uint16_t)number;
    }
}
