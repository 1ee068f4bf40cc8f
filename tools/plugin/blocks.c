// SPDX-License-Identifier: Apache-2.0
#include "blocks.h"
#include <inttypes.h>
#include <stdlib.h>

enum { BUCKETS = 1 << 14 };

typedef struct edge edge_t;
typedef struct block block_t;

struct edge {
    block_t *from;
    block_t *to;
    uint64_t times; // since the last flush
    edge_t *next;   // of the same block
    edge_t *used;   // the next one that ran since the last flush
};

struct block {
    uint64_t address;
    size_t instructions;
    size_t bytes;
    unsigned id; // 0: not written yet
    edge_t *edges;
    block_t *next; // in its bucket
};

static block_t *buckets[BUCKETS];
static block_t *last;
static edge_t *used;
static unsigned ids;

static void *allocate(size_t size) {
    void *memory = calloc(1, size);

    if (memory == NULL) {
        fprintf(stderr, "ember_count: out of memory\n");
        exit(EXIT_FAILURE);
    }
    return memory;
}

static edge_t *edge_between(block_t *from, block_t *to) {
    edge_t **place = &from->edges;

    while (*place != NULL && (*place)->to != to) {
        place = &(*place)->next;
    }
    edge_t *edge = *place;
    if (edge == NULL) {
        edge = allocate(sizeof *edge);
        edge->from = from;
        edge->to = to;
    } else {
        *place = edge->next;
    }
    edge->next = from->edges; // the next search finds it first
    from->edges = edge;
    return edge;
}

static void on_run(unsigned cpu, void *data) {
    block_t *block = data;

    (void)cpu;
    if (last != NULL) {
        edge_t *edge = edge_between(last, block);
        if (edge->times++ == 0) {
            edge->used = used;
            used = edge;
        }
    }
    last = block;
}

static size_t size_of(const struct qemu_plugin_tb *block) {
    size_t bytes = 0;

    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        bytes += qemu_plugin_insn_size(qemu_plugin_tb_get_insn(block, i));
    }
    return bytes;
}

// The emulator translates a block again when its own memory is full.
static block_t *known(uint64_t address, size_t instructions, size_t bytes) {
    block_t **bucket = &buckets[(address >> 1) % BUCKETS];

    for (block_t *block = *bucket; block != NULL; block = block->next) {
        if (block->address == address && block->instructions == instructions &&
            block->bytes == bytes) {
            return block;
        }
    }
    block_t *block = allocate(sizeof *block);
    block->address = address;
    block->instructions = instructions;
    block->bytes = bytes;
    block->next = *bucket;
    *bucket = block;
    return block;
}

void blocks_watch(struct qemu_plugin_tb *block) {
    block_t *record = known(qemu_plugin_tb_vaddr(block), qemu_plugin_tb_n_insns(block),
                            size_of(block));

    qemu_plugin_register_vcpu_tb_exec_cb(block, on_run, QEMU_PLUGIN_CB_NO_REGS, record);
}

static unsigned written(FILE *out, block_t *block) {
    if (block->id == 0) {
        block->id = ++ids;
        fprintf(out, "b %u %" PRIx64 " %zx %zx\n", block->id, block->address,
                block->instructions, block->bytes);
    }
    return block->id;
}

void blocks_flush(FILE *out) {
    for (edge_t *edge = used; edge != NULL; edge = edge->used) {
        const unsigned from = written(out, edge->from), to = written(out, edge->to);
        fprintf(out, "e %u %u %" PRIu64 "\n", from, to, edge->times);
        edge->times = 0;
    }
    used = NULL;
}
