// SPDX-License-Identifier: Apache-2.0
// The firmware of `ember build` without an application of your own: loads a method of a
// model, executes it once, and reports. Arguments, in any order:
//
//      model=NAME    the model; default: the first
//      method=NAME   the method; default: the first
//      in=FILE       inputs (values.h); default: zeros
//      out=FILE      where the report goes; default: a line on the console
//      budget=N      ends the execution if it may take more steps
//      trace=1       executes again, with a mark around each instruction
//      inside=1      executes again, with a mark around each node inside delegates
//
// The report, little endian; sdk/ember/run/run.py is the other side:
//
//     u32 "EMR1", i32 status, u32 instruction, u32 stage, u32 length, message,
//     zeros up to a multiple of 4
//     u64 stack size, stack used, arena size, arena peak, temp size, temp used
//      the outputs (values.h), if the status is OK
//      with trace=1: u32 per traced instruction, UINT32_MAX last
#include "ember/model.h"
#include "ember/port.h"
#include "trace.h"
#include "values.h"

#include <string.h>

#define REPORT_MAGIC 0x31524D45u // "EMR1"

enum { LINE_SIZE = 512, PADDED = 4 };
enum { STAGE_OPEN, STAGE_LOAD, STAGE_INPUTS, STAGE_EXECUTE, STAGE_DONE };

typedef struct options {
    const char *model;
    const char *method;
    const char *in;
    const char *out;
    const char *budget;
    bool trace;
    bool inside;
} options_t;

static ember_program_t program;
static ember_method_t method;
static ember_error_t error;
static char line[LINE_SIZE];

// The text after `name` when `word` starts with it, or NULL.
static const char *value_of(const char *word, const char *name) {
    const size_t length = strlen(name);
    return strncmp(word, name, length) == 0 ? word + length : NULL;
}

static void set_option(options_t *options, const char *word) {
    const char *value;
    if ((value = value_of(word, "model=")) != NULL) {
        options->model = value;
    } else if ((value = value_of(word, "method=")) != NULL) {
        options->method = value;
    } else if ((value = value_of(word, "in=")) != NULL) {
        options->in = value;
    } else if ((value = value_of(word, "out=")) != NULL) {
        options->out = value;
    } else if ((value = value_of(word, "budget=")) != NULL) {
        options->budget = value;
    } else if (value_of(word, "trace=1") != NULL) {
        options->trace = true;
    } else if (value_of(word, "inside=1") != NULL) {
        options->inside = true;
    }
}

static __attribute__((noinline)) void read_options(options_t *options) {
    const size_t length = ember_port_arguments(line, sizeof(line));
    size_t start = 0;
    for (size_t i = 0; i <= length && length > 0; i++) {
        if (line[i] == ' ' || line[i] == '\0') {
            line[i] = '\0';
            set_option(options, &line[start]);
            start = i + 1;
        }
    }
}

static const ember_model_t *find(const char *name) {
    for (uint32_t i = 0; i < ember_model_count; i++) {
        if (name == NULL || strcmp(ember_models[i]->name, name) == 0) {
            return ember_models[i];
        }
    }
    ember_port_panic("no model of that name");
}

static ember_status_t load(const options_t *options, uint32_t *stage) {
    const ember_model_t *model = find(options->model);
    ember_port_mark_begin(EMBER_MARK_LOAD);
    ember_status_t status = ember_model_open_of(model, &program, &error);
    if (status == EMBER_OK) {
        *stage = STAGE_LOAD;
        status = ember_model_load_of(model, &method, &program, options->method, &error);
    }
    ember_port_mark_end(EMBER_MARK_LOAD);
    return status;
}

static ember_status_t clear_inputs(void) {
    ember_value_t value;
    ember_status_t status = EMBER_OK;
    for (uint32_t i = 0; status == EMBER_OK && i < method.meta.input_count; i++) {
        status = ember_method_input(&method, i, &value);
        if (status == EMBER_OK && value.kind == EMBER_TENSOR &&
            value.as_tensor.data != NULL && !value.as_tensor.constant) {
            memset(value.as_tensor.data, 0, ember_tensor_bytes(&value.as_tensor));
        }
    }
    return status;
}

