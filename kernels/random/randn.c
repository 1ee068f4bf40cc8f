// SPDX-License-Identifier: Apache-2.0
// randn: normal distribution with mean 0 and variance 1, by Box and Muller's method. In
// float, except for float64.
#include <math.h>

#include "kernels/engine/mathf.h"
#include "kernels/random/random.h"

static float normal_f32(ember_random_t *random) {
    const float u = 1.0f - (float)ember_random_uniform(random, EMBER_F32); // never 0
    const float turn = (float)ember_random_uniform(random, EMBER_F32);

    return __builtin_sqrtf(-2.0f * ember_logf(u)) * ember_cosf(turn * 6.2831853f);
}

static double normal_f64(ember_random_t *random) {
    const double u = 1.0 - ember_random_uniform(random, EMBER_F64);
    const double turn = ember_random_uniform(random, EMBER_F64);

    return sqrt(-2.0 * log(u)) * cos(turn * 6.283185307179586);
}

static int32_t run(void *state) {
    ember_random_fill_t *s = state;
    const ember_class_t class = ember_class_of(s->dtype);
    char *at = s->data;

    ember_random_start(&s->random);
    for (uint32_t i = 0; i < s->count; i++, at += s->size) {
        ember_number_t number;
        if (class == EMBER_CLASS_F32) {
            number.f32 = normal_f32(&s->random);
        } else {
            number.f64 = normal_f64(&s->random);
        }
        ember_elements_store(class, &number, s->dtype, at, 0, 1);
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    return ember_random_fill_prepare(node, state);
}

EMBER_KERNEL(randn, ember_random_fill_t);
