// SPDX-License-Identifier: Apache-2.0
// Copies of mapped positions. Contract: remap.h.
#include "kernels/engine/remap.h"

#include <string.h>

ember_status_t ember_remap_prepare(ember_remap_t *remap, ember_node_t *node,
                                   const ember_view_t *dst, const ember_view_t *src,
                                   ember_remap_mode_t mode) {
    remap->dst = dst->data;
    remap->src = src->data;
    remap->mode = (uint8_t)mode;
    remap->rank = dst->rank;
    remap->block = dst->element_size;
    remap->words = dst->element_size == sizeof(uint32_t);
    remap->empty = ember_view_numel(dst) == 0;
    if (dst->dtype != src->dtype || dst->rank > EMBER_REMAP_DIMS || dst->rank == 0) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "remap: wrong rank or dtypes");
    }
    if (!remap->empty && ember_view_numel(src) == 0) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "remap: the input has no elements");
    }
    memset(remap->dims, 0, sizeof(remap->dims));
    for (uint32_t d = 0; d < dst->rank; d++) {
        remap->dims[d].count = dst->sizes[d];
        remap->dims[d].dst = dst->strides[d];
        remap->dims[d].size = src->sizes[d];
        remap->dims[d].src = src->strides[d];
    }
    return EMBER_OK;
}

static bool is_mapped(const ember_remap_t *remap, const ember_remap_dim_t *dim) {
    return dim->count != dim->size ||
           (remap->mode != EMBER_REMAP_NEAREST && dim->shift != 0);
}

static void join_innermost(ember_remap_t *remap) {
    for (uint32_t d = 0; d < remap->rank; d++) {
        ember_remap_dim_t *dim = &remap->dims[d];
        const int64_t block = (int64_t)remap->block;
        if (!is_mapped(remap, dim) && dim->dst == block && dim->src == block) {
            remap->words = remap->words && dim->count == 1;
            remap->block *= (uint32_t)dim->count;
            dim->count = 1;
            dim->size = 1;
        }
    }
}

void ember_remap_join(ember_remap_t *remap) {
    for (uint32_t d = 0; d < remap->rank && !remap->empty; d++) {
        join_innermost(remap);
    }
}

// Where factors may have any scale: clamped before it is converted.
static inline int32_t nearest(const ember_remap_dim_t *dim, int32_t at) {
    const float real = (float)at * dim->scale;
    const int32_t last = dim->size - 1;
    const int32_t source = real < (float)last ? (int32_t)real : last;
    return dim->count == dim->size ? at : source;
}

// The input position that position `at` of the output reads.
static int32_t source_of(uint32_t mode, const ember_remap_dim_t *dim, int32_t at) {
    const int32_t last = dim->size - 1;

    if (mode == EMBER_REMAP_NEAREST) {
        return nearest(dim, at);
    }
    const int32_t source = at - dim->shift;
    if (mode == EMBER_REMAP_ROLL) { // 0 <= shift < size
        return source < 0 ? source + dim->size : source;
    }
    if (mode == EMBER_REMAP_REFLECT) { // |shift| < size
        const int32_t mirrored = source < 0 ? -source : source;
        return mirrored > last ? 2 * last - mirrored : mirrored;
    }
    return source < 0 ? 0 : source > last ? last : source;
}

static void copy_nearest_words(const ember_remap_dim_t *of, char *dst,
                               const char *src) {
    const ember_remap_dim_t dim = *of; // which is not what is written

    for (int32_t i = 0; i < dim.count; i++) {
        const ptrdiff_t at = nearest(&dim, i);
        *(uint32_t *)(void *)dst =
            *(const uint32_t *)(const void *)(src + at * dim.src);
        dst += dim.dst;
    }
}

static void run_row(const ember_remap_t *remap, char *dst, const char *src) {
    const ember_remap_dim_t *dim = &remap->dims[remap->rank - 1u];

    if (remap->words && remap->mode == EMBER_REMAP_NEAREST) {
        copy_nearest_words(dim, dst, src);
        return;
    }
    for (int32_t i = 0; i < dim->count; i++) {
        const ptrdiff_t at = source_of(remap->mode, dim, i);
        memcpy(dst, src + at * dim->src, remap->block);
        dst += dim->dst;
    }
}

void ember_remap_run(const ember_remap_t *remap) {
    int32_t index[EMBER_REMAP_DIMS] = {0};
    const int32_t outer = remap->rank - 1;

    if (remap->empty) {
        return;
    }
    for (int32_t d = 0; d >= 0;) {
        char *dst = remap->dst;
        const char *src = remap->src;
        for (int32_t k = 0; k < outer; k++) {
            const int32_t at = source_of(remap->mode, &remap->dims[k], index[k]);
            dst += (ptrdiff_t)index[k] * remap->dims[k].dst;
            src += (ptrdiff_t)at * remap->dims[k].src;
        }
        run_row(remap, dst, src);
        for (d = outer - 1; d >= 0 && ++index[d] == remap->dims[d].count; d--) {
            index[d] = 0;
        }
    }
}
