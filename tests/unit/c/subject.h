// SPDX-License-Identifier: Apache-2.0
// A program file opened and a method of it loaded, all memory of exact size.
//
// The host's sanitizer sees the first byte past every piece: program bytes, method
// arena, planned memories and scratch are allocations of their own. Files are found in
// the folder that is the first argument of the executable.
#ifndef EMBER_TEST_SUBJECT_H
#define EMBER_TEST_SUBJECT_H

#include "ember/data.h"
#include "ember/method.h"

enum { SUBJECT_MOST_PLANNED = 8 };

typedef struct subject {
    ember_program_t program;
    ember_method_t method;
    ember_error_t error;
    ember_span_t planned[SUBJECT_MOST_PLANNED];
    ember_memory_t memory;
    size_t most_planned; // bytes one planned memory may have; more: NO_MEMORY
} subject_t;

// `size` bytes at EMBER_ALIGN, zeroed, of their own; never given back on 32 bit.
void *test_alloc(size_t size);
void test_free(void *memory);

// Whether test_free() gives memory back, so that a test may load thousands of times.
bool test_frees(void);

// A file of the test folder in memory of its own.
ember_bytes_t test_file(const char *name);

// Word `index` of the command line, 0 first; "" past the end.
const char *test_argument(uint32_t index);

// Opens the program `name`, with the toys of toys.h as its kernels.
ember_status_t subject_open(subject_t *subject, const char *name);

// Opens the program in `bytes`.
ember_status_t subject_open_bytes(subject_t *subject, ember_bytes_t bytes);

// Loads `method` twice: with much memory to learn its need, then with that.
ember_status_t subject_load(subject_t *subject, const char *method,
                            const ember_registry_t *registry);

// Unloads and gives the method's memory back, not the program's.
void subject_close(subject_t *subject);

// Data of an input or output tensor.
float *subject_input(subject_t *subject, uint32_t index);
float *subject_output(subject_t *subject, uint32_t index);

#endif // EMBER_TEST_SUBJECT_H
