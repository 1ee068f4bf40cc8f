// SPDX-License-Identifier: Apache-2.0
// Symbols of the generated linker script (sdk/ember/toolchain/linker.py); only their
// addresses mean anything.
#ifndef EMBER_PORT_LINKER_SYMBOLS_H
#define EMBER_PORT_LINKER_SYMBOLS_H

#include <stdint.h>

extern uint32_t __ember_stack_start[], __ember_stack_end[];
extern uint32_t __ember_bss_start[], __ember_bss_end[];
extern uint32_t __ember_text_start[], __ember_text_end[];
extern uint32_t __ember_steps_start[], __ember_steps_end[]; // of Cortex-M
extern uint32_t *const __ember_copies_start[], *const __ember_copies_end[];
extern uint32_t __ember_read_only_end[], __ember_read_only_size[];
extern uint32_t __ember_work_start[], __ember_work_end[];

#endif // EMBER_PORT_LINKER_SYMBOLS_H
