// SPDX-License-Identifier: Apache-2.0
// The copy engine. Contract: copy.h.
#include "kernels/engine/copy.h"

#include <string.h>

// Elements are moved as integers of their size, whatever their dtype is.
typedef uint16_t __attribute__((may_alias)) element2_t;
typedef uint32_t __attribute__((may_alias)) element4_t;
typedef uint64_t __attribute__((may_alias)) element8_t;

// Dimensions while they are merged: at most a view's, outermost first.
typedef struct {
    uint32_t rank;
    ember_copy_dim_t dims[EMBER_VIEW_RANK];
} nest_t;

static int32_t magnitude(int32_t stride) {
    return stride < 0 ? -stride : stride;
}

// Inserts in order of the destination's strides, the largest first.
static void nest_insert(nest_t *nest, ember_copy_dim_t dim) {
    uint32_t at = nest->rank++;
    while (at > 0 && magnitude(nest->dims[at - 1].dst) < magnitude(dim.dst)) {
        nest->dims[at] = nest->dims[at - 1];
        at--;
    }
    nest->dims[at] = dim;
}

static bool mergeable(ember_copy_dim_t outer, ember_copy_dim_t inner) {
    return outer.dst == (int64_t)inner.dst * inner.count &&
           outer.src == (int64_t)inner.src * inner.count;
}

static void nest_merge(nest_t *nest) {
    uint32_t kept = 0;
    for (uint32_t d = 1; d < nest->rank; d++) {
        if (mergeable(nest->dims[kept], nest->dims[d])) {
            const int32_t count = nest->dims[kept].count * nest->dims[d].count;
            nest->dims[kept] = nest->dims[d];
            nest->dims[kept].count = count;
        } else {
            nest->dims[++kept] = nest->dims[d];
        }
    }
    nest->rank = nest->rank == 0 ? 0 : kept + 1;
}

static uint8_t *first_element(const ember_view_t *view) {
    return view->data == NULL ? NULL : (uint8_t *)view->data + view->offset;
}

static bool same_sizes(const ember_view_t *a, const ember_view_t *b) {
    return a->rank == b->rank &&
           memcmp(a->sizes, b->sizes, a->rank * sizeof(a->sizes[0])) == 0;
}

static void nest_fill(nest_t *nest, const ember_view_t *dst, const ember_view_t *src) {
    nest->rank = 0;
    for (uint32_t d = 0; d < dst->rank; d++) {
        if (dst->sizes[d] != 1) {
            nest_insert(nest, (ember_copy_dim_t){dst->sizes[d], dst->strides[d],
                                                 src->strides[d]});
        }
    }
    nest_merge(nest);
}

ember_status_t ember_copy_prepare(ember_copy_t *copy, ember_node_t *node,
                                  const ember_view_t *dst, const ember_view_t *src) {
    nest_t nest;

    if (!same_sizes(dst, src) || dst->element_size != src->element_size) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "copy: layouts differ in size");
    }
    copy->rank = 0;
    copy->run = 0;
    copy->element_size = dst->element_size;
    if (ember_view_numel(dst) == 0) {
        return EMBER_OK;
    }
    nest_fill(&nest, dst, src);
    copy->dst = first_element(dst);
    copy->src = first_element(src);
    copy->run = dst->element_size;
    if (nest.rank > 0) {
        const ember_copy_dim_t inner = nest.dims[nest.rank - 1];
        if (inner.dst == (int32_t)copy->run && inner.src == (int32_t)copy->run) {
            copy->run *= (uint32_t)inner.count;
            nest.rank--;
        }
    }
    if (nest.rank > EMBER_COPY_DIMS) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "copy: too many dimensions");
    }
    copy->rank = (uint8_t)nest.rank;
    memcpy(copy->dims, nest.dims, nest.rank * sizeof(nest.dims[0]));
    return EMBER_OK;
}

// One inner loop, by the size of what is moved.
static void copy_runs(uint8_t *dst, const uint8_t *src, ember_copy_dim_t dim,
                      uint32_t run) {
    for (int32_t i = 0; i < dim.count; i++) {
        memmove(dst, src, run); // a hostile plan may overlap them
        dst += dim.dst;
        src += dim.src;
    }
}

static void copy_1(uint8_t *dst, const uint8_t *src, ember_copy_dim_t dim) {
    for (int32_t i = 0; i < dim.count; i++) {
        *dst = *src;
        dst += dim.dst;
        src += dim.src;
    }
}

static void copy_2(uint8_t *dst, const uint8_t *src, ember_copy_dim_t dim) {
    for (int32_t i = 0; i < dim.count; i++) {
        *(element2_t *)(void *)dst = *(const element2_t *)(const void *)src;
        dst += dim.dst;
        src += dim.src;
    }
}

