// SPDX-License-Identifier: Apache-2.0
// The first pass of resolve_main.c.
#include "resolve_probe.h"

#include "../src/method_state.h"
#include "resolve_limits.h"
#include "resolve_load.h"
#include "resolve_out.h"

typedef struct candidates {
    const ember_kernel_t **items; // in the operator's order; NULL: not chosen
    bool all;                     // a volatile node may need any of them
} candidates_t;

// What the calls of all methods chose, for each operator.
static const ember_operators_t *allowed;
static candidates_t *choices;

void resolve_allow(const ember_operators_t *operators) {
    allowed = operators;
    choices = resolve_take(allowed->count + 1, sizeof(*choices));
    for (uint32_t i = 0; i < allowed->count; i++) {
        uint32_t all = 0;
        while (allowed->items[i].candidates[all] != NULL) {
            all++;
        }
        choices[i].items = resolve_take(all + 1, sizeof(*choices[i].items));
    }
}

typedef struct probe {
    const ember_operator_t **real; // for each operator of the probing table
    const ember_operator_t *table;
    bool first; // nothing written yet
} probe_t;

static probe_t probe;

static int32_t run_nothing(void *state) {
    (void)state;
    return EMBER_OK;
}

// The operator of a kernel call; NULL if it has no kernel.
static const ember_operator_t *real_operator(ember_method_t *method, uint32_t index) {
    ember_field_t call[2];
    (void)ember_method_instruction(method, index, call);
    return probe.real[method->operators[call[CALL_INDEX].number] - probe.table];
}

static void note_choice(const ember_operator_t *real, const ember_kernel_t *chosen) {
    candidates_t *choice = &choices[real - allowed->items];
    uint32_t index = 0;
    while (real->candidates[index] != chosen) {
        index++;
    }
    choice->items[index] = chosen;
}

static void put_candidate(const ember_node_t *node, const ember_kernel_t *kernel,
                          ember_status_t status) {
    resolve_put_text("{\"kernel\": ", kernel->name);
    resolve_put_number(", \"status\": ", status);
    resolve_put_number(", \"steps\": ", (int64_t)node->work);
    resolve_put_text(", \"message\": ", node->method->error.message);
    resolve_put("}");
}

// Reports what every candidate says, also those after the one that will be chosen.
static void put_candidates(ember_node_t *node, const ember_operator_t *real,
                           void *state) {
    ember_method_t *method = node->method;
    const ember_kernel_t *const *candidate = real->candidates;
    struct {
        ember_schemas_t schemas;
        const ember_kernel_t *items[2];
    } block = {0};
    const ember_kernel_t **only = ember_resolve_candidates(&block, real);
    resolve_put(", \"candidates\": [");
    for (; *candidate != NULL; candidate++) {
        *only = *candidate;
        const ember_operator_t one = {real->name, only, 0, UINT8_MAX, real->flags};
        const ember_status_t status = ember_node_prepare(node, &one, &state);
        put_candidate(node, *candidate, status);
        resolve_put(candidate[1] != NULL ? ", " : "");
        method->temp_used = 0;
        method->error = (ember_error_t){EMBER_OK, EMBER_NO_INSTRUCTION, NULL};
    }
    resolve_put("]");
}

static ember_status_t probe_prepare(ember_node_t *node, void *state) {
    const ember_kernel_t *const probing = node->kernel;
    const ember_kernel_t *chosen = NULL;
    ember_method_t *method = node->method;
    const size_t temp_used = method->temp_used;
    const ember_operator_t *real = real_operator(method, node->instruction);
    const ember_changing_t *parts = method->parts;
    ember_status_t status = EMBER_UNSUPPORTED;

    if (method->parts == NULL) { // a load for fixed methods: ask for the other
        return EMBER_BAD_PROGRAM;
    }
    resolve_put_number(probe.first ? "\n   {\"instruction\": "
                                   : ",\n   {\"instruction\": ",
                       node->instruction);
    probe.first = false;
    method->temp_used = 0;
    if (method->slot_count == 0) { // on a device it would be a fixed call
        method->parts = NULL;
    }
    if (real != NULL) {
        put_candidates(node, real, state);
        status = ember_node_prepare(node, real, &state);
        chosen = status == EMBER_OK ? node->kernel : NULL;
    }
    method->parts = parts;
    resolve_put_number(", \"status\": ", status);
    resolve_put_number(", \"known\": ", real != NULL);
    resolve_put_number(", \"scratch\": ", (int64_t)method->temp_used);
    resolve_put_number(", \"planned\": ", method->temp.data != resolve_temp.data);
    if (chosen != NULL) {
        note_choice(real, chosen);
        resolve_put_number(", \"state\": ", chosen->state_size);
        resolve_put_text(", \"kernel\": ", chosen->name);
    } else {
        resolve_put_text(", \"message\": ", method->error.message);
    }
    resolve_put("}");

    node->kernel = probing;
    if (temp_used > method->temp_used) {
        method->temp_used = temp_used;
    }
    if (status == EMBER_UNSUPPORTED &&
        method->flat.status == EMBER_OK) { // a gap: record it and continue
        node->status = EMBER_OK;
        method->error = (ember_error_t){EMBER_OK, EMBER_NO_INSTRUCTION, NULL};
        status = EMBER_OK;
    }
    return status;
}

