// SPDX-License-Identifier: Apache-2.0
// Watches a machine by its vibration: learns what is usual for it, then tells of each
// 80 ms whether it is still so. accelerometer.h is the driver, detector.h decides.
//
// The log has a line a frame: its score as the bits of a float32, `over` or `-`, then
// `alarm` or `-`. The last line has the samples that were lost, and the threshold.
#include "accelerometer.h"
#include "detector.h"
#include "ember/port.h"
#include "ember_models.h"
#include "recorded.h" // replace by your sensor's driver
#include "ring.h"

#include <string.h>

enum { HOP = 256 }; // samples of a call

typedef struct model {
    ember_program_t program;
    ember_method_t method;
} model_t;

static model_t front;   // samples -> bands, and how unusual they are
static model_t network; // that -> what sound machines have instead
static ring_t ring;
static detector_t detector;

static void check(ember_status_t status) {
    if (status != EMBER_OK) {
        ember_port_panic(ember_status_text(status));
    }
}

static void load(model_t *model, const ember_model_t *packed) {
    check(ember_model_open_of(packed, &model->program, NULL));
    check(ember_model_load_of(packed, &model->method, &model->program, NULL, NULL));
}

static float *input(model_t *model, uint32_t index) {
    ember_value_t value;
    check(ember_method_input(&model->method, index, &value));
    return value.as_tensor.data;
}

static const float *output(model_t *model, uint32_t index) {
    ember_value_t value;
    check(ember_method_output(&model->method, index, &value));
    return value.as_tensor.data;
}

// From the interrupt.
static void keep(const int16_t *samples) {
    ring_write(&ring, samples, ACCELEROMETER_BATCH);
}

static void decide(void) {
    ring_read(&ring, input(&front, 0), HOP);
    memcpy(input(&front, 1), detector.usual, sizeof detector.usual);
    check(ember_method_execute(&front.method, NULL));
    const float *bands = output(&front, 0);
    const float *x = output(&front, 1);
    memcpy(input(&network, 0), x, DETECTOR_BANDS * sizeof(float));
    check(ember_method_execute(&network.method, NULL));
    detector_frame(&detector, bands, x, output(&network, 0));
}

static void log_bits(float value) {
    char text[] = "00000000";
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 7; i >= 0; i--, bits >>= 4) {
        text[i] = "0123456789abcdef"[bits & 15];
    }
    ember_port_log(text);
}

static void log_frame(void) {
    log_bits(detector.score);
    ember_port_log(detector.recent & 1 ? " over" : " -");
    ember_port_log(detector.alarm ? " alarm\n" : " -\n");
}

static void log_end(void) {
    ember_port_log("threshold ");
    log_bits(detector.threshold);
    ember_port_log(ring.lost + accelerometer_lost() == 0 ? " nothing lost\n"
                                                         : " samples lost\n");
}

int main(void) {
    load(&front, &ember_model_front);
    load(&network, &ember_model_network);
    if (!accelerometer_start(keep)) {
        ember_port_panic("the accelerometer does not answer");
    }
    while (accelerometer_wait()) {
        while (ring_count(&ring) >= HOP) {
            ember_port_mark_begin(EMBER_MARK_EXECUTE);
            decide();
            ember_port_mark_end(EMBER_MARK_EXECUTE);
            log_frame();
        }
    }
    log_end();
    return 0;
}
