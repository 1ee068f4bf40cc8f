// SPDX-License-Identifier: Apache-2.0
// Stack and workspace of a 32-bit test process: what a linker script gives a board.

__asm(".bss\n"
      ".balign 16\n"
      ".globl __ember_stack_start\n"
      "__ember_stack_start: .space 0x100000\n"
      ".globl __ember_stack_end\n"
      "__ember_stack_end:\n"
      ".globl __ember_work_start\n"
      "__ember_work_start: .space 0x8000000\n"
      ".globl __ember_work_end\n"
      "__ember_work_end: .space 16\n"
      ".text\n");
