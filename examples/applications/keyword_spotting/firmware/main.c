// SPDX-License-Identifier: Apache-2.0
// Keyword spotting: ten words, always listening.
//
//     microphone --interrupt--> ring --hop--> front end --features--> the last second
//     of features --every 6 hops--> network --scores--> spotting --> a word
//
// Logs a line for each word that is heard: samples so far, and the word.
#include "ember/port.h"
#include "ember_models.h"
#include "network_plan.h"
#include "recorded_microphone.h" // replace by your driver of microphone.h
#include "ring.h"
#include "spotting.h"

enum { FRAMES = 40, FEATURES = 12 };

static const char *const words[SPOTTING_KEYWORDS] = {
    "yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go"};

typedef struct program {
    ember_program_t program;
    ember_method_t method;
    void *input;
    const void *output;
} program_t;

static program_t front;
static program_t network;
static ring_t ring;
static int8_t second[FRAMES][FEATURES]; // the oldest frame first
static spotting_t spotting;

static void check(ember_status_t status) {
    if (status != EMBER_OK) {
        ember_port_panic(ember_status_text(status));
    }
}

// Loads a model and finds the memory of its input and its output, which stays.
static void load(program_t *program, const ember_model_t *model) {
    ember_value_t value;

    check(ember_model_open_of(model, &program->program, NULL));
    check(ember_model_load_of(model, &program->method, &program->program, NULL, NULL));
    check(ember_method_input(&program->method, 0, &value));
    program->input = value.as_tensor.data;
    check(ember_method_output(&program->method, 0, &value));
    program->output = value.as_tensor.data;
}

static void heard_samples(const int16_t *samples) {
    ring_put(&ring, samples, MICROPHONE_HOP);
}

static void log_number(uint32_t value) {
    char text[11] = {0};
    char *at = text + sizeof(text) - 1;

    do {
        *--at = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    ember_port_log(at);
}

// A hop of samples becomes the newest frame of features; the oldest one leaves. The
// front end gives the integers that the network takes.
static void listen(void) {
    ring_take(&ring, front.input, MICROPHONE_HOP);
    check(ember_method_execute(&front.method, NULL));
    memmove(second, second[1], sizeof(second) - sizeof(second[0]));
    memcpy(second[FRAMES - 1], front.output, FEATURES);
}

// The last second of features becomes a score from 0 to 255 for each keyword.
static void judge(uint8_t *scores) {
    const int32_t to_255 = (int32_t)(EMBER_NETWORK_OUTPUT_0_SCALE * 255 * 256 + 0.5f);
    const int8_t *result = network.output;

    memcpy(network.input, second, sizeof(second));
    check(ember_method_execute(&network.method, NULL));
    for (uint32_t k = 0; k < SPOTTING_KEYWORDS; k++) {
        const int32_t above = result[k] - EMBER_NETWORK_OUTPUT_0_ZERO_POINT;
        const int32_t score = (above * to_255 + 128) >> 8;
        scores[k] = (uint8_t)(score > 255 ? 255 : score);
    }
}

// The interrupt may come between the question and the sleep: with interrupts masked it
// still wakes the core, and is served behind the sleep.
static void sleep_until(uint32_t samples) {
    __asm volatile("cpsid i" : : : "memory");
    if (ring_held(&ring) < samples && !microphone_ended()) {
        __asm volatile("wfi" : : : "memory");
    }
    __asm volatile("cpsie i" : : : "memory");
}

static void hear(uint32_t hops) {
    uint8_t scores[SPOTTING_KEYWORDS];
    uint32_t word = 0;

    judge(scores);
    if (spotting_hears(&spotting, scores, &word)) {
        log_number(hops * MICROPHONE_HOP);
        ember_port_log(" ");
        ember_port_log(words[word]);
        ember_port_log("\n");
    }
}

int main(void) {
    uint32_t hops = 0;

    load(&front, &ember_model_front);
    load(&network, &ember_model_network);
    if (!microphone_start(heard_samples)) {
        ember_port_panic("no microphone");
    }
    while (!microphone_ended() || ring_held(&ring) >= MICROPHONE_HOP) {
        if (ring_held(&ring) < MICROPHONE_HOP) {
            sleep_until(MICROPHONE_HOP);
            continue;
        }
        ember_port_mark_begin(EMBER_MARK_CASE); // what a hop takes, for measuring
        listen();
        if (++hops % SPOTTING_STEP == 0) {
            hear(hops);
        }
        ember_port_mark_end(EMBER_MARK_CASE);
    }
    log_number(atomic_load(&ring.lost));
    ember_port_log(" samples lost\n");
    return 0;
}
