// SPDX-License-Identifier: Apache-2.0
// Emulator plugin: exact instruction counts of the regions that a firmware marks.
//
//   -plugin libember_count.so,out=FILE,marks=0xADDRESS,words=8[,exact=1]
//           [,edges=1] [,range=0xLOW:0xEND]...
//
// The firmware has an array of words at ADDRESS. A write to word i begins region i, a
// read ends it; the plugin writes one line `<i> <w|r> <count>` an access, in order,
// and `end <count>` last. <count> is the number of instructions (packets on Hexagon)
// executed before the access, exact inside a translation block too: a block adds its
// length when it starts, and an access takes back what follows it in the block.
//
// For each range of addresses (at most 64), in order, a line before the last,
// `range <reads> <read bytes> <writes> <written bytes>`, counts its accesses in
// region 1.
//
// A block that an exception leaves half-way would count as whole; exact=1 counts
// every instruction by itself instead (slower).
//
// With edges=1, lines between those of the accesses say which blocks ran, blocks.h, and
// how the ranges were accessed, traffic.h.
#include "blocks.h"
#include "traffic.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

// The emulator reads the version after it has loaded the plugin.
__attribute__((constructor)) static void choose_version(void) {
    qemu_plugin_version = qemu_plugin_scoreboard_new == NULL ? 1 : 2;
}

static FILE *out;
static uint64_t marks;
static uint64_t marks_end;
static bool exact;
static bool edges;
static uint64_t counted;        // instructions: version 1
static qemu_plugin_u64 counter; // version 2

// Accesses of a range: [0] reads, [1] writes.
typedef struct range {
    uint64_t low;
    uint64_t end;
    uint64_t accesses[2];
    uint64_t bytes[2];
} range_t;

enum { MOST_RANGES = 64, COUNTED_REGION = 1 };

static range_t ranges[MOST_RANGES];
static int range_count;
static bool is_counting;

static uint64_t executed(void) {
    return qemu_plugin_version == 1 ? counted : qemu_plugin_u64_sum(counter);
}

static void count_access(qemu_plugin_meminfo_t info, uint64_t address) {
    const bool store = qemu_plugin_mem_is_store(info);

    for (range_t *range = ranges; range < ranges + range_count; range++) {
        if (address >= range->low && address < range->end) {
            range->accesses[store]++;
            range->bytes[store] += UINT64_C(1) << qemu_plugin_mem_size_shift(info);
            return;
        }
    }
}

// `ahead` = instructions of the block that are counted but not executed yet.
static void on_access(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address,
                      void *ahead) {
    (void)cpu;
    if (address < marks || address >= marks_end) {
        if (is_counting) {
            count_access(info, address);
        }
        if (edges) {
            traffic_count(executed(), (uintptr_t)ahead, info, address);
        }
        return;
    }
    if ((address - marks) / 4 == COUNTED_REGION) {
        is_counting = range_count > 0 && qemu_plugin_mem_is_store(info);
    }
    if (edges) {
        blocks_flush(out);
        traffic_flush(out);
    }
    fprintf(out, "%" PRIu64 " %c %" PRIu64 "\n", (address - marks) / 4,
            qemu_plugin_mem_is_store(info) ? 'w' : 'r',
            executed() - (uint64_t)(uintptr_t)ahead);
}

static void count_block(struct qemu_plugin_tb *block, size_t instructions) {
    if (qemu_plugin_version == 1) {
        qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64,
                                                 &counted, instructions);
    } else {
        qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(
            block, QEMU_PLUGIN_INLINE_ADD_U64, counter, instructions);
    }
}

static void count_instruction(struct qemu_plugin_insn *insn) {
    if (qemu_plugin_version == 1) {
        qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
                                                   &counted, 1);
    } else {
        qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
            insn, QEMU_PLUGIN_INLINE_ADD_U64, counter, 1);
    }
}

static void on_block(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
    const size_t count = qemu_plugin_tb_n_insns(block);

    (void)id;
    if (!exact) {
        count_block(block, count);
    }
    if (edges) {
        blocks_watch(block);
    }
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);
        const size_t ahead = exact ? 1 : count - i;

        if (exact) {
            count_instruction(insn);
        }
        if (out != NULL) {
            qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS,
                                             QEMU_PLUGIN_MEM_RW,
                                             (void *)(uintptr_t)ahead);
        }
    }
}

static void on_end(qemu_plugin_id_t id, void *data) {
    (void)id;
    (void)data;
    if (edges) {
        blocks_flush(out);
        traffic_flush(out);
    }
    for (const range_t *one = ranges; one < ranges + range_count; one++) {
        fprintf(out, "range %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                one->accesses[0], one->bytes[0], one->accesses[1], one->bytes[1]);
    }
    fprintf(out, "end %" PRIu64 "\n", executed());
    fclose(out);
}

static bool read_range(const char *text) {
    char *rest;

    if (range_count == MOST_RANGES) {
        return false;
    }
    range_t *range = &ranges[range_count++];
    range->low = strtoull(text, &rest, 0);
    range->end = *rest == ':' ? strtoull(rest + 1, NULL, 0) : 0;
    traffic_add_range(range->low, range->end);
    return range->low < range->end;
}

static bool read_option(const char *option) {
    if (strncmp(option, "out=", 4) == 0) {
        out = fopen(option + 4, "w");
        return out != NULL;
    }
    if (strncmp(option, "marks=", 6) == 0) {
        marks = strtoull(option + 6, NULL, 0);
        return true;
    }
    if (strncmp(option, "words=", 6) == 0) {
        marks_end = strtoull(option + 6, NULL, 0);
        return true;
    }
    if (strncmp(option, "range=", 6) == 0) {
        return read_range(option + 6);
    }
    if (strncmp(option, "edges=", 6) == 0) {
        edges = strcmp(option + 6, "0") != 0;
        return true;
    }
    if (strncmp(option, "exact=", 6) == 0) {
        exact = strcmp(option + 6, "0") != 0;
        return true;
    }
    return false;
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id,
                                                               const qemu_info_t *info,
                                                               int argc, char **argv) {
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (!read_option(argv[i])) {
            fprintf(stderr, "ember_count: bad option '%s'\n", argv[i]);
            return -1;
        }
    }
    if (out == NULL) {
        fprintf(stderr, "ember_count: option out=FILE is missing\n");
        return -1;
    }
    marks_end = marks + 4 * (marks_end == 0 ? 8 : marks_end);
    if (qemu_plugin_version != 1) {
        counter.score = qemu_plugin_scoreboard_new(sizeof counted);
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
    qemu_plugin_register_atexit_cb(id, on_end, NULL);
    return 0;
}
