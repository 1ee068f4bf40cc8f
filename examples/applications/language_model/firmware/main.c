// SPDX-License-Identifier: Apache-2.0
// Writes text: a prompt becomes tokens, the model gives scores of the next token, one
// is chosen, and so on. requests.h is where prompts come from.
//
// Every token is one call of the model, which keeps what it needs of the tokens before.
// The log of a request is: its tokens, those that the model chose, and their text.
#include "ember/model.h"
#include "ember/port.h"
#include "requests.h"
#include "sampler.h"
#include "tokenizer.h"

enum { STEPS = 256, WORDS = BYTES + PAIRS }; // positions and tokens of the model

static ember_program_t program;
static ember_method_t method;
static uint16_t tokens[REQUEST_BYTES]; // of the prompt
static uint16_t chosen[STEPS];

static void check(ember_status_t status) {
    if (status != EMBER_OK) {
        ember_port_panic(ember_status_text(status));
    }
}

static void give(uint32_t index, int64_t number) {
    ember_value_t value;
    check(ember_method_input(&method, index, &value));
    *(int64_t *)value.as_tensor.data = number;
}

// The token after `token` at `position`. What is kept of later positions, of an earlier
// request, has no influence.
static uint16_t follow(uint16_t token, uint32_t position, sampler_t *sampler) {
    ember_value_t scores;

    ember_port_mark_begin(EMBER_MARK_EXECUTE);
    give(0, token);
    give(1, position);
    check(ember_method_execute(&method, NULL));
    check(ember_method_output(&method, 0, &scores));
    const uint16_t next = sampler_next(sampler, scores.as_tensor.data, WORDS);
    ember_port_mark_end(EMBER_MARK_EXECUTE);
    return next;
}

// Chooses up to `most` tokens after the prompt, at least one; `chosen` has them.
static uint32_t generate(uint32_t given, uint32_t most, sampler_t *sampler) {
    uint32_t count = 0;
    uint16_t next = 0;

    for (uint32_t position = 0; position < given; position++) {
        sampler_t best = {0}; // the prompt takes no random numbers
        const bool last = position + 1 == given;
        next = follow(tokens[position], position, last ? sampler : &best);
    }
    while (count < most) {
        chosen[count++] = next;
        if (given + count > STEPS || count == most) {
            break;
        }
        next = follow(next, given + count - 1, sampler);
    }
    return count;
}

// What the model takes for the best token after each one of the prompt.
static uint32_t predict(uint32_t given) {
    for (uint32_t position = 0; position < given; position++) {
        sampler_t best = {0};
        chosen[position] = follow(tokens[position], position, &best);
    }
    return given;
}

static void log_tokens(const char *name, const uint16_t *list, uint32_t count) {
    ember_port_log(name);
    for (uint32_t i = 0; i < count; i++) {
        char text[8] = {0}, *at = text + sizeof text - 1;
        uint32_t rest = list[i];
        do {
            *--at = (char)('0' + rest % 10);
        } while ((rest /= 10) != 0);
        *--at = ' ';
        ember_port_log(at);
    }
    ember_port_log("\n");
}

static void log_text(uint32_t count) {
    char text[TOKEN_BYTES + 1];
    ember_port_log("text ");
    for (uint32_t i = 0; i < count; i++) {
        (void)tokenizer_decode(chosen[i], text);
        ember_port_log(text);
    }
    ember_port_log("\nend\n");
}

static void answer(const request_t *request) {
    const uint32_t given = tokenizer_encode(request->text, request->size, tokens);
    sampler_t sampler = {request->temperature, request->best, request->seed};
    uint32_t count;

    if (given == 0 || given > STEPS) {
        ember_port_panic("a prompt is empty or longer than the model remembers");
    }
    if (request->count == 0) {
        count = predict(given);
    } else {
        count = generate(given, request->count, &sampler);
    }
    log_tokens("prompt", tokens, given);
    log_tokens("tokens", chosen, count);
    log_text(count);
}

int main(void) {
    static request_t request;

    check(ember_model_open(&program, NULL));
    check(ember_model_load(&method, &program, NULL, NULL));
    while (requests_next(&request)) {
        answer(&request);
    }
    return 0;
}
