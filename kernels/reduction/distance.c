// SPDX-License-Identifier: Apache-2.0
// The p-norm of a difference. Contract: distance.h.
#include "kernels/reduction/distance.h"

#include <math.h>

#include "kernels/engine/work.h"

enum { POWER_STEPS = 64 };

void ember_distance_power(ember_distance_t *distance, ember_node_t *node,
                          uint32_t arg) {
    distance->p = ember_node_double(node, arg);
    if (!(distance->p >= 0.0)) {
        (void)ember_node_fail(node, EMBER_BAD_PROGRAM, "distance: p below 0");
    }
}

static bool needs_powers(double p) {
    return p != 0.0 && p != 1.0 && p != 2.0 && !isinf(p);
}

void ember_distance_work(const ember_distance_t *distance, ember_node_t *node,
                         uint32_t distances, uint32_t count) {
    const uint32_t steps = needs_powers(distance->p) ? POWER_STEPS : EMBER_STEPS_ANY;

    ember_work_products(node, distances, count, steps);
    ember_node_work(node, distances, EMBER_STEPS_RESULT + steps);
}

// Accumulates one more difference, which is not negative.
static double taken(double p, double sum, double difference) {
    if (p == 0.0) {
        return difference == 0.0 ? sum : sum + 1.0;
    }
    if (p == 1.0) {
        return sum + difference;
    }
    if (p == 2.0) {
        return sum + difference * difference;
    }
    if (isinf(p)) {
        return sum >= difference || isnan(sum) ? sum : difference;
    }
    return sum + pow(difference, p);
}

double ember_distance_of(const ember_distance_t *distance, const char *a,
                         const char *b) {
    const double p = distance->p;
    double sum = 0.0;

    for (int32_t i = 0; i < distance->count; i++) {
        const double x = ember_load_double(distance->dtype, a);
        const double y = ember_load_double(distance->dtype, b);
        sum = taken(p, sum, fabs(x - y));
        a += distance->steps[0];
        b += distance->steps[1];
    }
    if (p == 2.0) {
        return sqrt(sum);
    }
    return needs_powers(p) ? pow(sum, 1.0 / p) : sum;
}
