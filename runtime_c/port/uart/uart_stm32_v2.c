// SPDX-License-Identifier: Apache-2.0
// STM32 USART with ISR, RDR and TDR (F0, F3, F7, G0, G4, H5, H7, L4, L5, U5); uart.h.
#include "uart.h"

enum { CR1 = 0x00, BRR = 0x0C, ISR = 0x1C, ICR = 0x20, RDR = 0x24, TDR = 0x28 };
enum { ERRORS = 0xF, RX_FULL = 1 << 5, TX_EMPTY = 1 << 7 };
enum { USART_ON = 1, RX_ON = 1 << 2, TX_ON = 1 << 3 };

void ember_uart_open(void) {
    *ember_uart_register(CR1) = 0;
    *ember_uart_register(BRR) = ember_uart_divider(1);
    *ember_uart_register(CR1) = USART_ON | TX_ON | RX_ON;
}

int32_t ember_uart_get(void) {
    const uint32_t state = *ember_uart_register(ISR);

    if ((state & ERRORS) != 0) {
        *ember_uart_register(ICR) = ERRORS;
    }
    if ((state & RX_FULL) == 0) {
        return -1;
    }
    return (int32_t)(*ember_uart_register(RDR) & 0xFF);
}

bool ember_uart_put(uint8_t byte) {
    if ((*ember_uart_register(ISR) & TX_EMPTY) == 0) {
        return false;
    }
    *ember_uart_register(TDR) = byte;
    return true;
}
