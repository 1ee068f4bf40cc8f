// SPDX-License-Identifier: Apache-2.0
// A serial port of the board, polled. Internal.
//
// One of uart_<kind>.c is linked, chosen by `uart:` of the board's YAML; the SDK writes
// `ember_uart` from the same entry. Drivers keep no state beyond the hardware's.
#ifndef EMBER_PORT_UART_H
#define EMBER_PORT_UART_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ember_uart {
    uintptr_t base;
    uint32_t clock; // Hz, input of the divider
    uint32_t baud;
    uint32_t tx_pin; // for kinds that select their own pins
    uint32_t rx_pin;
} ember_uart_t;

extern const ember_uart_t ember_uart;

// Switches the UART on: 8 data bits, no parity, one stop bit. The board's start steps
// have already set up its clock and pins.
void ember_uart_open(void);

// The next byte that was received; -1: none.
int32_t ember_uart_get(void);

// Sends a byte; false if the previous one has not left yet.
bool ember_uart_put(uint8_t byte);

// ---- for drivers -------------------------------------------------------------------

static inline volatile uint32_t *ember_uart_register(uint32_t offset) {
    return (volatile uint32_t *)(ember_uart.base + offset);
}

static inline uint32_t ember_uart_divider(uint32_t times) {
    return (ember_uart.clock * times + ember_uart.baud / 2) / ember_uart.baud;
}

#endif // EMBER_PORT_UART_H
