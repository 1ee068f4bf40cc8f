// SPDX-License-Identifier: Apache-2.0
// rows_dsp: rows move eight words at a time. Contract: rows.h.
#include <arm_dsp_words.h>

#include "kernels/rows/rows_run.h"

static void move_large(large_block_t *to, const large_block_t *from, uint32_t count) {
    ember_dsp_copy_words(to->words, from->words, count);
}

static int32_t run(void *state) {
    return run_rows(state);
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_rows_prepare(node, state);
}

EMBER_KERNEL(rows_dsp, ember_rows_t);
