// SPDX-License-Identifier: Apache-2.0
// The trap into the debugger or emulator: one word in, one word out. The port's folder
// implements it; semihosting.c builds log, files and exit on top.
#ifndef EMBER_PORT_SEMIHOSTING_H
#define EMBER_PORT_SEMIHOSTING_H

#include <stdint.h>

uintptr_t ember_semihosting_call(uintptr_t operation, const void *argument);

// Called by ember_port_exit() before it exits with `code`; returns the exit status. The
// port checks its stack there.
int ember_semihosting_leaving(int code);

#endif // EMBER_PORT_SEMIHOSTING_H
