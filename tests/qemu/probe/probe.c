// SPDX-License-Identifier: Apache-2.0
// One small job a run, chosen by the first word of the command line: what
// test_emulator.py asks of every port.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "ember/port.h"

enum { LINE = 256 };

int sme_job(const char *name);

static uint32_t initialised = 0x12345678u;
static uint32_t cleared[64];
static const char constant[] = "constant";

typedef struct job {
    const char *name;
    int (*run)(char *rest);
} job_t;

static int hello(char *rest) {
    ember_port_log("hello ");
    ember_port_log(rest);
    ember_port_log("\n");
    return 0;
}

static int memory(char *rest) {
    uint32_t sum = 0;

    (void)rest;
    for (size_t i = 0; i < 64; i++) {
        sum |= cleared[i];
    }
    return initialised == 0x12345678u && sum == 0 && constant[7] == 't' ? 0 : 1;
}

// copy FROM TO
static int copy(char *rest) {
    static unsigned char data[1024];
    char *to = strchr(rest, ' ');
    int64_t got;

    *to++ = '\0';
    const int32_t in = ember_port_open(rest, EMBER_PORT_READ);
    const int32_t out = ember_port_open(to, EMBER_PORT_WRITE);
    if (in < 0 || out < 0) {
        return 2;
    }
    const int64_t size = ember_port_size(in);
    if (size < 0 || ember_port_seek(in, 1) != 0 || ember_port_seek(in, 0) != 0) {
        return 3;
    }
    int64_t copied = 0;
    while ((got = ember_port_read(in, data, sizeof data)) > 0) {
        if (ember_port_write(out, data, (size_t)got) != 0) {
            return 4;
        }
        copied += got;
    }
    ember_port_close(in);
    ember_port_close(out);
    return copied == size ? 0 : 5;
}

static int missing_file(char *rest) {
    return ember_port_open(rest, EMBER_PORT_READ) == -1 ? 0 : 1;
}

// A loop of 1000 turns: 2001 instructions, on Hexagon 1001 packets.
static void loop_1000(void) {
#if defined(__aarch64__)
    __asm volatile("mov x9, #1000 \n 1: subs x9, x9, #1 \n b.ne 1b" : : : "x9", "cc");
#elif defined(__arm__)
    __asm volatile(".syntax unified \n"
                   "ldr r0, =1000 \n 1: subs r0, r0, #1 \n bne 1b"
                   :
                   :
                   : "r0", "cc");
#elif defined(__hexagon__)
    __asm volatile("r7 = #1000 \n"
                   "1: { r7 = add(r7, #-1); p0 = cmp.gt(r7, #1) \n"
                   "if (p0.new) jump:t 1b }"
                   :
                   :
                   : "r7", "p0");
#endif
}

static int count(char *rest) {
    (void)rest;
    ember_port_mark_begin(EMBER_MARK_LOAD);
    ember_port_mark_end(EMBER_MARK_LOAD);
    ember_port_mark_begin(EMBER_MARK_NODE);
    loop_1000();
    ember_port_mark_end(EMBER_MARK_NODE);
    return 0;
}

__attribute__((noinline)) static int null_store(char *rest) {
    volatile uint32_t *nowhere = (volatile uint32_t *)(strlen(rest) & 0);

    *nowhere = 1;
    return 0;
}

// Only boards with Armv6-M are asked: others may answer it.
__attribute__((noinline)) static int unaligned(char *rest) {
    static volatile uintptr_t odd = 1; // the compiler must not know it

    return (int)*(volatile uint32_t *)(((uintptr_t)rest & ~(uintptr_t)3) + odd);
}

__attribute__((noinline)) static int undefined(char *rest) {
    (void)rest;
#if defined(__x86_64__)
    __asm volatile("ud2");
#elif defined(__hexagon__)
    __asm volatile(".word 0x6fffdffe");
#elif defined(__thumb__)
    __asm volatile("udf #0");
#elif defined(__arm__) || defined(__aarch64__)
    __asm volatile(".inst 0xe7f000f0"); // undefined in both instruction sets
#endif
    return 0;
}

__attribute__((noinline)) static int hole(char *rest) {
    (void)rest;
#if UINTPTR_MAX == UINT32_MAX
    return (int)*(volatile uint32_t *)0xE8000000u;
#else
    return (int)*(volatile uint32_t *)0xE800000000u;
#endif
}

__attribute__((noinline)) static int deeper(volatile char *above, int level) {
    volatile char frame[128];

    frame[0] = above[0];
    if (level == 0) {
        return frame[0];
    }
    return deeper(frame, level - 1) + frame[0];
}

static int overflow(char *rest) {
    return deeper(rest, 1 << 26);
}

// Uses between 20 x 128 bytes and the whole stack.
static int stack(char *rest) {
    const size_t before = ember_port_stack_used();

    (void)deeper(rest, 20);
    const size_t after = ember_port_stack_used();
    const size_t size = ember_port_stack_size();
    if (size == 0) {
        return after == 0 ? 0 : 1;
    }
    return before > 0 && after >= before && after >= 20 * 128 && after < size ? 0 : 2;
}

static int workspace(char *rest) {
    size_t size;
    unsigned char *data = ember_port_workspace(&size);

    (void)rest;
    if (data == NULL || size < 2048 || ((uintptr_t)data & 15u) != 0) {
        return 1;
    }
    data[0] = 1;
    data[size - 1] = 2;
    return data[0] == 1 && data[size - 1] == 2 ? 0 : 2;
}

static int fail(char *rest) {
    (void)rest;
    return 7;
}

static int panic(char *rest) {
    ember_port_panic(rest);
}

static int hang(char *rest) {
    (void)rest;
    for (volatile uint32_t turns = 1; turns != 0; turns = turns | 1) {
    }
    return 0;
}

static int nearly(double got, double want) {
    return fabs(got - want) <= 4e-16 * fabs(want);
}

// The C library of the board has the functions in double.
static int maths(char *rest) {
    volatile double x = 0.5;

    (void)rest;
    const int right =
        nearly(exp(x), 1.6487212707001282) + nearly(log(x), -0.69314718055994529) +
        nearly(tanh(x), 0.46211715726000979) + nearly(erf(x), 0.52049987781304652) +
        nearly(pow(x, 2.5), 0.17677669529663689) + nearly(sin(x), 0.47942553860420301) +
        nearly(sqrt(x), 0.70710678118654757) +
        nearly(fmod(x, 0.3), 0.20000000000000001);
    return right == 8 ? 0 : right + 1;
}

static int sme(char *rest) {
    return sme_job(rest);
}

static const job_t jobs[] = {
    {"hello", hello},
    {"memory", memory},
    {"copy", copy},
    {"missing", missing_file},
    {"count", count},
    {"null", null_store},
    {"undefined", undefined},
    {"hole", hole},
    {"unaligned", unaligned},
    {"overflow", overflow},
    {"stack", stack},
    {"workspace", workspace},
    {"fail", fail},
    {"panic", panic},
    {"hang", hang},
    {"maths", maths},
    {"sme", sme},
};

int main(void) {
    char line[LINE];

    if (ember_port_arguments(line, sizeof line) == 0) {
        return 100;
    }
    char *rest = strchr(line, ' ');
    if (rest == NULL) {
        rest = line + strlen(line);
    } else {
        *rest++ = '\0';
    }
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        if (strcmp(jobs[i].name, line) == 0) {
            return jobs[i].run(rest);
        }
    }
    return 101;
}
