// SPDX-License-Identifier: Apache-2.0
// The end of a region of rows whose input comes row by row. Contract: rows.h.
#include <string.h>

#include "../../runtime_c/src/method_state.h"
#include "ember/feed.h"
#include "kernels/rows/rows_large.h"

enum { CURSOR = EMBER_ROWS_OUTPUTS + 1, IMAGE_ROWS }; // further arguments
enum { STEP, GIVEN, AT, CURSOR_WORDS = AT + EMBER_ROWS_EDGES };

typedef struct rows_fed {
    ember_rows_t rows;
    uint32_t *cursor; // (CURSOR_WORDS,): of the image so far; zeros: a new one begins
    uint32_t image_rows;
    int32_t end; // index of the method's last instruction, + 2
} rows_fed_t;

// Where the image is. What memory says is checked: it may be anything.
static bool begin(const rows_fed_t *s, uint32_t *step, uint32_t *at) {
    *step = s->cursor[STEP];
    for (uint32_t i = 0; i < s->rows.edge_count; i++) {
        at[i] = i < s->rows.input_count ? 0 : s->cursor[AT + i];
        if (at[i] > s->rows.edges[i].bytes) {
            return false;
        }
    }
    return *step < s->rows.step_count && s->cursor[GIVEN] < s->image_rows;
}

// Whether the action wants a row that was not given yet.
static bool wants_more(const rows_fed_t *s, ember_rows_action_t action,
                       const uint32_t *at) {
    return action.what == EMBER_ROWS_IN &&
           at[action.which] == s->rows.edges[action.which].bytes;
}

static void start_anew(const rows_fed_t *s) {
    memset(s->cursor, 0, CURSOR_WORDS * sizeof(*s->cursor));
}

static int32_t run(void *state) {
    const rows_fed_t *s = state;
    uint32_t at[EMBER_ROWS_EDGES] = {0};
    uint32_t step = 0;
    int32_t status = begin(s, &step, at) ? EMBER_OK : EMBER_DATA_RANGE;

    for (; status == EMBER_OK && step < s->rows.step_count; step++) {
        const ember_rows_action_t action = s->rows.actions[s->rows.steps[step]];
        if (wants_more(s, action, at)) {
            s->cursor[STEP] = step;
            s->cursor[GIVEN]++;
            memcpy(&s->cursor[AT], at, sizeof(at));
            return s->end;
        }
        status = act(&s->rows, action, at);
    }
    start_anew(s);
    return status;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    rows_fed_t *s = state;
    const ember_status_t status = ember_rows_prepare(node, &s->rows);
    ember_tensor_t cursor;

    if (status != EMBER_OK) {
        return status;
    }
    ember_node_inout(node, CURSOR, &cursor);
    s->image_rows = (uint32_t)ember_node_int_in(node, IMAGE_ROWS, 1, INT32_MAX);
    s->cursor = cursor.data;
    s->end = (int32_t)node->method->meta.instruction_count + 1;
    if (ember_node_status(node) == EMBER_OK &&
        (cursor.dtype != EMBER_S32 || cursor.numel != CURSOR_WORDS ||
         s->rows.input_count != 1)) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "rows_fed: its cursor or its input does not fit");
    }
    return ember_node_status(node);
}

EMBER_KERNEL(rows_fed, rows_fed_t);

// --- for applications ----------------------------------------------------------------

static const rows_fed_t *fed_rows(const ember_method_t *method) {
    for (uint32_t i = 0; i < method->meta.instruction_count; i++) {
        if (method->steps[i].run == ember_run_rows_fed) {
            return method->steps[i].state;
        }
    }
    return NULL;
}

static ember_status_t refused(ember_status_t status, const char *message,
                              ember_error_t *err) {
    (void)message; // which may be compiled out
    return ember_error_close(err, ember_fail(err, status, message),
                             EMBER_NO_INSTRUCTION);
}

ember_status_t ember_method_feed(ember_method_t *method, const void *rows,
                                 uint32_t count, uint32_t *missing,
                                 ember_error_t *err) {
    const rows_fed_t *s = fed_rows(method);
    ember_status_t status = EMBER_OK;

    if (s == NULL) {
        return refused(EMBER_UNSUPPORTED, "feed: no input comes row by row", err);
    }
    if (count > s->image_rows - s->cursor[GIVEN]) {
        return refused(EMBER_BAD_ARGUMENT, "feed: more rows than the image has", err);
    }
    const ember_rows_edge_t *input = &s->rows.edges[0];
    const size_t bytes = (size_t)input->bytes * input->planes; // of a row
    for (uint32_t i = 0; i < count && status == EMBER_OK; i++) {
        memcpy(input->data, (const uint8_t *)rows + i * bytes, bytes);
        status = ember_method_execute(method, err);
    }
    const uint32_t given = s->cursor[GIVEN];
    *missing = given == 0 && count > 0 ? 0 : s->image_rows - given;
    return status;
}

ember_status_t ember_method_feed_anew(ember_method_t *method, ember_error_t *err) {
    const rows_fed_t *s = fed_rows(method);

    if (s == NULL) {
        return refused(EMBER_UNSUPPORTED, "feed: no input comes row by row", err);
    }
    start_anew(s);
    return EMBER_OK;
}