static __attribute__((noinline)) ember_status_t read_inputs(const char *path) {
    if (path == NULL) {
        return clear_inputs();
    }
    const int32_t file = ember_port_open(path, EMBER_PORT_READ);
    if (file < 0) {
        return ember_fail(&error, EMBER_IO, "values: cannot open the file");
    }
    const ember_status_t status = ember_values_read(file, &method, &error);
    ember_port_close(file);
    return status;
}

static void set_budget(const char *digits) {
    uint64_t steps = 0;
    for (; digits != NULL && *digits != '\0'; digits++) {
        steps = steps * 10 + (uint64_t)(*digits - '0');
    }
    ember_method_set_budget(&method, steps);
}

static ember_status_t execute(const char *budget) {
    set_budget(budget);
    ember_port_mark_begin(EMBER_MARK_EXECUTE);
    const ember_status_t status = ember_method_execute(&method, &error);
    ember_port_mark_end(EMBER_MARK_EXECUTE);
    return status;
}

static ember_status_t run(const options_t *options, uint32_t *stage) {
    ember_status_t status = load(options, stage);
    if (status == EMBER_OK) {
        *stage = STAGE_INPUTS;
        status = read_inputs(options->in);
    }
    if (status == EMBER_OK) {
        *stage = STAGE_EXECUTE;
        status = execute(options->budget);
    }
    *stage = status == EMBER_OK ? STAGE_DONE : *stage;
    return status;
}

static bool write_report(int32_t file, ember_status_t status, uint32_t stage) {
    static const uint8_t zeros[PADDED];
    const char *message = error.message != NULL ? error.message : "";
    const uint32_t length = status != EMBER_OK ? (uint32_t)strlen(message) : 0;
    const uint32_t head[] = {REPORT_MAGIC, (uint32_t)status, error.instruction, stage,
                             length};
    const uint64_t memory[] = {ember_port_stack_size(), ember_port_stack_used(),
                               method.arena.size,       method.arena.peak,
                               method.temp.size,        method.temp_used};
    return ember_port_write(file, head, sizeof(head)) == 0 &&
           ember_port_write(file, message, length) == 0 &&
           ember_port_write(file, zeros, (0u - length) % PADDED) == 0 &&
           ember_port_write(file, memory, sizeof(memory)) == 0;
}

static ember_status_t trace(const options_t *options, int32_t file) {
    ember_status_t status = read_inputs(options->in);
    if (status == EMBER_OK) {
        status = ember_trace_execute(&method, file, &error);
    }
    if (status == EMBER_OK && options->inside) {
        status = read_inputs(options->in);
        status = status == EMBER_OK ? ember_trace_inside(&method, &error) : status;
    }
    return status;
}

// A function of its own, like read_options() and read_inputs(): otherwise its locals
// would be on the stack below everything that the method calls.
static __attribute__((noinline)) int report(const options_t *options,
                                            ember_status_t status, uint32_t stage) {
    const int32_t file = ember_port_open(options->out, EMBER_PORT_WRITE);
    if (file < 0) {
        ember_port_panic("cannot open the report");
    }
    bool good = write_report(file, status, stage);
    if (status == EMBER_OK) {
        good = good && ember_values_write(file, &method) == EMBER_OK;
        if (options->trace) {
            good = good && trace(options, file) == EMBER_OK;
        }
    }
    ember_port_close(file);
    if (!good) {
        ember_port_panic("cannot write the report");
    }
    return 0;
}

int main(void) {
    uint32_t stage = STAGE_OPEN;
    options_t options = {NULL, NULL, NULL, NULL, NULL, false, false};
    read_options(&options);
    const ember_status_t status = run(&options, &stage);
    if (options.out != NULL) {
        return report(&options, status, stage);
    }
    ember_port_log(status == EMBER_OK ? "ember: success\n" : "ember: failed\n");
    return status == EMBER_OK ? 0 : 1;
}
