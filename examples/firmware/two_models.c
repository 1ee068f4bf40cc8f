// SPDX-License-Identifier: Apache-2.0
// An application to copy: two models with two methods each in one firmware, run in
// turn. Each method has memory of its own; scratch is shared, so one executes at a
// time.
//
//     ember build examples/models/pair/smooth.pte examples/models/pair/judge.pte
//         --board mps2-an386 --app examples/firmware/two_models.c
#include "ember_models.h"

#include "ember/port.h"

enum { METHODS = 4, ROUNDS = 3, TEXT_SIZE = 24, MILLI = 1000 };

typedef struct job {
    const ember_model_t *model;
    const char *name; // of the method
} job_t;

static const job_t jobs[METHODS] = {
    {&ember_model_smooth, "forward"},
    {&ember_model_judge, "forward"},
    {&ember_model_smooth, "energy"},
    {&ember_model_judge, "alarm"},
};

static ember_program_t smooth;
static ember_program_t judge;
static ember_method_t methods[METHODS];

static void check(ember_status_t status) {
    if (status != EMBER_OK) {
        ember_port_panic(ember_status_text(status));
    }
}

// A program is opened once, however many of its methods are loaded.
static void load_all(void) {
    check(ember_model_open_of(&ember_model_smooth, &smooth, NULL));
    check(ember_model_open_of(&ember_model_judge, &judge, NULL));
    for (uint32_t i = 0; i < METHODS; i++) {
        const job_t *job = &jobs[i];
        const ember_program_t *program =
            job->model == &ember_model_smooth ? &smooth : &judge;
        check(ember_model_load_of(job->model, &methods[i], program, job->name, NULL));
    }
}

static void log_number(int32_t value) {
    char text[TEXT_SIZE] = {0};
    char *at = text + TEXT_SIZE - 1;
    uint32_t left = value < 0 ? 0u - (uint32_t)value : (uint32_t)value;
    do {
        *--at = (char)('0' + left % 10);
        left /= 10;
    } while (left != 0);
    if (value < 0) {
        *--at = '-';
    }
    ember_port_log(at);
}

// Feeds a ramp to the method and logs the first element of its output in thousandths.
static void run(const job_t *job, ember_method_t *method) {
    ember_value_t value;

    check(ember_method_input(method, 0, &value));
    float *input = value.as_tensor.data;
    for (uint32_t i = 0; i < value.as_tensor.numel; i++) {
        input[i] = (float)i / 8.0f;
    }
    check(ember_method_execute(method, NULL));
    check(ember_method_output(method, 0, &value));
    const float *output = value.as_tensor.data;
    const float milli = output[0] * (float)MILLI;
    ember_port_log(job->model->name);
    ember_port_log(" ");
    ember_port_log(job->name);
    ember_port_log(" ");
    log_number((int32_t)(milli < 0.0f ? milli - 0.5f : milli + 0.5f));
    ember_port_log("\n");
}

int main(void) {
    load_all();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < METHODS; i++) {
            run(&jobs[i], &methods[i]);
        }
    }
    return 0;
}
