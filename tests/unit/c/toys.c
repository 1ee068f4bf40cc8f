// SPDX-License-Identifier: Apache-2.0
// See toys.h.
#include "toys.h"

#include <string.h>

TOY_LOCAL uint32_t toy_prepares;
TOY_LOCAL uint32_t toy_runs;
void (*toy_probe)(ember_node_t *node);

typedef struct toy_state {
    ember_tensor_t in[8];
    ember_tensor_t out;
    int32_t counts[EMBER_MAX_RANK];
    ember_slot_t *slot;
    int64_t a;
    int64_t b;
    double number;
    uint8_t *scratch;
    uint32_t n;
} toy_state_t;

#define KERNEL(name, prepare, run)                                                     \
    static const ember_kernel_t kernel_##name = {prepare, run, sizeof(toy_state_t),    \
                                                 #name}

static ember_status_t want(ember_node_t *node, bool good) {
    toy_prepares++;
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    return good ? EMBER_OK
                : ember_node_fail(node, EMBER_UNSUPPORTED, "toy: another dtype");
}

static int32_t run_copy(void *state) {
    toy_state_t *toy = state;
    toy_runs++;
    if (toy->out.numel > 0) {
        memmove(toy->out.data, toy->in[0].data, ember_tensor_bytes(&toy->out));
    }
    return EMBER_OK;
}

// --- add, fill ---------------------------------------------------------------------

static ember_status_t prepare_add(ember_node_t *node, void *state) {
    toy_state_t *toy = state;
    ember_node_tensor(node, 0, &toy->in[0]);
    ember_node_tensor(node, 1, &toy->in[1]);
    ember_node_output_like(node, 2, &toy->in[0], &toy->out);
    return want(node, toy->in[0].dtype == EMBER_F32 && toy->in[1].dtype == EMBER_F32 &&
                          toy->out.dtype == EMBER_F32 &&
                          ember_tensor_same_layout(&toy->in[0], &toy->in[1]));
}

static int32_t run_add(void *state) {
    toy_state_t *toy = state;
    const float *a = toy->in[0].data;
    const float *b = toy->in[1].data;
    float *y = toy->out.data;
    toy_runs++;
    for (uint32_t i = 0; i < toy->out.numel; i++) {
        y[i] = a[i] + b[i];
    }
    return EMBER_OK;
}
KERNEL(add, prepare_add, run_add);

static ember_status_t prepare_fill(ember_node_t *node, void *state) {
    toy_state_t *toy = state;
    toy->number = ember_node_double(node, 0);
    ember_node_inout(node, 1, &toy->out);
    return want(node, toy->out.dtype == EMBER_F32);
}

static int32_t run_fill(void *state) {
    toy_state_t *toy = state;
    float *y = toy->out.data;
    toy_runs++;
    for (uint32_t i = 0; i < toy->out.numel; i++) {
        y[i] = (float)toy->number;
    }
    return EMBER_OK;
}
KERNEL(fill, prepare_fill, run_fill);

// --- copies: candidates, scratch, dynamic shapes -------------------------------------

static ember_status_t prepare_choose(ember_node_t *node, toy_state_t *toy,
                                     uint8_t dtype) {
    ember_node_tensor(node, 0, &toy->in[0]);
    ember_node_output_like(node, 1, &toy->in[0], &toy->out);
    return want(node, toy->in[0].dtype == dtype && toy->out.dtype == dtype);
}

static ember_status_t prepare_s32(ember_node_t *node, void *state) {
    return prepare_choose(node, state, EMBER_S32);
}
KERNEL(choose_s32, prepare_s32, run_copy);

static ember_status_t prepare_f32(ember_node_t *node, void *state) {
    return prepare_choose(node, state, EMBER_F32);
}
KERNEL(choose_f32, prepare_f32, run_copy);

static ember_status_t prepare_copy(ember_node_t *node, void *state) {
    toy_state_t *toy = state;
    ember_node_tensor(node, 0, &toy->in[0]);
    ember_node_output_like(node, 1, &toy->in[0], &toy->out);
    toy->scratch = ember_node_scratch(node, ember_tensor_bytes(&toy->out));
    return want(node, toy->in[0].dtype == toy->out.dtype);
}

static int32_t run_scratch(void *state) {
    toy_state_t *toy = state;
    const size_t bytes = ember_tensor_bytes(&toy->out);
    toy_runs++;
    if (bytes > 0) {
        memmove(toy->scratch, toy->in[0].data, bytes);
        memmove(toy->out.data, toy->scratch, bytes);
    }
    return EMBER_OK;
}
KERNEL(copy, prepare_copy, run_scratch);

static ember_status_t prepare_narrow(ember_node_t *node, void *state) {
    toy_state_t *toy = state;
    ember_node_tensor(node, 0, &toy->in[0]);
    const int32_t most = toy->in[0].rank == 1 ? toy->in[0].sizes[0] : 0;
    toy->counts[0] = ember_node_int_in(node, 1, 0, most);
    ember_node_output(node, 2, 1, toy->counts, &toy->out);
    return want(node, toy->in[0].dtype == toy->out.dtype);
}
KERNEL(narrow, prepare_narrow, run_copy);

