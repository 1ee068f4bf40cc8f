// SPDX-License-Identifier: Apache-2.0
// Nordic UART without DMA (nRF51, nRF52); uart.h.
#include "nrf.h"

enum { START_RX = 0x000, START_TX = 0x008, RX_READY = 0x108, TX_READY = 0x11C };
enum { ERROR_SOURCE = 0x480, ENABLE = 0x500, TX_PIN = 0x50C, RX_PIN = 0x514 };
enum { RXD = 0x518, TXD = 0x51C, BAUDRATE = 0x524, CONFIG = 0x56C };
enum { ON = 4 };

void ember_uart_open(void) {
    *ember_uart_register(TX_PIN) = ember_uart.tx_pin;
    *ember_uart_register(RX_PIN) = ember_uart.rx_pin;
    *ember_uart_register(BAUDRATE) = ember_nrf_baudrate();
    *ember_uart_register(CONFIG) = 0;
    *ember_uart_register(ENABLE) = ON;
    *ember_uart_register(RX_READY) = 0;
    *ember_uart_register(TX_READY) = 0;
    *ember_uart_register(START_RX) = 1;
    *ember_uart_register(START_TX) = 1;
    *ember_uart_register(TXD) = 0; // ends a byte that noise began, and raises TX_READY
}

int32_t ember_uart_get(void) {
    if (*ember_uart_register(RX_READY) == 0) {
        return -1;
    }
    *ember_uart_register(RX_READY) = 0;
    *ember_uart_register(ERROR_SOURCE) = 0xF;
    return (int32_t)(*ember_uart_register(RXD) & 0xFF);
}

bool ember_uart_put(uint8_t byte) {
    if (*ember_uart_register(TX_READY) == 0) {
        return false;
    }
    *ember_uart_register(TX_READY) = 0;
    *ember_uart_register(TXD) = byte;
    return true;
}
