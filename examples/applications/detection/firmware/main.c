// SPDX-License-Identifier: Apache-2.0
// Detection: where on a camera's frames persons' faces and digits are.
//
//     camera --interrupt--> ring of rows --5 rows--> front end --4 rows of 96-->
//     network network --a frame's cells--> boxes
//
// Logs a line for each frame, its number, and one for each box of it: class, left, top,
// right, bottom in sixteenths of a pixel, score. The last line has the frames that were
// lost, because rows of them came too fast.
#include "boxes.h"
#include "ember/port.h"
#include "ember_models.h"
#include "network_plan.h"
#include "recorded_camera.h" // replace by your driver of camera.h
#include "rows.h"

enum {
    STRIP = 5,     // rows that the front end takes
    STRIP_OUT = 4, // rows that it makes of them
    SIDE = 96,     // pixels of the network's input
};

_Static_assert(EMBER_NETWORK_INPUT_0_ZERO_POINT == 0, "pixels would be shifted");
_Static_assert(EMBER_NETWORK_INPUT_0_ELEMENTS == SIDE * SIDE, "another image");
_Static_assert(CAMERA_ROWS % STRIP == 0 && CAMERA_ROWS / STRIP * STRIP_OUT == SIDE,
               "strips do not make an image");

typedef struct model {
    ember_program_t program;
    ember_method_t method;
} model_t;

static const char *const kinds[BOXES_CLASSES] = {"person", "object"};
static const boxes_scale_t scale = {
    .threshold = EMBER_NETWORK_OUTPUT_0_ZERO_POINT,
    .zero = EMBER_NETWORK_OUTPUT_1_ZERO_POINT,
    .step =
        (int32_t)(EMBER_NETWORK_OUTPUT_1_SCALE * (float)BOXES_CELL * 65536.0f + 0.5f),
};

static model_t front;
static model_t network;
static rows_t rows;
static boxes_t boxes;
static rows_frame_t frame;
static uint32_t done; // frames before it

static void check(ember_status_t status) {
    if (status != EMBER_OK) {
        ember_port_panic(ember_status_text(status));
    }
}

static void load(model_t *model, const ember_model_t *packed) {
    check(ember_model_open_of(packed, &model->program, NULL));
    check(ember_model_load_of(packed, &model->method, &model->program, NULL, NULL));
}

static void *input(model_t *model) {
    ember_value_t value;
    check(ember_method_input(&model->method, 0, &value));
    return value.as_tensor.data;
}

static const void *output(model_t *model, uint32_t index) {
    ember_value_t value;
    check(ember_method_output(&model->method, index, &value));
    return value.as_tensor.data;
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

// From the interrupt.
static void keep(uint32_t row, const uint16_t *pixels) {
    rows_put(&rows, row, pixels);
}

// A strip of the camera's rows becomes rows of the network's input, 0 to 255 becomes
// -128 to 127. The input stays, because the network does not run meanwhile.
static void see_strip(uint32_t strip) {
    const uint8_t *pixels = output(&front, 0);
    int8_t *to = (int8_t *)input(&network) + strip * (STRIP_OUT * SIDE);

    check(ember_method_execute(&front.method, NULL));
    for (uint32_t i = 0; i < STRIP_OUT * SIDE; i++) {
        to[i] = (int8_t)(pixels[i] - 128);
    }
}

static void see(const row_t *row) {
    const uint32_t in_strip = row->number % STRIP;

    memcpy((uint16_t *)input(&front) + in_strip * CAMERA_COLUMNS, row->pixels,
           sizeof(row->pixels));
    if (in_strip == STRIP - 1) {
        see_strip(row->number / STRIP);
    }
}

static void detect(void) {
    check(ember_method_execute(&network.method, NULL));
    boxes_find(&boxes, output(&network, 0), output(&network, 1), &scale);
}

static void log_edge(int16_t edge) {
    ember_port_log(" ");
    log_number((uint32_t)edge);
}

static void log_frame(void) {
    log_number(done);
    ember_port_log("\n");
    for (uint32_t i = 0; i < boxes.count; i++) {
        const box_t *box = &boxes.of[i];
        ember_port_log(kinds[box->kind]);
        log_edge(box->left);
        log_edge(box->top);
        log_edge(box->right);
        log_edge(box->bottom);
        log_edge((int16_t)(box->score - scale.threshold));
        ember_port_log("\n");
    }
}

// The interrupt may come between the question and the sleep: with interrupts masked it
// still wakes the core, and is served behind the sleep.
static void sleep_without_rows(void) {
    __asm volatile("cpsid i" : : : "memory");
    if (rows_first(&rows) == NULL && !camera_ended()) {
        __asm volatile("wfi" : : : "memory");
    }
    __asm volatile("cpsie i" : : : "memory");
}

static void finish(void) {
    ember_port_mark_begin(EMBER_MARK_EXECUTE);
    detect();
    ember_port_mark_end(EMBER_MARK_EXECUTE);
    log_frame();
    done++;
    frame.rows = 0;
}

int main(void) {
    const row_t *row;

    load(&front, &ember_model_front);
    load(&network, &ember_model_network);
    if ((int32_t)(1.0f / EMBER_NETWORK_INPUT_0_SCALE + 0.5f) != 128) {
        ember_port_panic("a step of the network's input is not one of a pixel");
    }
    if (!camera_start(keep)) {
        ember_port_panic("no camera");
    }
    while ((row = rows_first(&rows)) != NULL || !camera_ended()) {
        if (row == NULL) {
            sleep_without_rows();
            continue;
        }
        ember_port_mark_begin(EMBER_MARK_CASE); // what a row takes, for measuring
        if (rows_follow(&frame, row)) {
            see(row);
        }
        ember_port_mark_end(EMBER_MARK_CASE);
        rows_drop(&rows);
        if (frame.rows == CAMERA_ROWS) {
            finish();
        }
    }
    log_number(atomic_load(&rows.frames) - done);
    ember_port_log(" frames lost\n");
    return 0;
}