static ember_status_t prepare_positive(ember_node_t *node, void *state) {
    toy_state_t *toy = state;
    ember_node_tensor(node, 0, &toy->in[0]);
    toy->counts[0] = (int32_t)toy->in[0].numel; // the most there can be
    ember_node_output(node, 1, 1, toy->counts, &toy->out);
    toy->slot = ember_node_slot(node, 1);
    return want(node, toy->in[0].dtype == EMBER_F32 && toy->out.dtype == EMBER_F32);
}

static int32_t run_positive(void *state) {
    toy_state_t *toy = state;
    const float *x = toy->in[0].data;
    float *y = toy->out.data;
    int32_t n = 0;
    toy_runs++;
    for (uint32_t i = 0; i < toy->in[0].numel; i++) {
        if (x[i] > 0) {
            y[n++] = x[i];
        }
    }
    return ember_slot_resize(toy->slot, 1, &n);
}
KERNEL(positive, prepare_positive, run_positive);

static ember_status_t prepare_view(ember_node_t *node, void *state) {
    toy_state_t *toy = state;
    ember_node_tensor(node, 0, &toy->in[0]);
    const uint32_t rank = ember_node_ints(node, 1, toy->counts, EMBER_MAX_RANK);
    ember_node_bind(node, 2, rank, toy->counts, &toy->in[0]);
    return want(node, true);
}

static int32_t run_none(void *state) {
    (void)state;
    toy_runs++;
    return EMBER_OK;
}
KERNEL(view, prepare_view, run_none);

// --- lists ---------------------------------------------------------------------------

static ember_status_t prepare_sum(ember_node_t *node, void *state) {
    toy_state_t *toy = state;
    ember_tensor_t x;
    const uint32_t count = ember_node_list_count(node, 0);
    bool good = count <= 8;
    toy->n = 0;
    ember_node_inout(node, 1, &toy->out);
    for (uint32_t i = 0; i < count && toy->n < 8; i++) {
        if (ember_node_list_tensor(node, 0, i, &x)) {
            good = good && x.dtype == EMBER_F32 && x.numel == toy->out.numel;
            toy->in[toy->n++] = x;
        }
    }
    return want(node, good && toy->out.dtype == EMBER_F32);
}

static int32_t run_sum(void *state) {
    toy_state_t *toy = state;
    float *y = toy->out.data;
    toy_runs++;
    for (uint32_t i = 0; i < toy->out.numel; i++) {
        float sum = 0;
        for (uint32_t k = 0; k < toy->n; k++) {
            sum += ((const float *)toy->in[k].data)[i];
        }
        y[i] = sum;
    }
    return EMBER_OK;
}
KERNEL(sum, prepare_sum, run_sum);

static ember_status_t prepare_split(ember_node_t *node, void *state) {
    toy_state_t *toy = state;
    ember_node_tensor(node, 0, &toy->out);
    toy->n = ember_node_list_count(node, 1);
    toy->counts[0] = 1;
    bool good = toy->n <= 8 && toy->out.numel == toy->n && toy->out.dtype == EMBER_F32;
    for (uint32_t i = 0; good && i < toy->n; i++) {
        ember_node_list_output(node, 1, i, 1, toy->counts, &toy->in[i]);
        good = toy->in[i].dtype == EMBER_F32;
    }
    return want(node, good);
}

static int32_t run_split(void *state) {
    toy_state_t *toy = state;
    toy_runs++;
    for (uint32_t i = 0; i < toy->n; i++) {
        *(float *)toy->in[i].data = ((const float *)toy->out.data)[i];
    }
    return EMBER_OK;
}
KERNEL(split, prepare_split, run_split);

// --- scalars -------------------------------------------------------------------------

static ember_status_t prepare_inc(ember_node_t *node, void *state) {
    toy_state_t *toy = state;
    toy->a = ember_node_int(node, 0);
    toy->slot = ember_node_slot(node, 1);
    return want(node, true);
}

static int32_t run_inc(void *state) {
    const toy_state_t *toy = state;
    toy_runs++;
    ember_slot_set_int(toy->slot, toy->a + 1);
    return EMBER_OK;
}
KERNEL(inc, prepare_inc, run_inc);

static ember_status_t prepare_less(ember_node_t *node, void *state) {
    toy_state_t *toy = state;
    toy->a = ember_node_int(node, 0);
    toy->b = ember_node_int(node, 1);
    toy->slot = ember_node_slot(node, 2);
    return want(node, true);
}

static int32_t run_less(void *state) {
    const toy_state_t *toy = state;
    toy_runs++;
    ember_slot_set_bool(toy->slot, toy->a < toy->b);
    return EMBER_OK;
}
KERNEL(less, prepare_less, run_less);

static ember_status_t prepare_size(ember_node_t *node, void *state) {
    toy_state_t *toy = state;
    ember_node_tensor(node, 0, &toy->in[0]);
    const uint32_t dim = ember_node_dim(node, 1, toy->in[0].rank);
    toy->slot = ember_node_slot(node, 2);
    const bool good = want(node, toy->in[0].rank > 0) == EMBER_OK;
    toy->a = good ? toy->in[0].sizes[dim] : 0;
    return good ? EMBER_OK : ember_node_status(node);
}

