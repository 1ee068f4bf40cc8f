// SPDX-License-Identifier: Apache-2.0
// softmax_s8 with HVX: the largest element and the outputs 128 at a time. An
// exponential and a division are computed once for each value in a line, and outputs
// are looked up. Contract: softmax_s8.h.
#include <string.h>

#include "kernels/cortex_m/softmax_s8.h"
#include "kernels/engine/hvx/table_hvx.h"
#include "kernels/engine/mathf.h"

enum {
    NUMBERS = 256,
    FEW = 96, // elements: below this, if all differ, look-ups cost more than they save
};

// For each int8, with 128 added.
typedef struct tables {
    float weights[NUMBERS];
    int8_t steps[NUMBERS];   // outputs
    uint8_t known[NUMBERS];  // whether it has a weight
    uint8_t listed[NUMBERS]; // the values of a line
    int32_t most;            // the maximum that the weights are for, if any is known
} tables_t;

static int32_t largest(const int8_t *x, int32_t count) {
    const HVX_Vector least = Q6_Vb_vsplat_R(INT8_MIN);
    int8_t lanes[EMBER_HVX];
    HVX_Vector most = least;

    for (int32_t left = count; left > 0; left -= EMBER_HVX) {
        const int32_t some = ember_hvx_hidden(left);
        HVX_Vector numbers = ember_load_left_hvx(x, left);
        if (some < EMBER_HVX) {
            numbers = Q6_V_vmux_QVV(Q6_Q_vsetq_R(some), numbers, least);
        }
        most = Q6_Vb_vmax_VbVb(most, numbers);
        x += EMBER_HVX;
    }
    for (int32_t by = EMBER_HVX / 2; by > 0; by /= 2) {
        most = Q6_Vb_vmax_VbVb(most, Q6_V_vror_VR(most, by));
    }
    ember_hvx_store_any(lanes, most);
    return lanes[0];
}

static float weight_of(const ember_softmax_s8_t *s, int32_t x, float top) {
    const float distance = (float)(x - s->zero) * s->scale - top;
    return ember_expf(distance > EMBER_SOFTMAX_LEAST ? distance : EMBER_SOFTMAX_LEAST);
}

static int8_t step_of(float weight, float sum) {
    const int32_t steps = (int32_t)ember_roundf(weight / sum * 256.0f) + INT8_MIN;
    return (int8_t)(steps > INT8_MAX ? INT8_MAX : steps);
}

// Known weights stay valid as long as the largest element does.
static void line(const ember_softmax_s8_t *s, const int8_t *x, int8_t *y,
                 tables_t *tables) {
    const int32_t count = (int32_t)s->axis.count;
    const int32_t most = largest(x, count);
    const float top = (float)(most - s->zero) * s->scale;
    uint8_t seen[NUMBERS];
    int32_t numbers = 0;
    float sum = 0.0f;

    if (most != tables->most) {
        memset(tables->known, 0, sizeof(tables->known));
        tables->most = most;
    }
    memset(seen, 0, sizeof(seen));
    for (int32_t i = 0; i < count; i++) {
        const uint32_t at = (uint32_t)(x[i] - INT8_MIN);
        if (!seen[at]) {
            seen[at] = 1;
            tables->listed[numbers++] = (uint8_t)at;
            if (!tables->known[at]) {
                tables->known[at] = 1;
                tables->weights[at] = weight_of(s, x[i], top);
            }
        }
        sum += tables->weights[at];
    }
    for (int32_t i = 0; i < numbers; i++) {
        const uint32_t at = tables->listed[i];
        tables->steps[at] = step_of(tables->weights[at], sum);
    }
    ember_look_up_hvx(tables->steps, x, count, y);
}

static int32_t run(void *state) {
    const ember_softmax_s8_t *s = state;
    const int8_t *x = (const int8_t *)s->axis.x;
    int8_t *y = (int8_t *)s->axis.y;
    tables_t *tables = (tables_t *)(void *)s->weights;

    tables->most = NUMBERS; // none
    for (uint32_t o = 0; o < s->axis.outer; o++) {
        line(s, x, y, tables);
        x += s->axis.count;
        y += s->axis.count;
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_softmax_s8_t *s = state;
    const ember_status_t status = ember_softmax_s8_prepare(node, state);

    if (status != EMBER_OK) {
        return status;
    }
    if (s->axis.inner != 1 || s->axis.count < FEW) {
        return ember_node_fail(node, EMBER_UNSUPPORTED,
                               "softmax_s8_hvx: few, or steps");
    }
    s->weights = ember_node_scratch(node, sizeof(tables_t));
    return ember_node_status(node);
}

EMBER_KERNEL(softmax_s8_hvx, ember_softmax_s8_t);
