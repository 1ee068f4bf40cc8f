// SPDX-License-Identifier: Apache-2.0
// ember::upsample_bilinear2d_rows.out: upsample_bilinear2d by rows of its image, which
// then is never whole. `rows` are three rows of the image, with the one whose number,
// from 1, `number` says (row_number.c) in the middle; what lies outside of the image is
// not looked at. Of each row of the image come as many of the result as `out` has.
#include "kernels/engine/element.h"
#include "kernels/movement/bilinear.h"

enum { ROWS, NUMBER, IMAGE_ROWS, ALIGN, FACTORS, OUT };
enum { HEIGHT = 2, WIDTH }; // dimensions
enum { WINDOW = 3 };        // rows

typedef struct {
    ember_bilinear_t whole;
    const int32_t *number;
    int32_t image_rows;
    int32_t made;
} state_t;

static bool fit(const ember_upsample_t *up, const ember_tensor_t *number) {
    const int32_t *in = up->in.sizes;
    const int32_t *out = up->out.sizes;

    return up->in.rank == 4 && up->out.rank == 4 && up->in.dtype == EMBER_F32 &&
           up->out.dtype == EMBER_F32 && in[0] == out[0] && in[1] == out[1] &&
           in[HEIGHT] == WINDOW && out[HEIGHT] > 0 && in[WIDTH] > 0 && out[WIDTH] > 0 &&
           number->dtype == EMBER_S32 && number->numel == 1;
}

static void read_args(ember_node_t *node, ember_upsample_t *up,
                      ember_tensor_t *number) {
    const bool scaled = ember_node_list_count(node, FACTORS) == 2;
    ember_tensor_t out;

    ember_view_arg(&up->in, node, ROWS);
    ember_node_tensor(node, NUMBER, number);
    ember_node_inout(node, OUT, &out);
    ember_view_tensor(&up->out, &out);
    for (uint32_t d = 0; d < 2; d++) {
        up->scales[d] = scaled ? ember_node_list_double(node, FACTORS, d) : 0.0;
    }
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_upsample_t up;
    ember_tensor_t number;

    read_args(node, &up, &number);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (!fit(&up, &number)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "upsample: no three rows of float32 and their number");
    }
    ember_node_work(node, (uint32_t)ember_view_numel(&up.out), 4 * EMBER_STEPS_ANY);
    s->made = up.out.sizes[HEIGHT];
    s->image_rows = ember_node_int_in(node, IMAGE_ROWS, 1, INT32_MAX / s->made);
    s->number = number.data;
    up.in.sizes[HEIGHT] = s->image_rows;
    up.out.sizes[HEIGHT] = s->image_rows * s->made;
    return ember_bilinear_prepare(&s->whole, node, &up, ember_node_bool(node, ALIGN));
}

static int32_t run(void *state) {
    const state_t *s = state;
    const int32_t number = *s->number < 1 ? 1 : *s->number;
    const int32_t row = (number > s->image_rows ? s->image_rows : number) - 1;
    const ember_bilinear_rows_t rows = {row * s->made, s->made, row - 1, WINDOW - 1};

    ember_bilinear_run(&s->whole, &rows);
    return EMBER_OK;
}

EMBER_KERNEL(upsample_bilinear2d_rows, state_t);
