// SPDX-License-Identifier: Apache-2.0
// Copies with a change of dtype. Contract: convert.h.
#include "kernels/engine/convert.h"

#include "kernels/engine/cursor.h"

enum { CHUNK = 32 };

ember_status_t ember_convert_prepare(ember_convert_t *convert, ember_node_t *node,
                                     const ember_tensor_t *dst,
                                     const ember_tensor_t *src) {
    const ember_tensor_t *operands[2] = {dst, src};
    ember_view_t view;

    ember_view_tensor(&view, src);
    if (!ember_view_expand(&view, dst->rank, dst->sizes)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "copy: shapes do not broadcast");
    }
    convert->dst = dst->data;
    convert->src = src->data;
    convert->dst_dtype = dst->dtype;
    convert->src_dtype = src->dtype;
    convert->dims = 0;
    if (dst->numel > 0) {
        convert->dims = (uint8_t)ember_walk_fill(operands, 2, convert->table);
        if (convert->dims == 0) {
            return ember_node_fail(node, EMBER_UNSUPPORTED,
                                   "copy: too many dimensions");
        }
    }
    return EMBER_OK;
}

static char *first(const ember_view_t *view) {
    return view->data == NULL ? NULL : (char *)view->data + view->offset;
}

ember_status_t ember_convert_views(ember_convert_t *convert, ember_node_t *node,
                                   const ember_view_t *dst, const ember_view_t *src) {
    const ember_view_t *const views[] = {dst, src};

    convert->dst = first(dst);
    convert->src = first(src);
    convert->dst_dtype = dst->dtype;
    convert->src_dtype = src->dtype;
    convert->dims = 0;
    if (ember_view_numel(dst) > 0) {
        convert->dims = (uint8_t)ember_cursor_table(views, 2, convert->table);
        if (convert->dims == 0) {
            return ember_node_fail(node, EMBER_UNSUPPORTED,
                                   "copy: too many dimensions");
        }
    }
    return EMBER_OK;
}

static void convert_row(const ember_convert_t *convert, char *dst, const char *src,
                        const int32_t *row) {
    const ember_class_t class = ember_class_of(convert->src_dtype);
    int64_t numbers[CHUNK];

    for (int32_t i = 0; i < row[0]; i += CHUNK) {
        const int32_t left = row[0] - i;
        const uint32_t count = (uint32_t)(left < CHUNK ? left : CHUNK);
        ember_elements_load(class, numbers, convert->src_dtype,
                            src + (ptrdiff_t)i * row[2], row[2], count);
        ember_elements_store(class, numbers, convert->dst_dtype,
                             dst + (ptrdiff_t)i * row[1], row[1], count);
    }
}

void ember_convert_run(const ember_convert_t *convert) {
    ember_walk_t walk;

    if (convert->dims == 0) {
        return;
    }
    ember_walk_start(&walk, convert->table, convert->dims, 2);
    walk.at[0] = convert->dst;
    walk.at[1] = convert->src;
    do {
        convert_row(convert, walk.at[0], walk.at[1],
                    convert->table + (convert->dims - 1u) * 3u);
    } while (ember_walk_next(&walk));
}
