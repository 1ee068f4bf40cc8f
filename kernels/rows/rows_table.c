// SPDX-License-Identifier: Apache-2.0
// The table of a region of rows is checked. Contract: rows_table.h.
#include "kernels/rows/rows_table.h"

#include "../../runtime_c/src/method_state.h"

enum { ROWS = 2, RANK = 4 }; // the dimension of an image
enum { TALLIES = 32 };       // nodes that are counted at a time

static ember_status_t bad_table(ember_node_t *node) {
    return ember_node_fail(node, EMBER_BAD_PROGRAM, "rows: its table is malformed");
}

static bool is_action(const ember_rows_t *s, const ember_rows_head_t *head,
                      uint32_t nodes, ember_rows_action_t action) {
    const bool in = action.what == EMBER_ROWS_IN;
    if (action.what > EMBER_ROWS_LEAST || action.window >= head->windows) {
        return false;
    }
    if (action.what == EMBER_ROWS_RUN) {
        return action.which < nodes;
    }
    if (!in && action.what != EMBER_ROWS_OUT) {
        return true;
    }
    return action.which < s->edge_count && in == (action.which < s->input_count);
}

static bool check(ember_rows_t *s, const ember_tensor_t *table, size_t slab,
                  uint32_t nodes) {
    const ember_rows_head_t *head = table->data;
    if (((uintptr_t)table->data & 3) != 0 || table->numel < sizeof(*head)) {
        return false;
    }
    const uint64_t windows = (uint64_t)head->windows * sizeof(*s->windows);
    const uint64_t actions = (uint64_t)head->actions * sizeof(*s->actions);
    if (sizeof(*head) + windows + actions + head->steps != table->numel) {
        return false;
    }
    s->windows = (const ember_rows_window_t *)(head + 1);
    s->actions = (const ember_rows_action_t *)(s->windows + head->windows);
    s->steps = (const uint8_t *)(s->actions + head->actions);
    s->step_count = head->steps;
    for (uint32_t i = 0; i < head->windows; i++) {
        const ember_rows_window_t *window = &s->windows[i];
        const uint64_t size = (uint64_t)window->row * window->rows;
        if (window->rows == 0 || window->at + size > slab ||
            2u * window->beside > window->row) {
            return false;
        }
    }
    for (uint32_t i = 0; i < head->actions; i++) {
        if (!is_action(s, head, nodes, s->actions[i])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < head->steps; i++) {
        if (s->steps[i] >= head->actions) {
            return false;
        }
    }
    return true;
}

// How often the node runs that runs most often.
static uint32_t most_runs(const ember_rows_t *s, uint32_t nodes) {
    uint32_t most = 0;
    for (uint32_t first = 0; first < nodes; first += TALLIES) {
        uint32_t runs[TALLIES] = {0};
        for (uint32_t i = 0; i < s->step_count; i++) {
            const ember_rows_action_t action = s->actions[s->steps[i]];
            const uint32_t number = action.which - first;
            if (action.what == EMBER_ROWS_RUN && number < TALLIES &&
                ++runs[number] > most) {
                most = runs[number];
            }
        }
    }
    return most;
}

static void add_work(ember_node_t *node, uint32_t times, uint64_t each) {
    uint64_t work;
    if (__builtin_mul_overflow(times, each, &work) || work > EMBER_MOST_WORK) {
        work = EMBER_MOST_WORK;
    }
    const uint64_t left = EMBER_MOST_WORK - node->work;
    node->work += work < left ? work : left;
}

// The nodes' own work is that of one row each, and part of the method's already.
static void set_work(ember_node_t *node, const ember_rows_t *s, uint32_t nodes) {
    const ember_step_t *before = s->nodes - 1;
    const bool entered = before->run == ember_run_rows_enter;
    const ember_rows_enter_t *enter = before->state;
    const uint64_t first = entered ? enter->work : 0;

    for (uint32_t i = 0; i < s->step_count; i++) {
        const ember_rows_window_t *window = &s->windows[s->actions[s->steps[i]].window];
        add_work(node, window->rows, window->row);
    }
    add_work(node, 8, s->step_count);
    add_work(node, most_runs(s, nodes), node->method->work - first);
}

// What stands before the rows in the order of dimensions.
static uint32_t planes_of(const ember_tensor_t *tensor) {
    uint32_t planes = 1;

    for (uint32_t i = 0; i < tensor->rank && tensor->dim_order[i] != ROWS; i++) {
        planes *= (uint32_t)tensor->sizes[tensor->dim_order[i]];
    }
    return tensor->rank == RANK && tensor->numel > 0 ? planes : 1;
}

static void add_edge(ember_rows_t *s, const ember_tensor_t *tensor) {
    const uint32_t planes = planes_of(tensor);

    s->edges[s->edge_count++] = (ember_rows_edge_t){
        tensor->data, (uint32_t)ember_tensor_bytes(tensor) / planes, planes};
}

static void read_edges(ember_node_t *node, ember_rows_t *s) {
    const uint32_t inputs = ember_node_list_count(node, EMBER_ROWS_INPUTS);
    const uint32_t outputs = ember_node_list_count(node, EMBER_ROWS_OUTPUTS);
    ember_tensor_t tensor;

    if (inputs > EMBER_ROWS_EDGES || outputs > EMBER_ROWS_EDGES - inputs) {
        ember_node_fail(node, EMBER_UNSUPPORTED, "rows: too many inputs and outputs");
        return;
    }
    s->edge_count = 0;
    s->input_count = inputs;
    for (uint32_t i = 0; i < inputs; i++) {
        (void)ember_node_list_tensor(node, EMBER_ROWS_INPUTS, i, &tensor);
        add_edge(s, &tensor);
    }
    for (uint32_t i = 0; i < outputs; i++) {
        (void)ember_node_list_tensor(node, EMBER_ROWS_OUTPUTS, i, &tensor);
        ember_node_list_output(node, EMBER_ROWS_OUTPUTS, i, tensor.rank, tensor.sizes,
                               &tensor);
        add_edge(s, &tensor);
    }
}

// Whether `wanted` is the run() of a kernel.
static bool is_kernel(const ember_operators_t *operators, ember_run_fn wanted) {
    for (uint32_t i = 0; i < operators->count; i++) {
        const ember_kernel_t *const *candidate = operators->items[i].candidates;
        for (; *candidate != NULL; candidate++) {
            if ((*candidate)->run == wanted) {
                return true;
            }
        }
    }
    return false;
}

// Whether each node is a call of a plain kernel: neither part of another region nor of
// what can change, so that run() cannot come back to itself.
static bool are_plain(const ember_node_t *node, const ember_rows_t *s, uint32_t nodes) {
    for (uint32_t i = 0; i < nodes; i++) {
        const ember_run_fn each = s->nodes[i].run;
        if (each == node->kernel->run || each == ember_run_rows_enter ||
            !is_kernel(node->method->registry->operators, each)) {
            return false;
        }
    }
    return true;
}

ember_status_t ember_rows_prepare(ember_node_t *node, ember_rows_t *s) {
    ember_tensor_t table, slab;
    // One more stands before the nodes.
    const uint32_t nodes = (uint32_t)ember_node_int_in(node, EMBER_ROWS_NODES, 1,
                                                       (int64_t)node->instruction - 1);

    ember_node_tensor(node, EMBER_ROWS_TABLE, &table);
    ember_node_inout(node, EMBER_ROWS_SLAB, &slab);
    read_edges(node, s);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    s->nodes = node->method->steps + (node->instruction - nodes);
    s->slab = slab.data;
    if (!table.constant || table.dtype != EMBER_U8 ||
        !check(s, &table, ember_tensor_bytes(&slab), nodes)) {
        return bad_table(node);
    }
    if (!are_plain(node, s, nodes)) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "rows: a node of the region can change, or is one");
    }
    set_work(node, s, nodes);
    return ember_node_status(node);
}
