// SPDX-License-Identifier: Apache-2.0
// y = a rounded to a number of decimals: round.decimals.
#include <math.h>

#include "kernels/engine/map.h"
#include "kernels/engine/mathf.h"

enum { MOST = 400 }; // a power of ten beyond any double

static double tens(double decimals) {
    double power = 1.0;
    for (int i = 0; i < MOST && i < fabs(decimals); i++) {
        power *= 10.0;
    }
    return power;
}

static void f32(void *y, const void *const *x, uint32_t count) {
    const float *a = x[0];
    const float decimals = count == 0 ? 0.0f : *(const float *)x[1];
    const float power = (float)tens((double)decimals);
    for (uint32_t i = 0; i < count; i++) {
        ((float *)y)[i] = decimals < 0.0f ? ember_roundf(a[i] / power) * power
                                          : ember_roundf(a[i] * power) / power;
    }
}

static void f64(void *y, const void *const *x, uint32_t count) {
    const double *a = x[0];
    const double decimals = count == 0 ? 0.0 : *(const double *)x[1];
    const double power = tens(decimals);
    for (uint32_t i = 0; i < count; i++) {
        ((double *)y)[i] = decimals < 0.0 ? nearbyint(a[i] / power) * power
                                          : nearbyint(a[i] * power) / power;
    }
}

static const ember_map_ops_t ops = {{f32, f64, NULL}, .inputs = 2, .unpromoted = 2};
EMBER_MAP_RUN(2)

// Each row, perhaps of one element, needs the power of ten, each element a division.
static ember_status_t prepare(ember_node_t *node, void *state) {
    const ember_status_t status = prepare_with(node, state, &ops);
    ember_tensor_t self;

    if (status == EMBER_OK) {
        const double decimals = fabs((double)ember_node_int(node, 1));
        const uint32_t powers = decimals < (double)MOST ? (uint32_t)decimals : MOST;
        ember_node_tensor(node, 0, &self);
        ember_node_work(node, self.numel, 4 * powers);
    }
    return status == EMBER_OK ? ember_node_status(node) : status;
}

EMBER_STATE_MAY_POINT_TO(ops, ember_round_decimals_ops);
EMBER_KERNEL(round_decimals, ember_map2_t);
