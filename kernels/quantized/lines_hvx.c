// SPDX-License-Identifier: Apache-2.0
// Contract: lines_hvx.h.
#include "kernels/quantized/lines_hvx.h"

#include <string.h>

enum { FEW = 8 }; // elements of a line

static const int32_t *last_row(const ember_affine_t *s) {
    return s->table + (s->dims - 1u) * (EMBER_AFFINE_OPERANDS + 1u);
}

static double scale_at(const ember_affine_t *s, const char *at) {
    float single;
    double scale;
    if (s->dtypes[EMBER_AFFINE_SCALE] == EMBER_F64) {
        memcpy(&scale, at, sizeof(scale));
        return scale;
    }
    memcpy(&single, at, sizeof(single));
    return (double)single;
}

static int64_t zero_at(const ember_affine_t *s, const char *at) {
    int64_t zero;
    ember_elements_load(EMBER_CLASS_S64, &zero, s->dtypes[EMBER_AFFINE_ZERO], at, 0, 1);
    return zero;
}

// False if `apply` is, for the first time, of a line.
static bool walk_lines(const ember_affine_t *s, ember_line_hvx_fn apply) {
    const uint32_t count = (uint32_t)last_row(s)[0];
    ember_walk_t walk;

    ember_walk_start(&walk, s->table, s->dims, EMBER_AFFINE_OPERANDS);
    memcpy(walk.at, s->data, sizeof(s->data));
    do {
        const ember_line_hvx_t line = {walk.at[EMBER_AFFINE_X], walk.at[EMBER_AFFINE_Y],
                                       count, scale_at(s, walk.at[EMBER_AFFINE_SCALE]),
                                       zero_at(s, walk.at[EMBER_AFFINE_ZERO])};
        if (!apply(s, &line)) {
            return false;
        }
    } while (ember_walk_next(&walk));
    return true;
}

bool ember_lines_hvx_run(const ember_affine_t *s, ember_line_hvx_fn takes,
                         ember_line_hvx_fn compute) {
    return walk_lines(s, takes) && walk_lines(s, compute);
}

bool ember_line_hvx_is_near(const ember_affine_t *s, const ember_line_hvx_t *line,
                            uint32_t bytes) {
    const int64_t least = s->dtypes[bytes] == EMBER_U8 ? 0 : INT8_MIN;
    return line->zero_point >= least && line->zero_point <= least + UINT8_MAX;
}

static bool dtypes_fit(const uint8_t *dtypes, uint32_t bytes, uint32_t floats) {
    const uint8_t scale = dtypes[EMBER_AFFINE_SCALE], zero = dtypes[EMBER_AFFINE_ZERO];
    return (dtypes[bytes] == EMBER_S8 || dtypes[bytes] == EMBER_U8) &&
           dtypes[floats] == EMBER_F32 && (scale == EMBER_F32 || scale == EMBER_F64) &&
           (zero == EMBER_S32 || zero == EMBER_S64);
}

bool ember_lines_hvx_fit(const ember_affine_t *s, uint32_t bytes, uint32_t floats) {
    const uint8_t *dtypes = s->dtypes;

    if (s->dims == 0 || !dtypes_fit(dtypes, bytes, floats)) {
        return false;
    }
    const int32_t *row = last_row(s), *steps = row + 1;
    return row[0] >= FEW &&
           steps[EMBER_AFFINE_X] == (int32_t)ember_dtype_size(dtypes[EMBER_AFFINE_X]) &&
           steps[EMBER_AFFINE_Y] == (int32_t)ember_dtype_size(dtypes[EMBER_AFFINE_Y]) &&
           steps[EMBER_AFFINE_SCALE] == 0 && steps[EMBER_AFFINE_ZERO] == 0;
}
