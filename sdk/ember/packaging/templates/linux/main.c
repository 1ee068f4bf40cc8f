// SPDX-License-Identifier: Apache-2.0
// Runs the model once:
//
//     @NAME@ [input0.bin input1.bin ..]
//
// Each argument is a file with the bytes of one tensor; inputs without a file keep what
// the program was exported with. Output n is written to output<n>.bin. It calls only
// Ember's functions, so it needs no C library; yours may call what it likes.
#include "Ember.h"

enum { LINE_SIZE = 4096 };

static ember_program_t program;
static ember_method_t method;

static void check(ember_status_t status, const ember_error_t *error) {
    if (status != EMBER_OK) {
        const bool told = error != NULL && error->message != NULL;
        ember_port_panic(told ? error->message : ember_status_text(status));
    }
}

// The first word of `line` becomes a string; what is behind it.
static char *cut(char *line) {
    while (*line != '\0' && *line != ' ') {
        line++;
    }
    if (*line == ' ') {
        *line++ = '\0';
    }
    return line;
}

static void read_tensor(const ember_tensor_t *tensor, const char *path) {
    const size_t size = ember_tensor_bytes(tensor);
    const int32_t file = ember_port_open(path, EMBER_PORT_READ);
    if (file < 0 || ember_port_size(file) != (int64_t)size ||
        ember_port_read(file, tensor->data, size) != (int64_t)size) {
        ember_port_panic(
            "an input cannot be read, or has another size than its tensor");
    }
    ember_port_close(file);
}

// From the files that `line` names.
static void read_inputs(char *line, uint32_t count) {
    for (uint32_t i = 0; i < count && *line != '\0'; i++) {
        ember_value_t value;
        check(ember_method_input(&method, i, &value), NULL);
        if (value.kind == EMBER_TENSOR) {
            char *next = cut(line);
            read_tensor(&value.as_tensor, line);
            line = next;
        }
    }
}

static void write_output(uint32_t index) {
    char path[] = "output0.bin";
    ember_value_t value;
    check(ember_method_output(&method, index, &value), NULL);
    path[6] = (char)('0' + index % 10);
    const int32_t file = ember_port_open(path, EMBER_PORT_WRITE);
    if (file < 0 || value.kind != EMBER_TENSOR ||
        ember_port_write(file, value.as_tensor.data,
                         ember_tensor_bytes(&value.as_tensor)) != 0) {
        ember_port_panic("cannot write an output");
    }
    ember_port_close(file);
}

int main(void) {
    static char line[LINE_SIZE];
    ember_error_t error = {EMBER_OK, EMBER_NO_INSTRUCTION, NULL};
    const ember_model_method_t *placed = &ember_model.methods[0];

    check(ember_model_open(&program, &error), &error);
    check(ember_model_load(&method, &program, NULL, &error), &error);
    (void)ember_port_arguments(line, sizeof(line));
    read_inputs(line, placed->input_count);
    check(ember_method_execute(&method, &error), &error);
    for (uint32_t i = 0; i < placed->output_count; i++) {
        write_output(i);
    }
    return 0;
}
