// SPDX-License-Identifier: Apache-2.0
// What a serial line needs from the processor. Internal.
#ifndef EMBER_PORT_UART_MACHINE_H
#define EMBER_PORT_UART_MACHINE_H

#include <stdint.h>

// Makes the device registers around `base` accessible.
void ember_machine_map(uintptr_t base);

// Starts the firmware again, from reset.
_Noreturn void ember_machine_reset(void);

#endif // EMBER_PORT_UART_MACHINE_H
