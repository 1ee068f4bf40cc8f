// SPDX-License-Identifier: Apache-2.0
// What a platform provides to Ember: time, a console, files of the host, program exit.
//
// The runtime core needs none of this; applications, examples, the test runner and
// the file loader do. A port is one folder of runtime_c/port that implements every
// function below; weak.c is a start that compiles.
//
// Threads  call from one thread at a time, and from no interrupt.
// Units    sizes are bytes.
#ifndef EMBER_PORT_H
#define EMBER_PORT_H

#include <stddef.h>
#include <stdint.h>

#include "ember/config.h"

EMBER_C_BEGIN

// Exit status of a run that ended in a fault or in ember_port_panic(). The log then
// holds one line, `EMBER FAULT kind=.. address=0x.. pc=0x.. lr=0x..` or
// `EMBER PANIC ..`.
#define EMBER_EXIT_FAULT 112
#define EMBER_EXIT_PANIC 113

// ---- Log and end -------------------------------------------------------------------

// Writes NUL-terminated `text` to the console. Adds no newline.
void ember_port_log(const char *text);

// Logs `EMBER PANIC message` and ends the program with EMBER_EXIT_PANIC.
EMBER_NORETURN void ember_port_panic(const char *message);

// Ends the program. `code` is the exit status of the emulator or process, 0 to 255.
// Returning from main() does the same.
EMBER_NORETURN void ember_port_exit(int code);

// ---- Input of the console ----------------------------------------------------------

// Waits for the next byte on the console: 0 to 255, or -1 at the end of the input. On a
// serial port and in a debugger only the byte 4, which Ctrl-D sends, ends the input.
// Between two calls a serial port keeps only what its hardware holds (1 to 32 bytes),
// so ask first, then wait. Ports without input return -1.
int32_t ember_port_read_char(void);

// Waits for a line, terminated by CR, LF or both, and copies it to `line` with a NUL
// instead of the terminator. Excess beyond `capacity` is dropped. Returns its length,
// or -1 if the input has ended and there was nothing before the end.
int32_t ember_port_read_line(char *line, size_t capacity);

// ---- Time --------------------------------------------------------------------------

// A monotonic clock, and its ticks per second. It wraps at 32 bits.
uint32_t ember_port_ticks(void);
uint32_t ember_port_ticks_per_second(void);

// Processor cycles since an arbitrary moment, in a counter that wraps at 32 bits; the
// first call starts it. Always 0 if there is no counter. Cortex-M: the PMU or DWT;
// cores without them use SysTick, which the application then cannot use; the figure is
// right if the function is called at least every 2^25 cycles. Arm64 at EL1: the PMU. In
// emulators the figures are not those of a real core.
uint32_t ember_port_cycles(void);

// ---- Command line ------------------------------------------------------------------

// Copies the program's arguments, joined by single spaces and without the program's
// name, to `line` and ends it with NUL. Returns its length; 0 if there are none or they
// do not fit into `capacity`.
size_t ember_port_arguments(char *line, size_t capacity);

// ---- Files of the host (optional: a port without them returns -1) ------------------

typedef enum ember_port_mode {
    EMBER_PORT_READ,
    EMBER_PORT_WRITE, // creates the file, or empties it
} ember_port_mode_t;

// A handle >= 0, or -1 if the file cannot be opened.
int32_t ember_port_open(const char *path, ember_port_mode_t mode);

// Size of an open file, or -1.
int64_t ember_port_size(int32_t file);

// Moves the position of a file to `at` bytes from its start. 0, or -1.
int32_t ember_port_seek(int32_t file, uint64_t at);

// Reads up to `size` bytes. The number read, less than `size` at the end of the
// file, or -1.
int64_t ember_port_read(int32_t file, void *data, size_t size);

// Writes `size` bytes. 0, or -1 if not all were written.
int32_t ember_port_write(int32_t file, const void *data, size_t size);

void ember_port_close(int32_t file);

// ---- Core --------------------------------------------------------------------------

// Instruction sets that not every core of a family has. The order is ABI.
typedef enum ember_cpu {
    EMBER_CPU_NEON = 1 << 0,
    EMBER_CPU_FP16 = 1 << 1, // arithmetic of float16
    EMBER_CPU_DOT = 1 << 2,  // products of four int8 (FEAT_DotProd)
    EMBER_CPU_I8MM = 1 << 3, // products of matrices of int8 (FEAT_I8MM)
    EMBER_CPU_SME = 1 << 4,
    EMBER_CPU_SME2 = 1 << 5,
    EMBER_CPU_FHM = 1 << 6, // products of float16 in float32 (FEAT_FHM)
    EMBER_CPU_SVE = 1 << 7,
    EMBER_CPU_BF16MM = 1 << 8, // products of matrices of bfloat16 (FEAT_BF16)
} ember_cpu_t;

// The instruction sets that this core reports. Kernels that need another one are
// skipped, so 0 is always safe.
uint32_t ember_port_cpu(void);

// ---- Memory ------------------------------------------------------------------------

// The largest memory left over by the link, aligned to 16; for test runners that load
// programs at run time. NULL and 0 if there is none.
void *ember_port_workspace(size_t *size);

// The stack's size, and its high-water mark, in bytes. 0: unknown.
size_t ember_port_stack_size(void);
size_t ember_port_stack_used(void);

// ---- Regions for the emulator plugin -----------------------------------------------

#define EMBER_MARK_COUNT 8

enum {
    EMBER_MARK_LOAD,
    EMBER_MARK_EXECUTE,
    EMBER_MARK_NODE,
    EMBER_MARK_CASE,
    EMBER_MARK_INSIDE // a node of a delegate
};

// An access to word i tells the emulator plugin that region i begins (write) or ends
// (read). Without the plugin these are two cheap instructions.
extern volatile uint32_t ember_marks[EMBER_MARK_COUNT];

#if defined(__hexagon__)

// In separate packets: if a packet has both a load and a store, the emulator reports
// its accesses more than once.
static inline void ember_port_mark_begin(uint32_t word) {
    __asm volatile("{ memw(%0) = #0 }" : : "r"(&ember_marks[word]) : "memory");
}

static inline void ember_port_mark_end(uint32_t word) {
    uint32_t ignored;

    __asm volatile("{ %0 = memw(%1) }"
                   : "=r"(ignored)
                   : "r"(&ember_marks[word])
                   : "memory");
}

#else

static inline void ember_port_mark_begin(uint32_t word) {
    ember_marks[word] = 0;
}

static inline void ember_port_mark_end(uint32_t word) {
    (void)ember_marks[word];
}

#endif

EMBER_C_END

#endif // EMBER_PORT_H
