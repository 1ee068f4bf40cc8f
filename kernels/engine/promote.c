// SPDX-License-Identifier: Apache-2.0
#include "kernels/engine/promote.h"

#include "kernels/engine/element.h"

uint32_t ember_category(uint8_t dtype) {
    return dtype == EMBER_B1 ? 1 : ember_class_of(dtype) == EMBER_CLASS_S64 ? 2 : 3;
}

static bool is_unsigned(uint8_t dtype) {
    return dtype == EMBER_U8 || dtype >= EMBER_U16;
}

// The smallest signed integer that holds all of the integer `dtype`, or int64.
static uint8_t with_sign(uint8_t dtype) {
    return dtype == EMBER_U8    ? EMBER_S16
           : dtype == EMBER_U16 ? EMBER_S32
           : dtype > EMBER_U16  ? EMBER_S64
                                : dtype;
}

// The smallest dtype that holds two of one category, as torch.promote_types.
static uint8_t promote(uint8_t a, uint8_t b) {
    if (a == b) {
        return a;
    }
    if (a > EMBER_S64 && a < EMBER_U16) { // floats
        return a == EMBER_F64 || b == EMBER_F64 ? EMBER_F64 : EMBER_F32;
    }
    if (is_unsigned(a) != is_unsigned(b)) {
        a = with_sign(a);
        b = with_sign(b);
    }
    return a > b ? a : b; // signed ones are numbered by size, like the others
}

void ember_promotion_add(ember_promotion_t *promotion, uint8_t dtype, ember_say_t say) {
    const uint8_t weight = (uint8_t)(ember_category(dtype) * 4 + say);
    if (weight > promotion->weight) {
        *promotion = (ember_promotion_t){dtype, weight};
    } else if (weight == promotion->weight) {
        promotion->dtype = promote(promotion->dtype, dtype);
    }
}

static uint8_t output_dtype(ember_node_t *node) {
    const uint32_t count = ember_node_arg_count(node);
    ember_tensor_t out;
    ember_node_inout(node, count < 2 ? 0 : count - 2, &out);
    return out.dtype;
}

void ember_output_check(ember_node_t *node, uint32_t dtype) {
    if (output_dtype(node) != dtype) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM,
                              "the output has another dtype than the result");
    }
}

void ember_output_check_self(ember_node_t *node) {
    ember_tensor_t self;
    ember_node_tensor(node, 0, &self);
    ember_output_check(node, self.dtype);
}

void ember_output_check_floats(ember_node_t *node) {
    if (ember_category(output_dtype(node)) != 3) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM, "the output is not of floats");
    }
}

void ember_refuse_bools(ember_node_t *node) {
    for (uint32_t k = 0; k < 2; k++) {
        const ember_kind_t kind = ember_node_kind(node, k);
        ember_tensor_t tensor = {.dtype = EMBER_F32};
        if (kind == EMBER_TENSOR) {
            ember_node_tensor(node, k, &tensor);
        }
        if (kind == EMBER_BOOL || tensor.dtype == EMBER_B1) {
            (void)ember_node_fail(node, EMBER_BAD_PROGRAM, "subtraction of bools");
        }
    }
}
