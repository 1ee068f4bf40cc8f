// SPDX-License-Identifier: Apache-2.0
// Nordic UARTE (nRF52, nRF53, nRF91), one byte a transfer; uart.h. Bytes that arrive
// between two transfers wait in the peripheral, up to four of them.
#include "nrf.h"

enum { START_RX = 0x000, START_TX = 0x008, RX_END = 0x110, TX_END = 0x120 };
enum { ERROR_SOURCE = 0x480, ENABLE = 0x500, TX_PIN = 0x50C, RX_PIN = 0x514 };
enum { BAUDRATE = 0x524, RX_POINTER = 0x534, RX_COUNT = 0x538 };
enum { TX_POINTER = 0x544, TX_COUNT = 0x548, CONFIG = 0x56C };
enum { ON = 8 };

static volatile uint8_t received; // read and written by the peripheral
static volatile uint8_t sending;

static void send(uint8_t byte) {
    sending = byte;
    *ember_uart_register(TX_END) = 0;
    *ember_uart_register(START_TX) = 1;
}

void ember_uart_open(void) {
    *ember_uart_register(TX_PIN) = ember_uart.tx_pin;
    *ember_uart_register(RX_PIN) = ember_uart.rx_pin;
    *ember_uart_register(BAUDRATE) = ember_nrf_baudrate();
    *ember_uart_register(CONFIG) = 0;
    *ember_uart_register(RX_POINTER) = (uint32_t)(uintptr_t)&received;
    *ember_uart_register(RX_COUNT) = 1;
    *ember_uart_register(TX_POINTER) = (uint32_t)(uintptr_t)&sending;
    *ember_uart_register(TX_COUNT) = 1;
    *ember_uart_register(ENABLE) = ON;
    *ember_uart_register(RX_END) = 0;
    *ember_uart_register(START_RX) = 1;
    send(0); // ends a byte that noise began, and raises TX_END
}

int32_t ember_uart_get(void) {
    if (*ember_uart_register(RX_END) == 0) {
        return -1;
    }
    const int32_t byte = received;
    *ember_uart_register(ERROR_SOURCE) = 0xF;
    *ember_uart_register(RX_END) = 0;
    *ember_uart_register(START_RX) = 1;
    return byte;
}

bool ember_uart_put(uint8_t byte) {
    if (*ember_uart_register(TX_END) == 0) {
        return false;
    }
    send(byte);
    return true;
}
