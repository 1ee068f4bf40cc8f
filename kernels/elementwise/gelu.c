// SPDX-License-Identifier: Apache-2.0
// y = gelu(a), exact or with tanh.
#include <math.h>

#include "kernels/elementwise/gelu.h"
#include "kernels/engine/map.h"
#include "kernels/engine/mathf.h"

static double gelu(double x) {
    return 0.5 * x * (1.0 + erf(x * 0.70710678118654752));
}

static double gelu_tanh(double x) {
    const double inner = 0.79788456080286536 * (x + 0.044715 * x * x * x);
    return 0.5 * x * (1.0 + tanh(inner));
}

EMBER_ROW1(exact_f32, float, ember_geluf(a))
EMBER_ROW1(exact_f64, double, gelu(a))
EMBER_ROW1(tanh_f32, float, ember_gelu_tanhf(a))
EMBER_ROW1(tanh_f64, double, gelu_tanh(a))

static const ember_map_ops_t exact = {
    {exact_f32, exact_f64, NULL}, .inputs = 1, .flags = EMBER_MAP_SAME};
static const ember_map_ops_t by_tanh = {
    {tanh_f32, tanh_f64, NULL}, .inputs = 1, .flags = EMBER_MAP_SAME};
EMBER_MAP_RUN(1)

static ember_status_t prepare(ember_node_t *node, void *state) {
    return prepare_with(node, state, ember_gelu_is_tanh(node) ? &by_tanh : &exact);
}

EMBER_STATE_MAY_POINT_TO(exact, ember_gelu_exact);
EMBER_STATE_MAY_POINT_TO(by_tanh, ember_gelu_by_tanh);
EMBER_KERNEL(gelu, ember_map1_t);