static int32_t run_size(void *state) {
    const toy_state_t *toy = state;
    toy_runs++;
    ember_slot_set_int(toy->slot, toy->a);
    return EMBER_OK;
}
KERNEL(size, prepare_size, run_size);

// --- failures, and tests' own --------------------------------------------------------

static ember_status_t prepare_fails(ember_node_t *node, void *state) {
    (void)state;
    toy_prepares++;
    (void)ember_node_fail(node, EMBER_BAD_PROGRAM, "toy: the first failure");
    return ember_node_fail(node, EMBER_UNSUPPORTED, "toy: a later failure");
}
KERNEL(fail_prepare, prepare_fails, run_none);

static ember_status_t prepare_silent(ember_node_t *node, void *state) {
    (void)node;
    (void)state;
    toy_prepares++;
    return EMBER_BAD_PROGRAM;
}
KERNEL(fail_silent, prepare_silent, run_none);

static int32_t run_fails(void *state) {
    (void)state;
    toy_runs++;
    return EMBER_DATA_RANGE;
}
KERNEL(fail_run, prepare_copy, run_fails);

static ember_status_t prepare_refuse(ember_node_t *node, void *state) {
    (void)state;
    toy_prepares++;
    return ember_node_fail(node, EMBER_UNSUPPORTED, "toy: never");
}
KERNEL(refuse, prepare_refuse, run_none);

static ember_status_t prepare_gather(ember_node_t *node, void *state) {
    toy_state_t *toy = state;
    ember_node_tensor(node, 0, &toy->in[0]);
    ember_node_tensor(node, 1, &toy->in[1]);
    ember_node_output_like(node, 2, &toy->in[1], &toy->out);
    return want(node, toy->in[0].dtype == EMBER_F32 && toy->in[1].dtype == EMBER_S64 &&
                          toy->out.dtype == EMBER_F32);
}

static int32_t run_gather(void *state) {
    toy_state_t *toy = state;
    const int64_t *index = toy->in[1].data;
    toy_runs++;
    for (uint32_t i = 0; i < toy->out.numel; i++) {
        const int64_t at = index[i];
        if (at < 0 || at >= toy->in[0].numel) {
            return EMBER_DATA_RANGE;
        }
        ((float *)toy->out.data)[i] = ((const float *)toy->in[0].data)[at];
    }
    return EMBER_OK;
}
KERNEL(gather, prepare_gather, run_gather);

static ember_status_t prepare_probe(ember_node_t *node, void *state) {
    (void)state;
    toy_prepares++;
    if (toy_probe != NULL) {
        toy_probe(node);
    }
    return ember_node_status(node);
}
KERNEL(probe, prepare_probe, run_none);

static ember_status_t prepare_none(ember_node_t *node, void *state) {
    (void)node;
    (void)state;
    return EMBER_OK;
}
KERNEL(none, prepare_none, run_none);

#define ONE(name) static const ember_kernel_t *const list_##name[] = {&kernel_##name, 0}
ONE(add);
ONE(copy);
ONE(fail_prepare);
ONE(fail_run);
ONE(fail_silent);
ONE(fill);
ONE(gather);
ONE(inc);
ONE(less);
ONE(narrow);
ONE(none);
ONE(positive);
ONE(probe);
ONE(refuse);
ONE(size);
ONE(split);
ONE(sum);
ONE(view);
static const ember_kernel_t *const list_choose[] = {&kernel_choose_s32,
                                                    &kernel_choose_f32, 0};

static const ember_operator_t operators[] = {
    {"toy::add.out", list_add, 4, 4, 0},
    {"toy::choose.out", list_choose, 3, 3, 0},
    {"toy::copy.out", list_copy, 3, 3, 0},
    {"toy::fail.prepare", list_fail_prepare, 3, 3, 0},
    {"toy::fail.run", list_fail_run, 3, 3, 0},
    {"toy::fail.silent", list_fail_silent, 3, 3, 0},
    {"toy::fill.out", list_fill, 3, 3, 0},
    {"toy::gather.out", list_gather, 4, 4, 0},
    {"toy::inc.int", list_inc, 2, 2, 0},
    {"toy::less.int", list_less, 3, 3, 0},
    {"toy::narrow.out", list_narrow, 4, 4, 0},
    {"toy::none", list_none, 0, 255, 0},
    {"toy::positive.out", list_positive, 3, 3, 0},
    {"toy::probe.out", list_probe, 0, 255, 0},
    {"toy::refuse.out", list_refuse, 3, 3, 0},
    {"toy::size.int", list_size, 3, 3, 0},
    {"toy::split.out", list_split, 3, 3, 0},
    {"toy::sum.out", list_sum, 3, 3, 0},
    {"toy::view.out", list_view, 4, 4, EMBER_OP_BINDS_OUTPUT},
};

const ember_operators_t toy_operators = {operators,
                                         sizeof(operators) / sizeof(operators[0])};
const ember_registry_t toy_registry = {&toy_operators, NULL, &ember_changing};
