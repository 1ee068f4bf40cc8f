// SPDX-License-Identifier: Apache-2.0
// See links.h.
#include "links.h"

#include <stdlib.h>
#include <string.h>

#include "runtime_c/port/uart/link_in.c" // with what it keeps, which each input clears

enum { MOST_OFFSET = 1 << 20 };

void ember_line_copy(void *to, const void *from, size_t size) {
    memcpy(to, from, size);
}

// Byte `at` of the host's stream.
static uint8_t sent(uint32_t at) {
    return (uint8_t)(at * 167 + (at >> 8));
}

static void expect(bool good) {
    if (!good) {
        abort();
    }
}

// A part of the stream comes, from about where it is wanted.
static void accept(uint32_t offset, uint32_t size) {
    uint8_t *data = malloc(size > 0 ? size : 1);
    for (uint32_t i = 0; i < size; i++) {
        data[i] = sent(offset + i);
    }
    ember_link_in_accept(offset, data, size);
    free(data);
}

static void take(size_t size) {
    uint8_t *data = malloc(size > 0 ? size : 1);
    const uint32_t from = in.taken;
    const size_t taken = ember_link_in_take(data, size);
    expect(taken <= size && in.taken == from + taken);
    for (size_t i = 0; i < taken; i++) {
        expect(data[i] == sent(from + (uint32_t)i));
    }
    free(data);
}

static void tell(void) {
    ember_link_state_t state;
    const uint32_t next = ember_link_in_tell(&state);
    expect(next >= in.taken && next <= state.limit);
    expect(state.limit - in.taken == EMBER_LINK_WINDOW);
    expect(ember_link_in_is_empty() == (next == in.taken));
}

// A frame with any content, then a byte that harms it or none.
static void send_frame(const uint8_t *payload, uint32_t size, uint32_t harmed) {
    static ember_frame_writer_t writer;
    static ember_frame_reader_t reader;
    const ember_frame_head_t head = {1, 2, 3, size};
    size_t whole = 0;
    ember_frame_begin(&writer, &head);
    for (uint32_t i = 0; i < size; i++) {
        ember_frame_put(&writer, payload[i]);
    }
    ember_frame_end(&writer);
    if (harmed < writer.size) {
        writer.wire[harmed] ^= 0x10;
    }
    for (uint32_t i = 0; i < writer.size; i++) {
        const size_t got = ember_frame_take(&reader, writer.wire[i]);
        whole = got != 0 ? got : whole;
    }
    if (harmed >= writer.size) {
        expect(whole == sizeof(head) + size);
        expect(memcmp(reader.body + sizeof(head), payload, size) == 0);
    }
}

void fuzz_run_link(ember_bytes_t bytes) {
    memset(&in, 0, sizeof(in));
    for (size_t i = 0; i + 4 <= bytes.size && in.taken < MOST_OFFSET; i += 4) {
        const uint8_t *step = bytes.data + i;
        const uint32_t size = step[1] | (step[2] & 3u) << 8;
        const uint32_t back = step[3];
        switch (step[0] & 7) {
        case 0:
        case 1: // again, from before what is here
            accept(in.next - (in.next < back ? in.next : back), size);
            break;
        case 2: // too early
            accept(in.next + back * 16, size);
            break;
        case 3:
            tell();
            break;
        case 4: {
            const size_t left = bytes.size - i - 4;
            const uint32_t most = EMBER_FRAME_PAYLOAD;
            const uint32_t some = left < most ? (uint32_t)left : most;
            send_frame(step + 4, size < some ? size : some, back);
            send_frame(step + 4, size < some ? size : some, UINT32_MAX);
            break;
        }
        default:
            take(size);
            break;
        }
    }
}
