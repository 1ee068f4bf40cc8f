// SPDX-License-Identifier: Apache-2.0
// Convolutions of several groups. Contract: groups_hvx.h.
//
// A vector of results reaches behind the filters of its group, so a group's results are
// made apart, and copied between those of the others.
#include "kernels/engine/hvx/groups_hvx.h"

#include <stddef.h>

enum { BYTES_MAX = 1 << 28 };

static int64_t pixels_of(const ember_conv_s8_t *conv) {
    return (int64_t)conv->batches * conv->height.out * conv->width.out;
}

// Puts the results of a group, `filters` of each pixel, where they belong.
static void scatter(const ember_conv_s8_t *conv, const int8_t *from, int32_t filters,
                    int8_t *to) {
    const int64_t pixels = pixels_of(conv);

    for (int64_t i = 0; i < pixels; i++) {
        for (int32_t at = 0; at < filters; at += EMBER_HVX) {
            const HVX_Vector some = ember_load_left_hvx(from + at, filters - at);
            ember_store_left_hvx(to + at, some, filters - at);
        }
        from += filters;
        to += conv->filters;
    }
}

void ember_groups_hvx_run(const ember_groups_hvx_t *s,
                          const ember_ending_hvx_t *ending) {
    const ember_conv_s8_t *conv = &s->conv;
    const int32_t filters = conv->filters / s->groups;
    const int32_t numbers = s->columns.terms.one ? 0 : filters;
    const ptrdiff_t weights =
        (ptrdiff_t)filters * conv->height.kernel * conv->width.kernel * conv->depth;
    ember_columns_hvx_t group = s->columns;

    for (int32_t g = 0; g < s->groups; g++) {
        ember_columns_hvx_run(&group, ending);
        scatter(conv, group.y, filters, conv->y + (ptrdiff_t)g * filters);
        group.x += conv->depth;
        group.filters.w += weights;
        group.terms.bias += group.terms.bias == NULL ? 0 : filters;
        group.terms.multipliers += numbers;
        group.terms.shifts += numbers;
    }
}

ember_status_t ember_groups_hvx_prepare(ember_groups_hvx_t *s, ember_node_t *node) {
    s->groups = s->conv.channels / s->conv.depth;
    const int32_t filters = s->conv.filters / s->groups;
    const int64_t bytes = pixels_of(&s->conv) * filters;
    ember_conv_s8_t group = s->conv;
    group.channels = s->conv.depth;
    group.filters = filters;
    if (s->conv.over || bytes >= BYTES_MAX ||
        !ember_columns_hvx_pays(&group, ember_packets_of_conv(&group))) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "cortex_m: groups");
    }
    const ember_columns_form_hvx_t form = {.pixel = s->conv.channels,
                                           .room = bytes + EMBER_HVX};
    const ember_status_t planned =
        ember_columns_hvx_prepare(&s->columns, node, &group, &form);
    s->columns.y = s->columns.room;
    return planned;
}
