// SPDX-License-Identifier: Apache-2.0
#include "traffic.h"
#include <inttypes.h>

enum { MOST_RANGES = 64, MOST_BYTES = 128 };

typedef struct range {
    uint64_t low;
    uint64_t end;
    uint64_t times[2][MOST_BYTES + 1]; // of reads and writes, by their bytes
} range_t;

static range_t ranges[MOST_RANGES];
static int range_count;

// The access that may still grow.
static struct {
    uint64_t block;
    uint64_t place;
    uint64_t address;
    uint64_t bytes; // 0: there is none
    bool store;
} last;

void traffic_add_range(uint64_t low, uint64_t end) {
    if (range_count < MOST_RANGES) {
        ranges[range_count].low = low;
        ranges[range_count++].end = end;
    }
}

static void finish(void) {
    for (range_t *range = ranges; range < ranges + range_count && last.bytes != 0;
         range++) {
        if (last.address >= range->low && last.address < range->end) {
            range->times[last.store][last.bytes]++;
            last.bytes = 0;
        }
    }
    last.bytes = 0;
}

void traffic_count(uint64_t block, uint64_t place, qemu_plugin_meminfo_t info,
                   uint64_t address) {
    const uint64_t bytes = UINT64_C(1) << qemu_plugin_mem_size_shift(info);
    const bool store = qemu_plugin_mem_is_store(info);

    if (last.bytes != 0 && last.block == block && last.place == place &&
        last.store == store && last.address + last.bytes == address &&
        last.bytes + bytes <= MOST_BYTES) {
        last.bytes += bytes;
        return;
    }
    finish();
    last.block = block;
    last.place = place;
    last.address = address;
    last.bytes = bytes;
    last.store = store;
}

void traffic_flush(FILE *out) {
    finish();
    for (int i = 0; i < range_count; i++) {
        for (int store = 0; store < 2; store++) {
            for (int bytes = 1; bytes <= MOST_BYTES; bytes++) {
                uint64_t *times = &ranges[i].times[store][bytes];
                if (*times != 0) {
                    fprintf(out, "t %d %c %d %" PRIu64 "\n", i, store ? 'w' : 'r',
                            bytes, *times);
                    *times = 0;
                }
            }
        }
    }
}
