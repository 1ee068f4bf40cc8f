// SPDX-License-Identifier: Apache-2.0
// Contract: dequantize_lines_hvx.h.
#include "kernels/quantized/dequantize_lines_hvx.h"

#include <string.h>

#include "kernels/quantized/dequantize_hvx.h"

enum { FEW = 32, FLOAT = 4 }; // elements of a line; bytes

static const int32_t *last_row(const ember_affine_t *s) {
    return s->table + (s->dims - 1u) * (EMBER_AFFINE_OPERANDS + 1u);
}

static float scale_at(const char *at) {
    float scale;
    memcpy(&scale, at, sizeof(scale));
    return scale;
}

static int64_t zero_at(const ember_affine_t *s, const char *at) {
    int64_t zero;
    ember_elements_load(EMBER_CLASS_S64, &zero, s->dtypes[EMBER_AFFINE_ZERO], at, 0, 1);
    return zero;
}

// Calls for each line: `compute` false only asks whether vectors take it.
static bool walk_lines(const ember_affine_t *s, bool compute) {
    const uint32_t count = (uint32_t)last_row(s)[0];
    ember_walk_t walk;

    ember_walk_start(&walk, s->table, s->dims, EMBER_AFFINE_OPERANDS);
    memcpy(walk.at, s->data, sizeof(s->data));
    do {
        const float scale = scale_at(walk.at[EMBER_AFFINE_SCALE]);
        const int64_t zero = zero_at(s, walk.at[EMBER_AFFINE_ZERO]);
        if (compute) {
            ember_dequantize_s8_hvx((const int8_t *)walk.at[EMBER_AFFINE_X], count,
                                    scale, (int32_t)zero,
                                    (float *)(void *)walk.at[EMBER_AFFINE_Y]);
        } else if (!ember_dequantize_hvx_takes(scale) || zero < INT8_MIN ||
                   zero > INT8_MAX) {
            return false;
        }
    } while (ember_walk_next(&walk));
    return true;
}

void ember_dequantize_lines_hvx_run(const ember_affine_t *s) {
    if (walk_lines(s, false)) {
        (void)walk_lines(s, true);
    } else {
        ember_dequantize_run(s);
    }
}

static bool takes(const ember_affine_t *s) {
    const uint8_t *dtypes = s->dtypes;
    const uint8_t zero = dtypes[EMBER_AFFINE_ZERO];

    if (s->dims == 0 || dtypes[EMBER_AFFINE_X] != EMBER_S8 ||
        dtypes[EMBER_AFFINE_Y] != EMBER_F32 ||
        dtypes[EMBER_AFFINE_SCALE] != EMBER_F32 ||
        (zero != EMBER_S32 && zero != EMBER_S64)) {
        return false;
    }
    const int32_t *row = last_row(s), *steps = row + 1;
    return row[0] >= FEW && steps[EMBER_AFFINE_X] == 1 &&
           steps[EMBER_AFFINE_Y] == FLOAT && steps[EMBER_AFFINE_SCALE] == 0 &&
           steps[EMBER_AFFINE_ZERO] == 0;
}

ember_status_t ember_dequantize_lines_hvx_prepare(ember_affine_t *s, ember_node_t *node,
                                                  ember_affine_form_t form) {
    const ember_status_t status = ember_dequantize_prepare(s, node, form);

    if (status == EMBER_OK && !takes(s)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "dequantize_hvx: not lines");
    }
    return status;
}
