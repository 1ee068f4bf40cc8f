// SPDX-License-Identifier: Apache-2.0
// Convolutions of the dialect with Hexagon's vectors. Contract: lent_hvx.h.
#include "kernels/cadence/lent_hvx.h"

#include "kernels/cadence/lent_plain.h"
#include "kernels/engine/hvx/transpose_hvx.h"

enum { ENOUGH = 1024 }; // elements to turn with vectors

static bool has_groups(const ember_lent_hvx_t *s) {
    return s->conv.depth != s->conv.channels;
}

// Whether weights (filters, depth, taps) become (depth, taps, filters), which is one
// matrix, and the image lies where vectors can read it.
static bool takes_whole(const ember_lent_hvx_t *s) {
    const ember_conv_s8_t *conv = &s->conv;
    const int64_t taps = ember_conv_s8_taps(conv);

    return conv->filters > 1 && s->lent.w != NULL && s->lent.x != NULL &&
           s->lent.rows == conv->depth && s->lent.columns == taps &&
           ember_columns_hvx_merged(conv) == 1;
}

static ember_status_t prepare_engine(ember_lent_hvx_t *s, ember_node_t *node) {
    if (s->lent.depthwise) {
        return ember_depthwise_hvx_prepare(&s->depthwise, node, 0);
    }
    if (has_groups(s)) {
        return ember_groups_hvx_prepare(&s->groups, node);
    }
    const bool whole = takes_whole(s);
    if (whole) {
        s->lent.rows = s->conv.filters;
        s->lent.columns = (int32_t)ember_conv_s8_taps(&s->conv) * s->conv.depth;
        s->lent.filters = 1;
    }
    return ember_columns_conv_hvx_prepare(&s->columns, node, whole);
}

ember_status_t ember_lent_hvx_prepare(ember_lent_hvx_t *s, const ember_conv_s8_t *conv,
                                      ember_node_t *node) {
    const ember_scales_s8_t *scales = &conv->scales;

    s->conv = *conv;
    if (!ember_real_hvx_takes(scales->scale)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cadence convolution: scale");
    }
    const ember_status_t status = prepare_engine(s, node);
    if (status == EMBER_OK) {
        s->real = ember_real_within_hvx(
            scales->scale, scales->inverse, scales->zero_point,
            s->lent.depthwise ? ember_depthwise_hvx_bound(&s->depthwise) : 0);
    }
    return status;
}

// One multiplier stands for the factors that the engine reads.
static void set_terms(ember_terms_hvx_t *terms) {
    static const int32_t none = 0;

    terms->one = true;
    terms->multipliers = &none;
    terms->shifts = &none;
}

static void run_columns(const ember_columns_conv_hvx_t *s,
                        const ember_ending_hvx_t *ending) {
    ember_columns_hvx_t columns = s->columns;

    if (!ember_columns_hvx_aligned(&columns)) {
        ember_lent_plain_conv(&s->conv, false);
        return;
    }
    set_terms(&columns.terms);
    ember_columns_hvx_run(&columns, ending);
}

static void run_groups(const ember_groups_hvx_t *s, const ember_ending_hvx_t *ending) {
    ember_groups_hvx_t groups = *s;

    set_terms(&groups.columns.terms);
    ember_groups_hvx_run(&groups, ending);
}

void ember_lent_hvx_run(const ember_lent_hvx_t *s) {
    const ember_real_ending_hvx_t ending = ember_real_ending_hvx(&s->real);

    if (s->lent.depthwise) {
        ember_depthwise_hvx_run(&s->depthwise, &ending.ending);
    } else if (has_groups(s)) {
        run_groups(&s->groups, &ending.ending);
    } else {
        run_columns(&s->columns, &ending.ending);
    }
}

void ember_turn_hvx(int8_t *to, const int8_t *from, int32_t rows, int32_t columns) {
    const ember_transpose_hvx_t matrix = {
        .rows = rows,
        .columns = columns,
        .row = columns,
        .size = 1,
        .step = rows,
    };

    if ((int64_t)rows * columns < ENOUGH) {
        ember_turn(to, from, rows, columns);
    } else {
        ember_transpose_hvx(&matrix, (uint8_t *)to, (const uint8_t *)from);
    }
}
