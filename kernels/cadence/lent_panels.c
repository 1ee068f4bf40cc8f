// SPDX-License-Identifier: Apache-2.0
// The arguments of convolutions with packed weights. Contract: lent_panels.h.
#include "kernels/cadence/lent_panels.h"

enum { LAYOUT = 10, LAST, LAST_DEPTHWISE }; // the layout is one number, or two

ember_status_t ember_lent_panels_args(ember_lent_panels_t *s, ember_node_t *node) {
    const bool last = ember_node_bool(node, LAST);

    *s = (ember_lent_panels_t){.lent = {.batches = 1}};
    if (ember_lent_image(&s->conv, node, last) != EMBER_OK ||
        ember_panels_s8_weights(&s->whole, node) != EMBER_OK) {
        return ember_node_status(node);
    }
    return ember_lent_output(&s->lent, &s->conv, node, LAST + 1, last,
                             ember_panels_s8_steps(&s->whole));
}

ember_status_t ember_lent_panels_depthwise_args(ember_lent_panels_t *s,
                                                ember_node_t *node) {
    const bool last = ember_node_bool(node, LAST_DEPTHWISE);

    *s = (ember_lent_panels_t){.lent = {.batches = 1, .depthwise = true}};
    if (ember_lent_image(&s->conv, node, last) != EMBER_OK ||
        ember_depthwise_panels_s8_weights(&s->depthwise, node) != EMBER_OK) {
        return ember_node_status(node);
    }
    return ember_lent_output(&s->lent, &s->conv, node, LAST_DEPTHWISE + 1, last,
                             ember_depthwise_panels_s8_steps(&s->depthwise));
}
