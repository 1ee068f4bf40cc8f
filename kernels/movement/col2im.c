// SPDX-License-Identifier: Apache-2.0
// col2im: adds windows of an image, one in each column, where they came from: (n, c *
// kernel, windows) to (n, c, h, w). Every dtype except bool.
#include <string.h>

#include "kernels/engine/index.h"
#include "kernels/engine/view.h"

enum { SELF, SIZE, KERNEL, DILATION, PADDING, STRIDE, OUT };
enum { LIMIT = 1 << 28 };

typedef struct {
    const char *self;
    char *out;
    uint32_t bytes; // of out
    int32_t batches;
    int32_t channels;
    int32_t size[2]; // height and width
    int32_t kernel[2];
    int32_t dilation[2];
    int32_t padding[2];
    int32_t stride[2];
    int32_t windows[2];
    int32_t from[3]; // strides, bytes
    int32_t to[4];
    uint8_t dtype;
} state_t;

// Adds one row of the input: tap (i, j) of every window.
static void add_tap(const state_t *s, const char *row, char *plane, int32_t i,
                    int32_t j) {
    const int32_t top = i * s->dilation[0] - s->padding[0];
    const int32_t left = j * s->dilation[1] - s->padding[1];

    for (int32_t h = 0; h < s->windows[0]; h++) {
        const int32_t y = top + h * s->stride[0];
        for (int32_t w = 0; w < s->windows[1]; w++, row += s->from[2]) {
            const int32_t x = left + w * s->stride[1];
            if (y >= 0 && y < s->size[0] && x >= 0 && x < s->size[1]) {
                char *to = plane + (ptrdiff_t)y * s->to[2] + (ptrdiff_t)x * s->to[3];
                ember_elements_add(to, row, s->dtype, 1);
            }
        }
    }
}

static void add_plane(const state_t *s, const char *rows, char *plane) {
    for (int32_t i = 0; i < s->kernel[0]; i++) {
        for (int32_t j = 0; j < s->kernel[1]; j++, rows += s->from[1]) {
            add_tap(s, rows, plane, i, j);
        }
    }
}

static int32_t run(void *state) {
    const state_t *s = state;
    const ptrdiff_t taps = (ptrdiff_t)s->kernel[0] * s->kernel[1];

    if (s->bytes == 0) {
        return EMBER_OK;
    }
    memset(s->out, 0, s->bytes);
    for (int32_t n = 0; n < s->batches; n++) {
        for (int32_t c = 0; c < s->channels; c++) {
            add_plane(s, s->self + (ptrdiff_t)n * s->from[0] + c * taps * s->from[1],
                      s->out + (ptrdiff_t)n * s->to[0] + (ptrdiff_t)c * s->to[1]);
        }
    }
    return EMBER_OK;
}

static void read_pair(ember_node_t *node, uint32_t arg, int32_t low, int32_t pair[2]) {
    const uint32_t count = ember_node_ints(node, arg, pair, 2);

    if (count == 1) {
        pair[1] = pair[0];
    }
    for (uint32_t d = 0; d < 2; d++) {
        if (count == 0 || pair[d] < low || pair[d] > LIMIT) {
            const bool large = count != 0 && pair[d] > LIMIT;
            (void)ember_node_fail(node, large ? EMBER_UNSUPPORTED : EMBER_BAD_PROGRAM,
                                  "col2im: bad parameter");
        }
    }
}

// Windows along each dimension; false if they do not fit the input's shape.
static bool set_windows(state_t *s, const ember_view_t *self) {
    for (uint32_t d = 0; d < 2; d++) {
        const int64_t reach = (int64_t)s->dilation[d] * (s->kernel[d] - 1) + 1;
        const int64_t room = s->size[d] + 2 * (int64_t)s->padding[d] - reach;
        if (room < 0 || reach > LIMIT) {
            return false;
        }
        s->windows[d] = (int32_t)(room / s->stride[d]) + 1;
    }
    const int64_t taps = (int64_t)s->kernel[0] * s->kernel[1];
    s->channels = (int32_t)(self->sizes[1] / taps);
    return self->sizes[1] % taps == 0 &&
           self->sizes[2] == (int64_t)s->windows[0] * s->windows[1];
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_tensor_t out;
    ember_view_t self, to;

    ember_view_arg(&self, node, SELF);
    const uint32_t rank = self.rank;
    read_pair(node, SIZE, 1, s->size);
    read_pair(node, KERNEL, 1, s->kernel);
    read_pair(node, DILATION, 1, s->dilation);
    read_pair(node, PADDING, 0, s->padding);
    read_pair(node, STRIDE, 1, s->stride);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (rank == 2) {
        ember_view_insert(&self, 0, 1, 0);
    }
    if (self.rank != 3 || !set_windows(s, &self)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM, "col2im: shapes do not fit");
    }
    const int32_t sizes[4] = {self.sizes[0], s->channels, s->size[0], s->size[1]};
    ember_node_output(node, OUT, rank + 1, sizes + 3 - rank, &out);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (out.dtype != self.dtype || out.dtype == EMBER_B1) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "col2im: dtypes");
    }
    ember_view_tensor(&to, &out);
    if (rank == 2) {
        ember_view_insert(&to, 0, 1, 0);
    }
    ember_node_work(node, (uint32_t)ember_view_numel(&self), EMBER_STEPS_ANY);
    s->self = self.data;
    s->out = out.data;
    s->bytes = (uint32_t)ember_tensor_bytes(&out);
    s->batches = self.sizes[0];
    s->dtype = out.dtype;
    memcpy(s->from, self.strides, sizeof(s->from));
    memcpy(s->to, to.strides, sizeof(s->to));
    return EMBER_OK;
}

EMBER_KERNEL(col2im, state_t);
