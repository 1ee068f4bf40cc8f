// SPDX-License-Identifier: Apache-2.0
// The test runner: captures what instructions read and write, while they execute.
#include "runner.h"

#include "ember/event.h"
#include "ember/port.h"
#include "values.h"

#include <string.h>

enum { BEFORE = 0, AFTER = 1, BLOCK = 64, PADDED = 4 };

typedef struct capture {
    test_case_t *test;
    test_method_t *loaded;
    int32_t in;
    int32_t out;
    ember_batch_feed_t feed; // the next one
    uint32_t instruction;
    bool writes; // something is watched at the event that executes
    bool inside; // and at the nodes of its delegate
    bool failed;
} capture_t;

// --- feeds -------------------------------------------------------------------------

static void read_bytes(capture_t *capture, void *to, size_t size) {
    if (size > 0 && ember_port_read(capture->in, to, size) != (int64_t)size) {
        capture->failed = true;
    }
}

static void skip_bytes(capture_t *capture, size_t size) {
    uint8_t block[BLOCK];
    for (; size > 0 && !capture->failed; size -= size < BLOCK ? size : BLOCK) {
        read_bytes(capture, block, size < BLOCK ? size : BLOCK);
    }
}

static void next_feed(capture_t *capture) {
    capture->feed.event = EMBER_BATCH_NO_EVENT;
    if ((capture->test->head.flags & EMBER_BATCH_FED) != 0 && !capture->failed) {
        read_bytes(capture, &capture->feed, sizeof(capture->feed));
    }
}

static void feed_value(capture_t *capture) {
    ember_batch_fed_t fed = {0};
    ember_value_t value = {.kind = EMBER_NONE};
    read_bytes(capture, &fed, sizeof(fed));
    const ember_tensor_t *tensor = &value.as_tensor;
    const bool fits =
        ember_method_look(&capture->loaded->method, fed.value, &value) == EMBER_OK &&
        value.kind == EMBER_TENSOR && tensor->data != NULL && !tensor->constant &&
        ember_tensor_bytes(tensor) == fed.bytes;
    if (fits && !capture->failed) {
        read_bytes(capture, tensor->data, fed.bytes);
        skip_bytes(capture, (0u - fed.bytes) % PADDED);
    } else {
        skip_bytes(capture, (size_t)fed.bytes + (0u - fed.bytes) % PADDED);
    }
}

static void apply_feed(capture_t *capture) {
    if (capture->feed.event != capture->test->events) {
        return;
    }
    for (uint32_t i = 0; i < capture->feed.count && !capture->failed; i++) {
        feed_value(capture);
    }
    next_feed(capture);
}

// --- watches -----------------------------------------------------------------------

// The first watch of `moment` or a later one.
static uint32_t find_watch(const test_method_t *loaded, uint32_t moment) {
    uint32_t low = 0;
    uint32_t high = loaded->watch.count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (loaded->watches[middle].moment < moment) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool write_bytes(capture_t *capture, const void *data, size_t size) {
    capture->failed =
        capture->failed || ember_port_write(capture->out, data, size) != 0;
    capture->test->written += size;
    return !capture->failed;
}

static void write_head(capture_t *capture, uint32_t moment, uint32_t node,
                       uint32_t count) {
    const test_case_t *test = capture->test;
    const ember_batch_head_t head = {EMBER_BATCH_NODE, sizeof(ember_batch_captured_t)};
    const ember_batch_captured_t captured = {test->head.index, test->result.which,
                                             test->events, moment, node};
    const uint32_t values[2] = {EMBER_VALUES_MAGIC, count};
    (void)(write_bytes(capture, &head, sizeof(head)) &&
           write_bytes(capture, &captured, sizeof(captured)) &&
           write_bytes(capture, values, sizeof(values)));
}

static void write_value(capture_t *capture, const ember_value_t *value) {
    if (ember_value_write(capture->out, value) != EMBER_OK) {
        capture->failed = true;
    }
    if (value->kind == EMBER_TENSOR) {
        capture->test->written += ember_tensor_bytes(&value->as_tensor);
    }
}

static void write_one(capture_t *capture, uint32_t index) {
    ember_value_t value = {.kind = EMBER_NONE};
    if (ember_method_look(&capture->loaded->method, index, &value) != EMBER_OK) {
        capture->failed = true;
    }
    write_value(capture, &value);
}

static void write_moment(capture_t *capture, uint32_t moment) {
    const test_method_t *loaded = capture->loaded;
    const uint32_t first = find_watch(loaded, moment);
    const uint32_t end = find_watch(loaded, moment + 1);
    if (!capture->writes || first == end) {
        return;
    }
    write_head(capture, moment, EMBER_BATCH_NO_NODE, end - first);
    for (uint32_t i = first; i < end && !capture->failed; i++) {
        write_one(capture, loaded->watches[i].value);
    }
}

// For a delegate whose call is watched.
static void write_inside(void *context, uint32_t node, uint32_t output,
                         const ember_tensor_t *tensor) {
    capture_t *capture = context;
    const ember_value_t value = {.kind = EMBER_TENSOR, .as_tensor = *tensor};

    (void)output;
    if (capture->inside) {
        write_head(capture, 2 * capture->instruction + AFTER, node, 1);
        write_value(capture, &value);
    }
}

// --- execution ---------------------------------------------------------------------

// Scratch holds nothing between instructions: a read before a write then shows.
static void begin(void *context, uint32_t instruction) {
    capture_t *capture = context;
    const test_method_t *loaded = capture->loaded;
    capture->writes = capture->test->events >= loaded->watch.first &&
                      capture->test->written < loaded->watch.room;
    capture->instruction = instruction;
    capture->inside =
        capture->writes && find_watch(loaded, 2 * instruction + AFTER) !=
                               find_watch(loaded, 2 * instruction + AFTER + 1);
    write_moment(capture, 2 * instruction + BEFORE);
    apply_feed(capture);
    if (loaded->method.temp_used > 0) {
        memset(loaded->method.temp.data, (int)loaded->watch.fill,
               loaded->method.temp_used);
    }
}

static void end(void *context, uint32_t instruction, ember_status_t status) {
    capture_t *capture = context;
    if (status == EMBER_OK) {
        write_moment(capture, 2 * instruction + AFTER);
    }
    capture->test->events++;
}

ember_status_t test_captured_execute(test_case_t *test, test_method_t *loaded,
                                     int32_t in, int32_t out) {
    capture_t capture = {.test = test, .loaded = loaded, .in = in, .out = out};
    const ember_tracer_t tracer = {begin, end, &capture};
    const ember_delegate_tracer_t inside = {.output = write_inside,
                                            .context = &capture};
    next_feed(&capture);
    ember_method_trace_delegates(&loaded->method, &inside);
    const ember_status_t status =
        ember_method_execute_traced(&loaded->method, &tracer, &test->error);
    ember_method_trace_delegates(&loaded->method, NULL);
    return status == EMBER_OK && capture.failed
               ? ember_fail(&test->error, EMBER_IO,
                            "case: what was watched cannot be written, or is not fed")
               : status;
}
