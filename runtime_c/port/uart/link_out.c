// SPDX-License-Identifier: Apache-2.0
// The stream to the host, kept until the host has it; link_parts.h.
#include "link_parts.h"

#include "line.h"

#include <string.h>

enum {
    OUT_MOST = EMBER_LINK_WINDOW / 2, // bytes
    LEAST_PAYLOAD = 16,
    USUAL_PAYLOAD = EMBER_FRAME_PAYLOAD / 4
};

// [acknowledged, sent) is kept until the host has it, [sent, written) is still to be
// sent.
static struct {
    uint32_t acknowledged;
    uint32_t sent;
    uint32_t written;
    uint32_t payload; // of frames; 0: not yet told by the host
    uint32_t again_count;
    ember_link_range_t again[EMBER_LINK_AGAIN];
    uint8_t ring[OUT_MOST];
} out;

void ember_link_out_acknowledge(uint32_t offset, const ember_link_ack_t *ack) {
    if (offset > out.acknowledged && offset <= out.sent) {
        out.acknowledged = offset;
    }
    out.payload = ack->payload;
    if (out.payload < LEAST_PAYLOAD || out.payload > EMBER_FRAME_PAYLOAD) {
        out.payload = LEAST_PAYLOAD;
    }
    if (ack->count > 0) {
        out.again_count = ack->count < EMBER_LINK_AGAIN ? ack->count : EMBER_LINK_AGAIN;
        memcpy(out.again, ack->again, sizeof out.again);
    }
}

static uint32_t payload(void) {
    return out.payload != 0 ? out.payload : USUAL_PAYLOAD;
}

// Sends [offset, end), or as much of it as fits into a frame; returns where that ended.
static uint32_t send_data(ember_frame_writer_t *writer, uint32_t offset, uint32_t end) {
    const uint32_t size = end - offset < payload() ? end - offset : payload();

    ember_link_begin(writer, EMBER_LINK_DATA, 0, offset);
    for (uint32_t i = 0; i < size; i++) {
        ember_frame_put(writer, out.ring[(offset + i) % OUT_MOST]);
        if (i % 16 == 15) {
            ember_line_poll();
        }
    }
    ember_link_finish(writer);
    return offset + size;
}

// Sends the next piece that the host lost; false if there is none.
static bool send_again(ember_frame_writer_t *writer) {
    while (out.again_count > 0) {
        ember_link_range_t *range = &out.again[out.again_count - 1];
        if (range->start < out.acknowledged || range->start >= range->end ||
            range->end > out.sent) {
            out.again_count--;
            continue;
        }
        range->start = send_data(writer, range->start, range->end);
        return true;
    }
    return false;
}

bool ember_link_out_send(ember_frame_writer_t *writer, bool flush) {
    if (send_again(writer)) {
        return true;
    }
    const uint32_t ready = out.written - out.sent;
    if (ready == 0 || (ready < payload() && !flush)) {
        return false;
    }
    out.sent = send_data(writer, out.sent, out.written);
    return true;
}

size_t ember_link_out_put(const uint8_t *from, size_t size) {
    const uint32_t at = out.written % OUT_MOST;
    const uint32_t free = OUT_MOST - (out.written - out.acknowledged);
    size_t piece = free < OUT_MOST - at ? free : OUT_MOST - at;

    piece = piece < size ? piece : size;
    ember_line_copy(out.ring + at, from, piece);
    out.written += (uint32_t)piece;
    return piece;
}

uint32_t ember_link_out_sent(void) {
    return out.sent;
}

uint32_t ember_link_out_written(void) {
    return out.written;
}
