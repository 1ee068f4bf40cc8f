// SPDX-License-Identifier: Apache-2.0
// permute_copy_hvx: permutes the dimensions, if the two innermost of the output are a
// matrix whose transpose is in the input. Works on bits, for any dtype.
#include "kernels/engine/hvx/transpose_hvx.h"
#include "kernels/movement/permute_copy.h"

enum { ENOUGH = 1024 }; // bytes of a matrix

static ember_transpose_hvx_t matrix_of(const ember_copy_t *s) {
    return (ember_transpose_hvx_t){
        .rows = s->dims[s->rank - 1].count,
        .columns = s->dims[s->rank - 2].count,
        .row = s->dims[s->rank - 1].src,
        .size = s->element_size,
        .step = s->dims[s->rank - 1].count * s->element_size,
    };
}

static void turn(const ember_copy_t *copy, uint8_t *to, const uint8_t *from) {
    ember_copy_t whole = *copy;

    whole.rank++;
    const ember_transpose_hvx_t matrix = matrix_of(&whole);
    ember_transpose_hvx(&matrix, to, from);
}

// Whether vectors are faster than single elements.
static bool pays(const ember_copy_t *s) {
    const ember_transpose_hvx_t matrix = matrix_of(s);

    return ember_transpose_hvx_pays(&matrix) ||
           (matrix.size == 1 && (int64_t)matrix.rows * matrix.columns >= ENOUGH);
}

static int32_t run(void *state) {
    ember_permute_copy_matrices(state, turn);
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_status_t status = ember_permute_copy_prepare(node, state);

    if (status == EMBER_OK && !(ember_permute_copy_is_matrix(state) && pays(state))) {
        return ember_node_fail(node, EMBER_UNSUPPORTED, "permute_copy_hvx: layout");
    }
    return status;
}

EMBER_KERNEL(permute_copy_hvx, ember_copy_t);