static uint32_t largest_state(void) {
    uint32_t largest = 0;
    for (uint32_t i = 0; i < allowed->count; i++) {
        const ember_kernel_t *const *candidate = allowed->items[i].candidates;
        for (; *candidate != NULL; candidate++) {
            largest =
                (*candidate)->state_size > largest ? (*candidate)->state_size : largest;
        }
    }
    return largest;
}

// "name.overload" of an operator's two names.
static const char *full_name(const ember_field_t *names) {
    const ember_vector_t name = names[OPERATOR_NAME].at;
    const ember_vector_t overload = names[OPERATOR_OVERLOAD].at;
    const uint32_t length = vector_count(name);
    char *text = resolve_take(length + vector_count(overload) + 2, 1);
    memcpy(text, vector_items(name), length);
    if (vector_count(overload) > 0) {
        text[length] = '.';
        memcpy(text + length + 1, vector_items(overload), vector_count(overload));
    }
    return text;
}

ember_operators_t resolve_probing_table(const ember_method_meta_t *meta) {
    static ember_kernel_t kernel = {probe_prepare, run_nothing, 0, "probe"};
    static const ember_kernel_t *const only[] = {&kernel, NULL};
    const ember_vector_t operators = meta->plan[PLAN_OPERATORS].at;
    const uint32_t all = vector_count(operators);
    ember_flat_t flat;
    ember_flat_begin(&flat, &meta->program->flat, NULL);
    ember_operator_t *items = resolve_take(all + 1, sizeof(*items));
    const ember_operator_t **real = resolve_take(all + 1, sizeof(*real));
    uint32_t count = 0;

    kernel.state_size = largest_state();
    for (uint32_t i = 0; i < all; i++) {
        ember_field_t names[2];
        ember_flat_read(&flat, ember_flat_item(&flat, operators, i), OPERATOR_FIELDS,
                        names);
        const ember_operator_t *found = ember_operators_find(allowed, names, 0);
        ember_operator_t entry = {NULL, only, 0, UINT8_MAX, 0};
        if (found != NULL) {
            entry = (ember_operator_t){NULL, only, found->min_args, found->max_args,
                                       found->flags & EMBER_OP_BINDS_OUTPUT};
        }
        entry.name = full_name(names);
        uint32_t at = count++;
        for (; at > 0 && strcmp(items[at - 1].name, entry.name) > 0; at--) {
            items[at] = items[at - 1];
            real[at] = real[at - 1];
        }
        items[at] = entry;
        real[at] = found;
    }
    probe.first = true;
    probe.table = items;
    probe.real = real;
    return (ember_operators_t){items, count};
}

void resolve_note_volatile(ember_method_t *method) {
    const char *comma = "";
    resolve_put(", \"volatile\": [");
    for (uint32_t i = 0; i < method->meta.instruction_count; i++) {
        if (method->steps[i].run != ember_volatile_run) {
            continue;
        }
        const ember_operator_t *real = real_operator(method, i);
        if (real != NULL) {
            choices[real - allowed->items].all = true;
        }
        resolve_put_number(comma, i);
        comma = ", ";
    }
    resolve_put("]");
}

ember_operators_t resolve_chosen(void) {
    ember_operator_t *items = resolve_take(allowed->count + 1, sizeof(*items));
    uint32_t count = 0;
    for (uint32_t i = 0; i < allowed->count; i++) {
        const ember_operator_t *real = &allowed->items[i];
        uint32_t all = 0;
        while (real->candidates[all] != NULL) {
            all++;
        }
        const ember_kernel_t **kept = ember_resolve_candidates(
            resolve_take(ember_resolve_words(all), sizeof(*kept)), real);
        uint32_t kernels = 0;
        for (uint32_t k = 0; k < all; k++) {
            if (choices[i].all || choices[i].items[k] != NULL) {
                kept[kernels++] = real->candidates[k];
            }
        }
        if (kernels > 0) {
            items[count] = *real;
            items[count++].candidates = kept;
        }
    }
    return (ember_operators_t){items, count};
}
