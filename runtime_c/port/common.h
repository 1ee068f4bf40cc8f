// SPDX-License-Identifier: Apache-2.0
// What every port shares: the sentence that a fault ends in, and stack painting.
#ifndef EMBER_PORT_COMMON_H
#define EMBER_PORT_COMMON_H

#include <stddef.h>
#include <stdint.h>

#include "ember/port.h"

// Logs `EMBER FAULT kind=.. address=0x.. pc=0x.. lr=0x..` and ends the program with
// EMBER_EXIT_FAULT. `kind` is a word with hyphens; unknown addresses are 0.
_Noreturn void ember_port_fault(const char *kind, uintptr_t address, uintptr_t pc,
                                uintptr_t lr);

// Fills [start, end) of a stack with a pattern, and finds how much of it was used
// later. Both ends are aligned to 4.
#define EMBER_STACK_PAINT 0xC5C5A5A5u
void ember_port_stack_paint(uint32_t *start, const uint32_t *end);
size_t ember_port_stack_touched(const uint32_t *start, const uint32_t *end);

// In ports that own their stack: the exit status of a program that ends with `code`.
// When the lowest word of the stack has been written that is a stack-overflow fault,
// which is logged.
int ember_port_stack_check(const uint32_t *start, int code);

// The byte that ends the input of a console that knows no other end (ASCII's EOT).
#define EMBER_CONSOLE_END 4

// What models of instructions stand for, on ports of computers that have none of them
// (kernels/models): all, unless a tool looks what a lesser core would do.
extern uint32_t ember_port_modelled;

// Drops the first word (the program's name) from `line`. The new length.
size_t ember_port_drop_name(char *line);

#endif // EMBER_PORT_COMMON_H
