// SPDX-License-Identifier: Apache-2.0
// Copies in which each output position reads a mapped input position, dimension by
// dimension: roll, reflection and replication pads, nearest upsampling.
//
//     out[i, j, ...] = in[f0(i), f1(j), ...]
#ifndef EMBER_KERNELS_ENGINE_REMAP_H
#define EMBER_KERNELS_ENGINE_REMAP_H

#include "kernels/engine/view.h"

enum { EMBER_REMAP_DIMS = 5 };

typedef enum ember_remap_mode {
    EMBER_REMAP_ROLL,      // shifted by `shift`, wrapping around
    EMBER_REMAP_REFLECT,   // `shift` before; mirrored beyond the ends
    EMBER_REMAP_REPLICATE, // `shift` before; the ends repeated
    EMBER_REMAP_NEAREST,   // floor(position * scale), at most the last
} ember_remap_mode_t;

typedef struct ember_remap_dim {
    int32_t count; // of the output
    int32_t dst;   // bytes
    int32_t size;  // of the input
    int32_t src;   // bytes
    union {
        int32_t shift;
        float scale;
    };
} ember_remap_dim_t;

typedef struct ember_remap {
    char *dst;
    const char *src;
    uint8_t mode;
    uint8_t rank; // dims in use
    bool empty;
    bool words;     // blocks are elements of four bytes
    uint32_t block; // bytes that are copied at a time
    ember_remap_dim_t dims[EMBER_REMAP_DIMS];
} ember_remap_t;

// Takes the layouts of two views of equal rank; UNSUPPORTED if that is 0 or more than
// EMBER_REMAP_DIMS. All shifts are 0; the caller sets the others: less than the size
// where elements are rolled or mirrored.
EMBER_MUST_USE ember_status_t ember_remap_prepare(ember_remap_t *remap,
                                                  ember_node_t *node,
                                                  const ember_view_t *dst,
                                                  const ember_view_t *src,
                                                  ember_remap_mode_t mode);

// Makes a block of dimensions that are read as they are and lie innermost, such as
// channels that lie last. To be called when all shifts and scales are set.
void ember_remap_join(ember_remap_t *remap);

void ember_remap_run(const ember_remap_t *remap);

#endif // EMBER_KERNELS_ENGINE_REMAP_H
