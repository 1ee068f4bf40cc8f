// SPDX-License-Identifier: Apache-2.0
#include "kernels/engine/promote.h"

bool ember_dtype_is_float(uint32_t dtype) {
    return (dtype >= EMBER_F16 && dtype <= EMBER_F64) || dtype == EMBER_BF16;
}

// 0 bool, 1 integer, 2 float
static uint32_t category(uint8_t dtype) {
    return dtype == EMBER_B1 ? 0 : ember_dtype_is_float(dtype) ? 2 : 1;
}

static bool is_unsigned(uint8_t dtype) {
    return dtype == EMBER_U8 || dtype >= EMBER_U16;
}

// Two integers: the wider one; the next signed one where only one has a sign.
static uint8_t promote_integers(uint8_t a, uint8_t b) {
    const uint32_t size_a = ember_dtype_size(a);
    const uint32_t size_b = ember_dtype_size(b);
    const uint32_t size = size_a > size_b ? size_a : size_b;
    if (size_a != size_b) {
        const uint8_t wide = size_a > size_b ? a : b;
        const uint8_t other = size_a > size_b ? b : a;
        if (!is_unsigned(wide) || is_unsigned(other)) {
            return wide;
        }
    }
    return size == 1 ? EMBER_S16 : size == 2 ? EMBER_S32 : EMBER_S64;
}

uint8_t ember_promote(uint8_t a, uint8_t b) {
    if (a == b || b == EMBER_NO_DTYPE) {
        return a;
    }
    if (a == EMBER_NO_DTYPE) {
        return b;
    }
    if (category(a) != category(b)) {
        return category(a) > category(b) ? a : b;
    }
    if (category(a) == 1) {
        return promote_integers(a, b);
    }
    return a == EMBER_F64 || b == EMBER_F64 ? EMBER_F64 : EMBER_F32;
}

void ember_promotion_start(ember_promotion_t *promotion) {
    *promotion = (ember_promotion_t){EMBER_NO_DTYPE, EMBER_NO_DTYPE, EMBER_NO_DTYPE};
}

void ember_promotion_tensor(ember_promotion_t *promotion,
                            const ember_tensor_t *tensor) {
    uint8_t *slot = tensor->rank > 0 ? &promotion->with_dims : &promotion->zero_dims;
    *slot = ember_promote(*slot, tensor->dtype);
}

void ember_promotion_scalar(ember_promotion_t *promotion, ember_kind_t kind) {
    const uint8_t dtype = kind == EMBER_DOUBLE ? EMBER_F32
                          : kind == EMBER_BOOL ? EMBER_B1
                                               : EMBER_S64;
    promotion->scalars = ember_promote(promotion->scalars, dtype);
}

// `first` decides unless `second` is of a higher category.
static uint8_t combine(uint8_t first, uint8_t second) {
    if (first == EMBER_NO_DTYPE || second == EMBER_NO_DTYPE) {
        return first == EMBER_NO_DTYPE ? second : first;
    }
    return category(second) > category(first) ? second : first;
}

uint8_t ember_promotion_result(const ember_promotion_t *promotion) {
    return combine(promotion->with_dims,
                   combine(promotion->zero_dims, promotion->scalars));
}
