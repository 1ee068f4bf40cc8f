// SPDX-License-Identifier: Apache-2.0
// topk: the k largest or smallest elements of each line, in order. Which of equal ones
// are taken, and their order, is as in PyTorch, which calls the C++ library: a few of
// many by a heap, others by partitions around medians of three.
#include <string.h>

#include "kernels/engine/sort.h"
#include "kernels/movement/topk.h"

enum { SELF, K, DIM, LARGEST, SORTED, VALUES };

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_sort_t *s = state;
    ember_tensor_t self;

    ember_node_tensor(node, SELF, &self);
    const uint32_t dim = ember_node_dim(node, DIM, self.rank);
    const int32_t k = ember_node_int_in(node, K, 0, INT32_MAX);
    const bool largest = ember_node_bool(node, LARGEST);
    const ember_status_t status = ember_sort_lines(s, node, dim, k, largest, VALUES);
    if (status != EMBER_OK || s->dims == 0) {
        return status;
    }
    if (!ember_topk_is_few(s)) { // medians of three may split off one or two
        ember_node_work(node, self.numel, (uint32_t)s->size);
    }
    return ember_sort_scratch(s, node, ember_topk_is_few(s) ? s->count : s->size);
}

static int32_t run(void *state) {
    ember_sort_lines_run(state, ember_topk_line);
    return EMBER_OK;
}

EMBER_KERNEL(topk, ember_sort_t);
