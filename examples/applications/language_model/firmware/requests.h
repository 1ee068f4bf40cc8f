// SPDX-License-Identifier: Apache-2.0
// Where prompts come from: `requests.txt` in the host's folder if it exists, else lines
// that a person types. For your product, write requests_next() for its interface.
//
// A request of the file ends with a NUL. It is four words, a space after each, then the
// prompt: COUNT tokens to write (0: the best token after each of the prompt's),
// TEMPERATURE in thousandths, how many of the BEST tokens to draw from, SEED.
#ifndef REQUESTS_H
#define REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "ember/port.h"
#include "sampler.h"

enum { REQUEST_BYTES = 2048 };

typedef struct request {
    char text[REQUEST_BYTES]; // the prompt
    uint32_t size;            // bytes of it
    uint32_t count;
    float temperature;
    uint32_t best;
    uint32_t seed;
} request_t;

// The number at `*at`, which is moved behind it and the space that follows.
static inline uint32_t requests_number(const char **at) {
    uint32_t number = 0;
    for (; **at >= '0' && **at <= '9'; ++*at) {
        number = number * 10 + (uint32_t)(**at - '0');
    }
    *at += **at == ' ';
    return number;
}

// The bytes of `file` up to a NUL; false at its end.
static inline bool requests_record(int32_t file, char *record) {
    for (uint32_t i = 0; i < REQUEST_BYTES; i++) {
        if (ember_port_read(file, record + i, 1) != 1) {
            return false;
        }
        if (record[i] == '\0') {
            return true;
        }
    }
    ember_port_panic("a request is longer than 2,048 bytes");
}

static inline void requests_text(request_t *request, const char *text) {
    uint32_t size = 0;
    for (; text[size] != '\0'; size++) {
        request->text[size] = text[size];
    }
    request->size = size;
}

static inline bool requests_of_file(int32_t file, request_t *request) {
    static char record[REQUEST_BYTES];
    const char *at = record;

    if (!requests_record(file, record)) {
        return false;
    }
    request->count = requests_number(&at);
    request->temperature = (float)requests_number(&at) / 1000;
    request->best = requests_number(&at);
    request->seed = requests_number(&at);
    if (request->best < 1 || request->best > SAMPLER_MOST || request->seed == 0) {
        ember_port_panic("a request draws from 1 to 64 tokens, by a seed above 0");
    }
    requests_text(request, at);
    return true;
}

static inline bool requests_of_person(request_t *request) {
    ember_port_log("prompt? ");
    const int32_t size = ember_port_read_line(request->text, REQUEST_BYTES);
    request->size = size > 0 ? (uint32_t)size : 0;
    request->count = 100;
    request->temperature = 0.8f;
    request->best = 20;
    request->seed = 1;
    return size > 0;
}

// The next request. False when there are no more.
static inline bool requests_next(request_t *request) {
    static int32_t file = -2;
    if (file == -2) {
        file = ember_port_open("requests.txt", EMBER_PORT_READ);
    }
    return file >= 0 ? requests_of_file(file, request) : requests_of_person(request);
}

#endif // REQUESTS_H
