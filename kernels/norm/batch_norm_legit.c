// SPDX-License-Identifier: Apache-2.0
// Batch normalisation that, in training, uses the statistics of the batch and mixes
// them into the running ones; otherwise it uses those.
#include "kernels/norm/batch.h"

enum { X, WEIGHT, BIAS, MEAN, VAR, TRAINING, MOMENTUM, EPS, OUT, SAVED, SAVED_RSTD };

typedef struct batch_norm {
    ember_batch_t batch;
    ember_norm_vector_t running_mean;
    ember_norm_vector_t running_var;
    ember_norm_vector_t mean;
    ember_norm_vector_t rstd;
    double momentum;
    bool training;
} batch_norm_t;

static void mix(const batch_norm_t *s, const ember_norm_vector_t *running, uint32_t c,
                double number) {
    if (running->there) {
        const double before = ember_norm_get(running, c, 0.0);
        ember_norm_set(running, c, before + (number - before) * s->momentum);
    }
}

static void train(const batch_norm_t *s, uint32_t c) {
    const double count = (double)s->batch.axis.outer * s->batch.axis.inner;
    double mean, variance;

    ember_batch_moments(&s->batch, c, &mean, &variance);
    ember_norm_set(&s->rstd, c, ember_batch_apply(&s->batch, c, mean, variance));
    ember_norm_set(&s->mean, c, mean);
    mix(s, &s->running_mean, c, mean);
    mix(s, &s->running_var, c, variance * (count / (count - 1.0)));
}

static int32_t run(void *state) {
    const batch_norm_t *s = state;
    for (uint32_t c = 0; c < ember_batch_channels(&s->batch); c++) {
        if (s->training) {
            train(s, c);
        } else {
            (void)ember_batch_apply(&s->batch, c,
                                    ember_norm_get(&s->running_mean, c, 0.0),
                                    ember_norm_get(&s->running_var, c, 1.0));
        }
    }
    return EMBER_OK;
}

static ember_status_t prepare(ember_node_t *node, void *state) {
    batch_norm_t *s = state;
    ember_tensor_t tensor;
    uint32_t channels;
    const ember_status_t status =
        ember_batch_prepare(&s->batch, node, EPS, OUT, &channels);
    if (status != EMBER_OK) {
        return status;
    }
    const int32_t size = (int32_t)channels;
    ember_norm_vector(node, MEAN, channels, &s->running_mean);
    ember_norm_vector(node, VAR, channels, &s->running_var);
    s->momentum = ember_node_double(node, MOMENTUM);
    s->training = ember_node_bool(node, TRAINING);
    if (!s->training) {
        ember_norm_no_outputs(node, SAVED);
        return ember_node_status(node);
    }
    if (s->running_mean.there) { // they are written
        ember_node_inout(node, MEAN, &tensor);
    }
    if (s->running_var.there) {
        ember_node_inout(node, VAR, &tensor);
    }
    ember_norm_output(node, SAVED, 1, &size, &s->mean);
    ember_norm_output(node, SAVED_RSTD, 1, &size, &s->rstd);
    return ember_node_status(node);
}

EMBER_KERNEL(batch_norm_legit, batch_norm_t);
