// SPDX-License-Identifier: Apache-2.0
// The steps before a UART works; uart.h.
#include "uart.h"

#include "machine.h"

enum { PATIENCE = 1000000 }; // reads of a register, where an emulator has none there

static uint32_t load(const ember_uart_step_t *step) {
    if (step->bits == 8) {
        return *(volatile uint8_t *)step->at;
    }
    return step->bits == 16 ? *(volatile uint16_t *)step->at
                            : *(volatile uint32_t *)step->at;
}

static void store(const ember_uart_step_t *step, uint32_t value) {
    if (step->bits == 8) {
        *(volatile uint8_t *)step->at = (uint8_t)value;
    } else if (step->bits == 16) {
        *(volatile uint16_t *)step->at = (uint16_t)value;
    } else {
        *(volatile uint32_t *)step->at = value;
    }
}

static void take(const ember_uart_step_t *step) {
    switch (step->action) {
    case EMBER_UART_CHANGE:
        store(step, (load(step) & ~step->clear) | step->set);
        break;
    case EMBER_UART_WRITE:
        store(step, step->set);
        break;
    default:
        for (uint32_t i = 0; i < PATIENCE && (load(step) & step->set) != step->set;
             i++) {
        }
        break;
    }
}

void ember_uart_open(void) {
    ember_machine_map(ember_uart.base);
    for (size_t i = 0; i < ember_uart.step_count; i++) {
        take(&ember_uart.steps[i]);
    }
    ember_uart_start();
}
