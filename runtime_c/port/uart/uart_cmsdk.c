// SPDX-License-Identifier: Apache-2.0
// Arm CMSDK APB UART (MPS2, MPS3); uart.h.
#include "uart.h"

enum { DATA = 0x00, STATE = 0x04, CTRL = 0x08, BAUDDIV = 0x10 };
enum { TX_FULL = 1, RX_FULL = 2, OVERRUNS = 0xC };
enum { TX_ON = 1, RX_ON = 2 };

void ember_uart_open(void) {
    *ember_uart_register(BAUDDIV) = ember_uart_divider(1);
    *ember_uart_register(CTRL) = TX_ON | RX_ON;
}

int32_t ember_uart_get(void) {
    const uint32_t state = *ember_uart_register(STATE);

    if ((state & OVERRUNS) != 0) {
        *ember_uart_register(STATE) = OVERRUNS;
    }
    if ((state & RX_FULL) == 0) {
        return -1;
    }
    return (int32_t)(*ember_uart_register(DATA) & 0xFF);
}

bool ember_uart_put(uint8_t byte) {
    if ((*ember_uart_register(STATE) & TX_FULL) != 0) {
        return false;
    }
    *ember_uart_register(DATA) = byte;
    return true;
}
