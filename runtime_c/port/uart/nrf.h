// SPDX-License-Identifier: Apache-2.0
// What Nordic's two UARTs share: the baud rate register. Internal.
#ifndef EMBER_PORT_UART_NRF_H
#define EMBER_PORT_UART_NRF_H

#include "uart.h"

// baud * 2^32 / 16 MHz, of which the hardware uses the upper 20 bits.
static inline uint32_t ember_nrf_baudrate(void) {
    const uint64_t exact = ((uint64_t)ember_uart.baud << 32) / 16000000u;
    return (uint32_t)(exact + 0x800) & 0xFFFFF000u;
}

#endif // EMBER_PORT_UART_NRF_H
