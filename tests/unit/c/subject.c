// SPDX-License-Identifier: Apache-2.0
// See subject.h.
#include "subject.h"

#include <string.h>

#include "ember/port.h"

enum { GENEROUS = 1 << 16, MOST_PATH = 512, MOST_LINE = 1 << 15 };

#if __STDC_HOSTED__
#include <stdlib.h>

void *test_alloc(size_t size) {
    return calloc(1, size);
}

void test_free(void *memory) {
    free(memory);
}

bool test_frees(void) {
    return true;
}
#else
void *test_alloc(size_t size) {
    static size_t used;
    size_t all;
    uint8_t *work = ember_port_workspace(&all);
    const size_t need = (size + EMBER_ALIGN - 1) & ~(size_t)(EMBER_ALIGN - 1);
    if (need < size || need > all - used) {
        return NULL;
    }
    used += need;
    return memset(work + used - need, 0, size);
}

void test_free(void *memory) {
    (void)memory;
}

bool test_frees(void) {
    return false;
}
#endif

const char *test_argument(uint32_t index) {
    static char line[MOST_LINE];
    size_t length = ember_port_arguments(line, sizeof(line));
    char *word = line;
    for (size_t i = 0; i < length; i++) {
        if (line[i] == ' ') {
            line[i] = '\0';
            if (index-- == 0) {
                return word;
            }
            word = line + i + 1;
        }
    }
    return index == 0 ? word : "";
}

static void join(char *path, const char *folder, const char *name) {
    const size_t length = strlen(folder);
    if (length + strlen(name) + 2 > MOST_PATH) {
        ember_port_panic("path too long");
    }
    memcpy(path, folder, length);
    path[length] = '/';
    memcpy(path + length + 1, name, strlen(name) + 1);
}

ember_bytes_t test_file(const char *name) {
    char path[MOST_PATH];
    join(path, test_argument(0), name);
    const int32_t file = ember_port_open(path, EMBER_PORT_READ);
    if (file < 0) {
        ember_port_log(path);
        ember_port_panic("no such file");
    }
    const size_t size = (size_t)ember_port_size(file);
    void *data = test_alloc(size);
    if (data == NULL || ember_port_read(file, data, size) != (int64_t)size) {
        ember_port_panic("file unreadable");
    }
    ember_port_close(file);
    return (ember_bytes_t){data, size};
}

ember_status_t subject_open_bytes(subject_t *subject, ember_bytes_t bytes) {
    memset(subject, 0, sizeof(*subject));
    subject->most_planned = GENEROUS;
    return ember_program_open(&subject->program, bytes.data, bytes.size,
                              &subject->error);
}

ember_status_t subject_open(subject_t *subject, const char *name) {
    return subject_open_bytes(subject, test_file(name));
}

static ember_status_t make_planned(subject_t *subject,
                                   const ember_method_meta_t *meta) {
    for (uint32_t id = 1; id <= meta->planned_count && id <= SUBJECT_MOST_PLANNED;
         id++) {
        const uint64_t size = ember_method_meta_planned_size(meta, id);
        ember_span_t *span = &subject->planned[id - 1];
        if (size <= subject->most_planned) {
            *span = (ember_span_t){test_alloc((size_t)size), (size_t)size};
        }
    }
    subject->memory.planned = subject->planned;
    subject->memory.planned_count = SUBJECT_MOST_PLANNED;
    return EMBER_OK;
}

static void drop_planned(subject_t *subject) {
    for (uint32_t i = 0; i < SUBJECT_MOST_PLANNED; i++) {
        test_free(subject->planned[i].data);
        subject->planned[i] = (ember_span_t){NULL, 0};
    }
}

static void take_arenas(subject_t *subject, size_t method, size_t temp) {
    subject->memory.method =
        (ember_arena_t){.data = test_alloc(method), .size = method};
    subject->memory.temp = (ember_span_t){test_alloc(temp), temp};
}

static void drop_arenas(subject_t *subject) {
    test_free(subject->memory.method.data);
    test_free(subject->memory.temp.data);
}

ember_status_t subject_load(subject_t *subject, const char *method,
                            const ember_registry_t *registry) {
    ember_method_meta_t meta;
    ember_status_t status =
        ember_method_meta(&subject->program, method, &meta, &subject->error);
    if (status != EMBER_OK) {
        return status;
    }
    make_planned(subject, &meta);
    take_arenas(subject, GENEROUS, GENEROUS);
    status = ember_method_load(&subject->method, &subject->program, method, registry,
                               &subject->memory, &subject->error);
    const size_t peak = subject->method.arena.peak;
    const size_t temp = subject->method.temp_used;
    ember_method_unload(&subject->method);
    drop_arenas(subject);
    drop_planned(subject);
    if (status != EMBER_OK) {
        return status;
    }
    make_planned(subject, &meta);
    take_arenas(subject, peak, temp);
    status = ember_method_load(&subject->method, &subject->program, method, registry,
                               &subject->memory, &subject->error);
    if (status != EMBER_OK) {
        drop_arenas(subject);
        drop_planned(subject);
    }
    return status;
}

void subject_close(subject_t *subject) {
    ember_method_unload(&subject->method);
    drop_arenas(subject);
    drop_planned(subject);
}

static float *data_of(ember_status_t status, const ember_value_t *value) {
    return status == EMBER_OK && value->kind == EMBER_TENSOR ? value->as_tensor.data
                                                             : NULL;
}

float *subject_input(subject_t *subject, uint32_t index) {
    ember_value_t value;
    return data_of(ember_method_input(&subject->method, index, &value), &value);
}

float *subject_output(subject_t *subject, uint32_t index) {
    ember_value_t value;
    return data_of(ember_method_output(&subject->method, index, &value), &value);
}
