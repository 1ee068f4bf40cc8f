// SPDX-License-Identifier: Apache-2.0
// move_large() of rows_run.h, portable.
#ifndef EMBER_KERNELS_ROWS_ROWS_LARGE_H
#define EMBER_KERNELS_ROWS_ROWS_LARGE_H

#include "kernels/rows/rows_run.h"

static void move_large(large_block_t *to, const large_block_t *from, uint32_t count) {
    for (; count > 0; count--) {
        *to++ = *from++;
    }
}

#endif // EMBER_KERNELS_ROWS_ROWS_LARGE_H
