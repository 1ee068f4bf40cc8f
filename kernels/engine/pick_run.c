// SPDX-License-Identifier: Apache-2.0
// Blocks picked by index tensors: reading and writing them. Contract: pick.h.
#include "kernels/engine/pick.h"

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

// --- a line: blocks that are one step apart in the picked tensor -----------------

enum { LINE = 32 }; // at a time; their places are on the stack

// Adds the positions in the whole tensor that `count` indices of `dtype` give to
// `places`; the indices are read from `at`, `step` bytes apart. False if one is out of
// range.
static inline bool add_read(const ember_pick_index_t *of, uint32_t dtype, bool wrap,
                            const char *at, int32_t step, uint32_t count,
                            ptrdiff_t *places) {
    for (uint32_t i = 0; i < count; i++) {
        const int32_t index = ember_index_at(at, dtype, of->size, wrap);
        if (index < 0) {
            return false;
        }
        places[i] += (ptrdiff_t)index * of->step;
        at += step;
    }
    return true;
}

// The same for index tensor `k`, with a loop for each dtype.
static bool add_places(const ember_pick_t *pick, uint32_t k, const char *at,
                       int32_t step, uint32_t count, ptrdiff_t *places) {
    const ember_pick_index_t of = pick->index[k];
    const uint32_t dtype = pick->index_dtypes[k];
    const bool wrap = pick->wrap;

    if (step == 0) {
        ptrdiff_t place = 0;
        const bool in_range = add_read(&of, dtype, wrap, at, 0, 1, &place);
        for (uint32_t i = 0; i < count; i++) {
            places[i] += place;
        }
        return in_range;
    }
    return dtype == EMBER_S64 ? add_read(&of, EMBER_S64, wrap, at, step, count, places)
                              : add_read(&of, EMBER_S32, wrap, at, step, count, places);
}

// Elements are moved as integers of their size, whatever their dtype is.
typedef uint8_t __attribute__((may_alias)) element1_t;
typedef uint16_t __attribute__((may_alias)) element2_t;
typedef uint32_t __attribute__((may_alias)) element4_t;
typedef uint64_t __attribute__((may_alias)) element8_t;

#define MOVE_LINE(TYPE)                                                                \
    for (uint32_t i = 0; i < count; i++) {                                             \
        TYPE *const far = (TYPE *)(void *)(whole + places[i]);                         \
        TYPE *const near = (TYPE *)(void *)picked;                                     \
        *(write ? far : near) = *(write ? near : far);                                 \
        picked += step;                                                                \
    }

// One element of each block.
static void move_elements(uint32_t size, bool write, char *whole,
                          const ptrdiff_t *places, char *picked, int32_t step,
                          uint32_t count) {
    switch (size) {
    case 1:
        MOVE_LINE(element1_t)
        break;
    case 2:
        MOVE_LINE(element2_t)
        break;
    case 4:
        MOVE_LINE(element4_t)
        break;
    default:
        MOVE_LINE(element8_t)
        break;
    }
}

// Blocks of elements that are apart: the same element of each block, then the next.
static void move_scattered(const ember_pick_t *pick, const ptrdiff_t *places,
                           char *picked, int32_t step, uint32_t count) {
    const ember_copy_t *block = &pick->block;
    ember_copy_dim_t dim = {1, 0, 0};
    char *whole = pick->whole;

    if (block->rank == 1) {
        dim = block->dims[0];
    }
    for (int32_t i = 0; i < dim.count; i++) {
        move_elements(block->element_size, pick->write, whole, places, picked, step,
                      count);
        whole += pick->write ? dim.dst : dim.src;
        picked += pick->write ? dim.src : dim.dst;
    }
}

static void move_blocks(const ember_pick_t *pick, const ptrdiff_t *places, char *picked,
                        int32_t step, uint32_t count) {
    for (uint32_t i = 0; i < count; i++, picked += step) {
        char *const whole = pick->whole + places[i];
        if (pick->add) {
            ember_pick_add(&pick->block, pick->dtype, whole, picked);
        } else if (pick->write) {
            ember_copy_run_at(&pick->block, whole, picked);
        } else {
            ember_copy_run_at(&pick->block, picked, whole);
        }
    }
}

// `at`: addresses of the first picked block, and of its indices; `steps`: to the next.
static bool move_line(const ember_pick_t *pick, char *const *at, const int32_t *steps,
                      uint32_t first, uint32_t count) {
    const ember_copy_t *block = &pick->block;
    char *const picked = at[0] + (ptrdiff_t)first * steps[0];
    ptrdiff_t places[LINE] = {0};

    for (uint32_t k = 0; k < pick->count; k++) {
        const char *index = at[k + 1] + (ptrdiff_t)first * steps[k + 1];
        if (!add_places(pick, k, index, steps[k + 1], count, places)) {
            return false;
        }
    }
    if (!pick->add && block->run == block->element_size && block->rank <= 1) {
        move_scattered(pick, places, picked, steps[0], count);
    } else {
        move_blocks(pick, places, picked, steps[0], count);
    }
    return true;
}

int32_t ember_pick_run(const ember_pick_t *pick) {
    const uint32_t operands = pick->count + 1u;
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
    const uint32_t count = (uint32_t)row[0];
    do {
        for (uint32_t i = 0; i < count; i += LINE) {
            const uint32_t part = count - i < LINE ? count - i : LINE;
            if (!move_line(pick, walk.at, row + 1, i, part)) {
                return EMBER_DATA_RANGE;
            }
        }
    } while (ember_walk_next(&walk));
    return EMBER_OK;
}
