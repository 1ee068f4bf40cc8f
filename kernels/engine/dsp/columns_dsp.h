// SPDX-License-Identifier: Apache-2.0
// Convolutions with the DSP instructions as products of columns: the elements under the
// taps of three neighbouring outputs are copied to scratch as int16, side by side,
// their offset added, and then multiplied with two filters after the other.
#ifndef EMBER_KERNELS_ENGINE_DSP_COLUMNS_DSP_H
#define EMBER_KERNELS_ENGINE_DSP_COLUMNS_DSP_H

#include <arm_dsp_tiles.h>

#include "kernels/engine/int8/conv_s8.h"

enum { EMBER_COLUMNS_DSP = 3 };

typedef struct ember_columns_dsp {
    ember_conv_s8_t conv;
    const int8_t *w;        // (filters, inner)
    int8_t *turned;         // (filters, inner): scratch; NULL: weights are not turned
    int8_t *last;           // (2, fours): the last filters; NULL: as they are
    int8_t *copies;         // (column, fours); NULL: columns are taken from the image
    uint32_t *words;        // (fours, even or odd, column) pairs of int16
    ember_filter_dsp_t *by; // (filters,), or two
    int32_t inner;          // elements of a column
    int32_t fours;          // of a column; > 0
} ember_columns_dsp_t;

// Takes `s->conv`, which is read already and has all channels in one group; UNSUPPORTED
// when it is not for these kernels. A column has at most `taps` taps.
EMBER_MUST_USE ember_status_t ember_columns_dsp_prepare(ember_columns_dsp_t *s,
                                                        ember_node_t *node,
                                                        int64_t taps,
                                                        ember_weights_s8_t weights);

// What follows from `s->conv`.
void ember_columns_dsp_measure(ember_columns_dsp_t *s);

// All pairs of filters, and the last one, where it stands for itself.
typedef struct ember_columns_tiles {
    ember_tiles_dsp_t pairs; // maybe none
    ember_tiles_dsp_t last;  // maybe none
    const struct ember_ending_dsp *ending;
} ember_columns_tiles_t;

// How the sums of columns become outputs.
typedef struct ember_ending_dsp {
    // Sets what scales the sums of all filters, s->by; returns the offset of tiles.
    int32_t (*set_filters)(const ember_columns_dsp_t *s);
    // Multiplies the words with pairs of filters.
    void (*tiles)(const ember_columns_dsp_t *s, const ember_tiles_dsp_t *tiles);
    // The same of the sums of one column with `count` filters, from filter `from` on.
    void (*one)(const ember_columns_dsp_t *s, const int32_t *sums, int32_t from,
                int32_t count, int8_t *y);
} ember_ending_dsp_t;

extern const ember_ending_dsp_t ember_ending_dsp; // that of cortex_m

// Outputs are at s->conv.y, `steps` apart.
void ember_columns_dsp_run(const ember_columns_dsp_t *s, ember_steps_s8_t steps,
                           const ember_ending_dsp_t *ending);

// Sets `tiles` but their outputs.
void ember_columns_dsp_set_tiles(const ember_columns_dsp_t *s,
                                 ember_columns_tiles_t *tiles,
                                 const ember_ending_dsp_t *ending);

// Multiplies the words with all filters; the outputs of the columns are at `y`.
void ember_columns_dsp_filters(const ember_columns_dsp_t *s,
                               ember_columns_tiles_t *tiles,
                               int8_t *const y[EMBER_COLUMNS_DSP]);

// Multiplies only the first column, by filters in fours; the words are lost.
void ember_columns_dsp_one(const ember_columns_dsp_t *s,
                           const ember_ending_dsp_t *ending, int8_t *y);

#endif // EMBER_KERNELS_ENGINE_DSP_COLUMNS_DSP_H
