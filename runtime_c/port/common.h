// SPDX-License-Identifier: Apache-2.0
// What every port shares: the line that a fault logs, and stack painting.
#ifndef EMBER_PORT_COMMON_H
#define EMBER_PORT_COMMON_H

#include <stddef.h>
#include <stdint.h>

#include "ember/port.h"

// Logs `EMBER FAULT kind=.. address=0x.. pc=0x.. lr=0x..` and ends the program with
// EMBER_EXIT_FAULT. `kind` is a word with hyphens; unknown addresses are 0.
_Noreturn void ember_port_fault(const char *kind, uintptr_t address, uintptr_t pc,
                                uintptr_t lr);

// Fills [start, end) of a stack with a pattern, and later finds how much of it was
// used. Both ends are aligned to 4.
#define EMBER_STACK_PAINT 0xC5C5A5A5u
void ember_port_stack_paint(uint32_t *start, const uint32_t *end);
size_t ember_port_stack_touched(const uint32_t *start, const uint32_t *end);

// For ports that own their stack: the exit status of a program that ends with `code`.
// If the lowest word of the stack has been written, that is a stack overflow, which is
// logged as a fault.
int ember_port_stack_check(const uint32_t *start, int code);

// The byte that ends the input of a console without another end (ASCII's EOT).
#define EMBER_CONSOLE_END 4

// The features that models of instructions provide, on hosts that lack the instructions
// (kernels/models): all, unless a tool tests a lesser core.
extern uint32_t ember_port_modelled;

// Drops the first word (the program's name) from `line`. Returns the new length.
size_t ember_port_drop_name(char *line);

#endif // EMBER_PORT_COMMON_H
