// SPDX-License-Identifier: Apache-2.0
// Blocks picked by index tensors: reading and writing them. Contract: pick.h.
#include "kernels/engine/pick.h"

#include <string.h>

#include "kernels/engine/index.h"

// Adding is rare, so its walk is simple.
void ember_pick_add(const ember_copy_t *block, uint32_t dtype, char *dst,
                    const char *src) {
    const uint32_t count = block->run / block->element_size;
    int32_t index[EMBER_COPY_DIMS] = {0};

    for (int32_t d = 0; d >= 0;) {
        ember_elements_add(dst, src, dtype, count);
        for (d = (int32_t)block->rank - 1; d >= 0; d--) {
            const ember_copy_dim_t *dim = &block->dims[d];
            if (++index[d] < dim->count) {
                dst += dim->dst;
                src += dim->src;
                break;
            }
            index[d] = 0;
            dst -= (ptrdiff_t)dim->dst * (dim->count - 1);
            src -= (ptrdiff_t)dim->src * (dim->count - 1);
        }
    }
}

// One block: `at` has the addresses of the picked block and of the indices.
static bool move_block(const ember_pick_t *pick, char *const *at) {
    char *whole = pick->whole;

    for (uint32_t k = 0; k < pick->count; k++) {
        const int32_t index = ember_index_read(at[k + 1], pick->index_dtypes[k],
                                               pick->index[k].size, pick->wrap);
        if (index < 0) {
            return false;
        }
        whole += (ptrdiff_t)index * pick->index[k].step;
    }
    if (pick->add) {
        ember_pick_add(&pick->block, pick->dtype, whole, at[0]);
    } else if (pick->write) {
        ember_copy_run_at(&pick->block, whole, at[0]);
    } else {
        ember_copy_run_at(&pick->block, at[0], whole);
    }
    return true;
}

int32_t ember_pick_run(const ember_pick_t *pick) {
    const uint32_t operands = pick->count + 1u;
    char *at[EMBER_WALK_OPERANDS];
    ember_walk_t walk;

    if (pick->dims == 0) {
        return EMBER_OK;
    }
    ember_walk_start(&walk, pick->table, pick->dims, operands);
    walk.at[0] = pick->picked;
    for (uint32_t k = 0; k < pick->count; k++) {
        // Only read; the walk's pointers are not const.
        walk.at[k + 1] = (char *)(uintptr_t)pick->indices[k];
    }
    const int32_t *row = pick->table + (pick->dims - 1u) * (operands + 1);
    do {
        memcpy(at, walk.at, sizeof(at));
        for (int32_t i = 0; i < row[0]; i++) {
            if (!move_block(pick, at)) {
                return EMBER_DATA_RANGE;
            }
            for (uint32_t k = 0; k < operands; k++) {
                at[k] += row[1 + k];
            }
        }
    } while (ember_walk_next(&walk));
    return EMBER_OK;
}
