// SPDX-License-Identifier: Apache-2.0
// A model of device/depthwise.c, without its instructions.
#include "backends/xnnpack/sme/depthwise.h"

static int8_t number_of(const ember_xnn_sme_depthwise_t *job, const int8_t *image,
                        int32_t y, int32_t x, uint32_t channel) {
    const ember_xnn_window_t *window = job->window;
    const size_t pitch = (uint32_t)window->channels + ember_xnn_sme_vector();
    const ember_xnn_sme_static_t *columns = job->columns;
    const int32_t *bias = columns->bias;
    const float own =
        columns->scales != NULL ? columns->scales[channel] : columns->scale;
    const float factor = columns->in_scale * own / columns->out_scale;
    uint32_t sum = (uint32_t)(bias != NULL ? bias[channel] : 0) -
                   (uint32_t)columns->in_zero * (uint32_t)job->sums[channel];
    for (int32_t k = 0; k < XNN_SME_SIDE * XNN_SME_SIDE; k++) {
        const int32_t row = y * window->y.stride - window->y.before + k / 3;
        const int32_t column = x * window->x.stride - window->x.before + k % 3;
        const bool inside =
            row >= 0 && row < window->y.in && column >= 0 && column < window->x.in;
        const size_t at = (size_t)(row * window->x.in + column);
        const int8_t *taps = job->w + 4 * ((size_t)(k % 3) * pitch + channel);
        const int8_t w = taps[k / 3];
        sum += (uint32_t)(w * (inside ? image[at * (uint32_t)window->channels + channel]
                                      : job->zero));
    }
    return xnn_quantize((float)(int32_t)sum * factor, &columns->range);
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
