// SPDX-License-Identifier: Apache-2.0
// Bytes to and from the UART in the background; line.h.
#include "line.h"

#include "uart.h"

#include <string.h>

enum { WAITING_MOST = 128, PIECE = 16 }; // bytes; a power of two

static struct {
    ember_frame_reader_t reader;
    uint8_t waiting[WAITING_MOST]; // received, not yet given to the reader
    uint32_t put;
    uint32_t taken;
} in;

static struct {
    ember_frame_writer_t writer;
    uint32_t sent;
    bool sending;
} out;

void ember_line_poll(void) {
    int32_t byte;

    while (in.put - in.taken < WAITING_MOST && (byte = ember_uart_get()) >= 0) {
        in.waiting[in.put++ % WAITING_MOST] = (uint8_t)byte;
    }
    if (out.sending && ember_uart_put(out.writer.wire[out.sent])) {
        out.sent++;
        out.sending = out.sent < out.writer.size;
    }
}

size_t ember_line_receive(const uint8_t **body) {
    ember_line_poll();
    while (in.taken != in.put) {
        const uint8_t byte = in.waiting[in.taken++ % WAITING_MOST];
        const size_t size = ember_frame_take(&in.reader, byte);
        if (size > 0) {
            *body = in.reader.body;
            return size;
        }
        ember_line_poll();
    }
    return 0;
}

uint16_t ember_line_damaged(void) {
    return in.reader.damaged;
}

ember_frame_writer_t *ember_line_writer(void) {
    return out.sending ? NULL : &out.writer;
}

void ember_line_send(void) {
    out.sent = 0;
    out.sending = true;
}

void ember_line_copy(void *to, const void *from, size_t size) {
    uint8_t *put = to;
    const uint8_t *take = from;

    while (size > 0) {
        const size_t piece = size < PIECE ? size : PIECE;
        memcpy(put, take, piece);
        put += piece;
        take += piece;
        size -= piece;
        ember_line_poll();
    }
}