static void copy_4(uint8_t *dst, const uint8_t *src, ember_copy_dim_t dim) {
    for (int32_t i = 0; i < dim.count; i++) {
        *(element4_t *)(void *)dst = *(const element4_t *)(const void *)src;
        dst += dim.dst;
        src += dim.src;
    }
}

static void copy_8(uint8_t *dst, const uint8_t *src, ember_copy_dim_t dim) {
    for (int32_t i = 0; i < dim.count; i++) {
        *(element8_t *)(void *)dst = *(const element8_t *)(const void *)src;
        dst += dim.dst;
        src += dim.src;
    }
}

static void copy_inner(const ember_copy_t *copy, uint8_t *dst, const uint8_t *src) {
    const ember_copy_dim_t dim = copy->dims[copy->rank - 1];

    if (copy->run != copy->element_size) {
        copy_runs(dst, src, dim, copy->run);
    } else if (copy->run == 4) {
        copy_4(dst, src, dim);
    } else if (copy->run == 1) {
        copy_1(dst, src, dim);
    } else if (copy->run == 2) {
        copy_2(dst, src, dim);
    } else {
        copy_8(dst, src, dim);
    }
}

void ember_copy_walk(const ember_copy_t *copy, void *to, const void *from,
                     ember_copy_inner_fn inner) {
    int32_t index[EMBER_COPY_DIMS] = {0};
    const int32_t last = (int32_t)copy->rank - 2;
    uint8_t *dst = to;
    const uint8_t *src = from;

    if (copy->rank == 0) {
        if (copy->run != 0) {
            memmove(dst, src, copy->run);
        }
        return;
    }
    for (int32_t d = last + 1; d >= 0;) {
        inner(copy, dst, src);
        for (d = last; d >= 0; d--) { // advance the outer dimensions, as a counter does
            const ember_copy_dim_t *dim = &copy->dims[d];
            if (++index[d] < dim->count) {
                dst += dim->dst;
                src += dim->src;
                break;
            }
            index[d] = 0;
            dst -= (ptrdiff_t)dim->dst * (dim->count - 1);
            src -= (ptrdiff_t)dim->src * (dim->count - 1);
        }
    }
}

void ember_copy_run_at(const ember_copy_t *copy, void *to, const void *from) {
    ember_copy_walk(copy, to, from, copy_inner);
}

void ember_copy_run(const ember_copy_t *copy) {
    ember_copy_run_at(copy, copy->dst, copy->src);
}

// Whether each element is where it belongs already: a tensor that is updated in place.
static bool in_place(const ember_copy_t *copy) {
    bool same = copy->dst == copy->src;

    for (uint32_t d = 0; d < copy->rank; d++) {
        same = same && copy->dims[d].dst == copy->dims[d].src;
    }
    return same;
}

ember_status_t ember_copy_output(ember_copy_t *copy, ember_node_t *node, uint32_t arg,
                                 const ember_view_t *src) {
    ember_tensor_t out;
    ember_view_t dst;

    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (src->rank > EMBER_MAX_RANK) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "copy: wrong rank of the output");
    }
    ember_node_output(node, arg, src->rank, src->sizes, &out);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (out.dtype != src->dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "copy: dtypes differ");
    }
    ember_view_tensor(&dst, &out);
    const ember_status_t status = ember_copy_prepare(copy, node, &dst, src);
    if (status == EMBER_OK && in_place(copy)) {
        copy->run = 0;
        copy->rank = 0;
    }
    return status;
}

// Reshapes a contiguous tensor's view to another shape with the same elements.
static void reshape(ember_view_t *view, uint32_t rank, const int32_t *sizes) {
    int32_t stride = (int32_t)view->element_size;

    view->rank = (uint8_t)rank;
    for (uint32_t d = rank; d-- > 0;) {
        view->sizes[d] = sizes[d];
        view->strides[d] = stride;
        stride *= sizes[d]; // the tensor has elements, so this is at most its bytes
    }
}

ember_status_t ember_copy_reshaped(ember_copy_t *copy, ember_node_t *node, uint32_t arg,
                                   const ember_tensor_t *src, uint32_t rank,
                                   const int32_t *sizes) {
    ember_tensor_t out;
    ember_view_t from, to;

    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    ember_node_output(node, arg, rank, sizes, &out);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (out.dtype != src->dtype) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "copy: dtypes differ");
    }
    if (out.numel != src->numel) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "copy: different numbers of elements");
    }
    ember_view_tensor(&from, src);
    ember_view_tensor(&to, &out);
    if (src->numel == 0) {
        from = to;
    } else if (ember_tensor_is_contiguous(src)) {
        reshape(&from, out.rank, out.sizes);
    } else if (ember_tensor_is_contiguous(&out)) {
        reshape(&to, src->rank, src->sizes);
    } else if (!same_sizes(&from, &to)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "copy: neither tensor is contiguous");
    }
    return ember_copy_prepare(copy, node, &to, &from);
}
