// SPDX-License-Identifier: Apache-2.0
// What depthwise.c computes, without its instructions.
#include "../depthwise.h"

static int8_t number_of(const ember_xnn_sme_depthwise_t *job, const int8_t *image,
                        int32_t y, int32_t x, uint32_t channel) {
    const ember_xnn_window_t *window = job->window;
    const size_t pitch = (uint32_t)window->channels + ember_xnn_sme_vector();
    int32_t sum = job->start[channel];
    for (int32_t k = 0; k < XNN_SME_SIDE * XNN_SME_SIDE; k++) {
        const int32_t row = y * window->y.stride - window->y.before + k / 3;
        const int32_t column = x * window->x.stride - window->x.before + k % 3;
        const bool inside =
            row >= 0 && row < window->y.in && column >= 0 && column < window->x.in;
        const size_t at = (size_t)(row * window->x.in + column);
        const int8_t *taps = job->w + 4 * ((size_t)(k % 3) * pitch + channel);
        const int8_t w = taps[k / 3];
        sum +=
            w * (inside ? image[at * (uint32_t)window->channels + channel] : job->zero);
    }
    return xnn_quantize((float)sum * job->scales[channel], &job->range);
}

void ember_xnn_sme_depthwise(const ember_xnn_sme_depthwise_t *job) {
    const ember_xnn_window_t *window = job->window;
    const uint32_t channels = (uint32_t)window->channels;
    const int8_t *image = job->x;
    int8_t *out = job->y;
    for (int32_t b = 0; b < window->batch; b++) {
        for (int32_t i = 0; i < window->y.out * window->x.out; i++) {
            for (uint32_t c = 0; c < channels; c++) {
                *out++ = number_of(job, image, i / window->x.out, i % window->x.out, c);
            }
        }
        image += (size_t)(window->y.in * window->x.in) * channels;
    }
}
