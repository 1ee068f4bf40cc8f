// SPDX-License-Identifier: Apache-2.0
// scratch: from here on, the scratch of calls is in a planned tensor, up to the next
// call of scratch. The SDK places it where it overlaps nothing that is alive; the
// loader refuses a call with a tensor in it.
#include "ember/config.h"
#include "ember/node.h"

#include "../../runtime_c/src/method_state.h"

enum { OUT };

typedef struct state {
    ember_method_t *method; // NULL: no call is prepared again at run time
    ember_span_t temp;
} state_t;

static int32_t run(void *state) {
    const state_t *s = state;
    if (s->method != NULL) {
        s->method->temp = s->temp;
    }
    return EMBER_OK;
}

// Forgets the scratch of the calls before, and which tensors are outside it.
static void leave(ember_method_t *method) {
    if (method->recent != NULL) {
        ember_recent_forget_tensors(method->recent);
    }
    method->in_scratch = false;
    method->temp = (ember_span_t){NULL, 0};
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    state_t *s = state;
    ember_method_t *method = node->method;
    ember_tensor_t out;

    leave(method);
    ember_node_inout(node, OUT, &out);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    if (((uintptr_t)out.data & (EMBER_ALIGN - 1)) != 0) {
        return ember_node_fail(node, EMBER_BAD_PROGRAM,
                               "scratch: its memory is not"
                               " aligned");
    }
    leave(method);
    s->temp = (ember_span_t){NULL, ember_tensor_bytes(&out)};
    if (s->temp.size > 0) {
        s->temp.data = out.data;
    }
    s->method = method->parts != NULL ? method : NULL;
    method->temp = s->temp;
    return EMBER_OK;
}

EMBER_KERNEL(scratch, state_t);
