// SPDX-License-Identifier: Apache-2.0
// Max pools of the dialect. Contract: pool.h.
#include "kernels/cadence/pool.h"

enum { X, KERNEL, STRIDE, PADDING, DILATION, CEIL, Y };
enum { MOST = 1 << 15 }; // taps along an axis

// The largest element of a row of taps.
static uint32_t most_of(const ember_cadence_pool_t *s, int32_t at, int32_t ox,
                        uint32_t most) {
    for (int32_t kx = 0; kx < s->window.width.kernel; kx++) {
        const int32_t x = ember_cadence_tap(&s->window.width, false, ox, kx);
        if (x >= 0) {
            const uint32_t here = s->x[at + x * s->window.x.column] ^ (uint32_t)s->flip;
            most = here > most ? here : most;
        }
    }
    return most;
}

static void run_output(const ember_cadence_pool_t *s, int32_t n, int32_t oy,
                       int32_t ox) {
    const ember_cadence_window_t *window = &s->window;
    uint8_t *y =
        s->y + n * window->y.batch + oy * window->y.row + ox * window->y.column;

    for (int32_t c = 0; c < window->channels; c++) {
        const int32_t at = n * window->x.batch + c * window->x.channel;
        uint32_t most = 0;
        for (int32_t ky = 0; ky < window->height.kernel; ky++) {
            const int32_t row = ember_cadence_tap(&window->height, false, oy, ky);
            if (row >= 0) {
                most = most_of(s, at + row * window->x.row, ox, most);
            }
        }
        *y = (uint8_t)(most ^ s->flip);
        y += window->y.channel;
    }
}

void ember_cadence_max_pool_run(const ember_cadence_pool_t *s) {
    for (int32_t n = 0; n < s->window.batches; n++) {
        for (int32_t oy = 0; oy < s->window.height.out; oy++) {
            for (int32_t ox = 0; ox < s->window.width.out; ox++) {
                run_output(s, n, oy, ox);
            }
        }
    }
}

static ember_status_t set_output(ember_cadence_pool_t *s, ember_node_t *node,
                                 const ember_tensor_t *x, uint32_t out) {
    ember_cadence_window_t *window = &s->window;
    int32_t sizes[4];
    ember_tensor_t y;
    const uint32_t rank =
        ember_cadence_window_shape(window, x->rank, window->channels, sizes);

    ember_node_output(node, out, rank, sizes, &y);
    if (ember_node_status(node) != EMBER_OK || !ember_cadence_plain(node, x) ||
        !ember_cadence_plain(node, &y)) {
        return ember_node_status(node);
    }
    if (y.dtype != x->dtype) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "cadence pool: dtypes differ");
    }
    window->y = ember_cadence_image(window, window->channels, window->height.out,
                                    window->width.out);
    s->x = x->data;
    s->y = y.data;
    s->flip = x->dtype == EMBER_S8 ? 0x80 : 0;
    ember_node_work(node, y.numel,
                    (uint32_t)window->height.kernel * (uint32_t)window->width.kernel);
    return EMBER_OK;
}

ember_status_t ember_cadence_pool(ember_cadence_pool_t *s, ember_node_t *node,
                                  const ember_cadence_pool_args_t *args, bool last,
                                  uint8_t *dtype) {
    int32_t kernel[2] = {0, 0};
    ember_tensor_t x;

    ember_node_tensor(node, X, &x);
    const uint32_t count = ember_node_ints(node, args->kernel, kernel, 2);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    const bool bytes = x.dtype == EMBER_S8 || x.dtype == EMBER_U8;
    if ((!bytes && (x.dtype != EMBER_F32 || !args->floats)) || count < 1 ||
        !ember_cadence_window_in(&s->window, &x, last)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cadence pool: wrong dtype or rank");
    }
    *dtype = x.dtype;
    s->window.height.kernel = kernel[0];
    s->window.width.kernel = kernel[count - 1];
    if (kernel[0] > MOST || kernel[count - 1] > MOST) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "cadence pool: the window is too large");
    }
    const ember_status_t status =
        ember_cadence_window_out(&s->window, node, &args->lists);
    if (status != EMBER_OK) {
        return status;
    }
    return set_output(s, node, &x, args->out);
}

ember_status_t ember_cadence_max_pool(ember_cadence_pool_t *s, ember_node_t *node,
                                      bool last) {
    static const ember_cadence_pool_args_t args = {
        KERNEL, {STRIDE, PADDING, DILATION, 0, CEIL}, Y, false};
    uint8_t dtype;

    return ember_cadence_pool(s, node, &args, last, &dtype);
}
