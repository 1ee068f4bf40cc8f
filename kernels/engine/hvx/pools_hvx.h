// SPDX-License-Identifier: Apache-2.0
// Windows of int8 images with few channels, channels last, with HVX: those that are
// side by side in the image are computed as one of many channels, together with those
// that a stride leaves out.
#ifndef EMBER_KERNELS_ENGINE_HVX_POOLS_HVX_H
#define EMBER_KERNELS_ENGINE_HVX_POOLS_HVX_H

#include "kernels/engine/int8/pool_s8.h"

// Computes `channels` channels of one window.
typedef void (*ember_pools_hvx_fn)(const void *state, ember_window_s8_t window,
                                   int32_t channels, int8_t *y);

// Calls `one` with `state` for all windows; `gaps`: also for bytes between windows.
void ember_pools_hvx_run(const ember_pool_s8_t *pool, bool gaps, ember_pools_hvx_fn one,
                         const void *state);

// Elements of a window that is in the image; of large ones, enough to be worth it.
int64_t ember_pools_hvx_taps(const ember_pool_s8_t *pool);

// Whether vectors take fewer packets than portable C, by estimates of what `one` takes
// for a vector, and portable C for an element of the output.
bool ember_pools_hvx_pays(const ember_pool_s8_t *pool, bool gaps, int64_t of_vector,
                          int64_t of_element);

#endif // EMBER_KERNELS_ENGINE_HVX_POOLS_HVX_H
