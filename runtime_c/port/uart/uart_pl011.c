// SPDX-License-Identifier: Apache-2.0
// Arm PL011 (QEMU's virt machine, RP2040, RP2350); uart.h.
#include "uart.h"

enum { DR = 0x00, RSR = 0x04, FR = 0x18, IBRD = 0x24, FBRD = 0x28, LCR_H = 0x2C };
enum { CR = 0x30 };
enum { RX_EMPTY = 1 << 4, TX_FULL = 1 << 5 };
enum { FIFO_ON = 1 << 4, EIGHT_BITS = 3 << 5 };
enum { UART_ON = 1, TX_ON = 1 << 8, RX_ON = 1 << 9 };

void ember_uart_open(void) {
    const uint32_t divider = ember_uart_divider(4); // 16 clocks a bit, in 64ths

    *ember_uart_register(CR) = 0;
    *ember_uart_register(IBRD) = divider >> 6;
    *ember_uart_register(FBRD) = divider & 63;
    *ember_uart_register(LCR_H) = FIFO_ON | EIGHT_BITS;
    *ember_uart_register(CR) = UART_ON | TX_ON | RX_ON;
}

int32_t ember_uart_get(void) {
    if ((*ember_uart_register(FR) & RX_EMPTY) != 0) {
        return -1;
    }
    const uint32_t data = *ember_uart_register(DR);
    if (data > 0xFF) {
        *ember_uart_register(RSR) = 0; // errors: the frame's CRC detects them
    }
    return (int32_t)(data & 0xFF);
}

bool ember_uart_put(uint8_t byte) {
    if ((*ember_uart_register(FR) & TX_FULL) != 0) {
        return false;
    }
    *ember_uart_register(DR) = byte;
    return true;
}
