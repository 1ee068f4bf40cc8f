// SPDX-License-Identifier: Apache-2.0
// STM32 USART with SR and DR (F1, F2, F4, L1); uart.h.
#include "uart.h"

enum { SR = 0x00, DR = 0x04, BRR = 0x08, CR1 = 0x0C };
enum { RX_FULL = 1 << 5, TX_EMPTY = 1 << 7 };
enum { RX_ON = 1 << 2, TX_ON = 1 << 3, USART_ON = 1 << 13 };

void ember_uart_open(void) {
    *ember_uart_register(CR1) = 0;
    *ember_uart_register(BRR) = ember_uart_divider(1);
    *ember_uart_register(CR1) = USART_ON | TX_ON | RX_ON;
}

// Reading SR, then DR, also clears an overrun.
int32_t ember_uart_get(void) {
    if ((*ember_uart_register(SR) & RX_FULL) == 0) {
        return -1;
    }
    return (int32_t)(*ember_uart_register(DR) & 0xFF);
}

bool ember_uart_put(uint8_t byte) {
    if ((*ember_uart_register(SR) & TX_EMPTY) == 0) {
        return false;
    }
    *ember_uart_register(DR) = byte;
    return true;
}
