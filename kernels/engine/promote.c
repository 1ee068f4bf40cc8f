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
    *promotion = (ember_promotion_t){{EMBER_NO_DTYPE, EMBER_NO_DTYPE, EMBER_NO_DTYPE}};
}

static void add(uint8_t *place, uint8_t dtype) {
    *place = ember_promote(*place, dtype);
}

void ember_promotion_tensor(ember_promotion_t *promotion,
                            const ember_tensor_t *tensor) {
    add(&promotion->dtypes[tensor->rank > 0 ? 0 : 1], tensor->dtype);
}

void ember_promotion_scalar(ember_promotion_t *promotion, ember_kind_t kind) {
    add(&promotion->dtypes[2], kind == EMBER_DOUBLE ? EMBER_F32
                               : kind == EMBER_BOOL ? EMBER_B1
                                                    : EMBER_S64);
}

uint8_t ember_promotion_result(const ember_promotion_t *promotion) {
    uint8_t result = EMBER_NO_DTYPE;
    for (uint32_t i = 0; i < 3; i++) {
        const uint8_t dtype = promotion->dtypes[i];
        if (result == EMBER_NO_DTYPE ||
            (dtype != EMBER_NO_DTYPE && category(dtype) > category(result))) {
            result = dtype;
        }
    }
    return result;
}
