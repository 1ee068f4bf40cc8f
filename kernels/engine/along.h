// SPDX-License-Identifier: Apache-2.0
// One index per element, along one dimension: gather reads, scatter writes.
//
//     gather:   other[i][j][k] = whole[index[i][j][k]][j][k]     (dim 0)
//     scatter:  whole[index[i][j][k]][j][k] = other[i][j][k]
#ifndef EMBER_KERNELS_ENGINE_ALONG_H
#define EMBER_KERNELS_ENGINE_ALONG_H

#include "kernels/engine/index.h"
#include "kernels/engine/strided.h"
#include "kernels/engine/view.h"

typedef enum ember_along_mode {
    EMBER_ALONG_GATHER,
    EMBER_ALONG_SCATTER,
    EMBER_ALONG_COMBINE, // the first mode that scatters and combines
    EMBER_ALONG_ADD = EMBER_ALONG_COMBINE + EMBER_COMBINE_ADD,
    EMBER_ALONG_MULTIPLY = EMBER_ALONG_COMBINE + EMBER_COMBINE_MULTIPLY,
    EMBER_ALONG_MAX = EMBER_ALONG_COMBINE + EMBER_COMBINE_MAX,
    EMBER_ALONG_MIN = EMBER_ALONG_COMBINE + EMBER_COMBINE_MIN,
} ember_along_mode_t;

typedef struct ember_along {
    char *index;
    char *whole;
    char *other;
    int32_t size; // of the dimension, in `whole`
    int32_t step; // of the dimension, in `whole`, bytes
    uint8_t index_dtype;
    uint8_t dtype;
    uint8_t mode;
    uint8_t dims;                       // of the table; 0: nothing to do
    int32_t table[EMBER_WALK_ITEMS(3)]; // index, whole without `dim`, other
} ember_along_t;

// How scatter combines: `usual`, or what its string argument 4, `reduce`, says: "add"
// or "multiply". In that case `out` becomes the next argument.
ember_along_mode_t ember_along_scatter_mode(ember_node_t *node,
                                            ember_along_mode_t usual, uint32_t *out);

// `index` is the shape that is walked. BAD_PROGRAM if it is longer than `other` in any
// dimension, or than `whole` in any but `dim`. A scalar counts as a vector of one
// element.
EMBER_MUST_USE ember_status_t
ember_along_prepare(ember_along_t *along, ember_node_t *node, const ember_view_t *index,
                    const ember_view_t *whole, const ember_view_t *other, uint32_t dim,
                    ember_along_mode_t mode);

// Returns EMBER_OK or EMBER_DATA_RANGE.
int32_t ember_along_run(const ember_along_t *along);

#endif // EMBER_KERNELS_ENGINE_ALONG_H
