// SPDX-License-Identifier: Apache-2.0
// Two streams over a line that loses bytes; link.h. Frames from the line are untrusted:
// whatever their numbers, only the rings below are written.
#include "link.h"

#include "line.h"
#include "machine.h"
#include "uart.h"

#include <string.h>

enum { OUT_MOST = EMBER_LINK_WINDOW / 2, LEAST_PAYLOAD = 16 }; // bytes

static struct {
    uint16_t id;
    bool connected;
    bool ended;
    bool hello_due;
    bool state_due;
    bool exit_due;
    bool restarted_due;
    int32_t code;
    const char *text;
    size_t text_size;
} session;

// [taken, next) waits to be read; blocks of [next, taken + EMBER_LINK_WINDOW) may have
// come early.
static struct {
    uint32_t taken;
    uint32_t next;
    uint32_t told; // the limit in the last STATE
    bool waiting;
    uint32_t early[EMBER_LINK_BLOCKS / 32];
    uint8_t ring[EMBER_LINK_WINDOW];
} in;

// [acknowledged, sent) is kept until the host has it, [sent, written) was never sent.
static struct {
    uint32_t acknowledged;
    uint32_t sent;
    uint32_t written;
    uint32_t payload;
    bool flush; // also a frame that is not full
    uint32_t again_count;
    ember_link_range_t again[EMBER_LINK_AGAIN];
    uint8_t ring[OUT_MOST];
} out;

// ---- from the host -----------------------------------------------------------------

static void store(uint32_t offset, const uint8_t *data, uint32_t size) {
    const uint32_t at = offset % EMBER_LINK_WINDOW;
    const uint32_t rest = EMBER_LINK_WINDOW - at;
    const uint32_t first = size < rest ? size : rest;

    ember_line_copy(in.ring + at, data, first);
    ember_line_copy(in.ring, data + first, size - first);
}

static uint32_t *early_word(uint32_t block) {
    return &in.early[block % EMBER_LINK_BLOCKS / 32];
}

static bool take_early(uint32_t block) {
    const uint32_t bit = 1u << block % 32;
    const bool was = (*early_word(block) & bit) != 0;

    *early_word(block) &= ~bit;
    return was;
}

// All before `end` is here, and with it what came early behind it.
static void go_on(uint32_t end) {
    for (uint32_t block = in.next / EMBER_LINK_BLOCK; block < end / EMBER_LINK_BLOCK;
         block++) {
        (void)take_early(block);
    }
    in.next = end;
    while (take_early(in.next / EMBER_LINK_BLOCK)) {
        in.next = (in.next / EMBER_LINK_BLOCK + 1) * EMBER_LINK_BLOCK;
    }
}

static void accept(uint32_t offset, const uint8_t *data, uint32_t size) {
    const uint32_t limit = in.taken + EMBER_LINK_WINDOW;

    session.state_due = true;
    if (offset >= limit) {
        return;
    }
    const uint32_t end = size < limit - offset ? offset + size : limit;
    if (end <= in.next) {
        return;
    }
    if (offset <= in.next) {
        store(in.next, data + (in.next - offset), end - in.next);
        go_on(end);
        return;
    }
    const uint32_t first = (offset + EMBER_LINK_BLOCK - 1) / EMBER_LINK_BLOCK;
    const uint32_t last = end / EMBER_LINK_BLOCK;
    for (uint32_t block = first; block < last; block++) {
        const uint32_t at = block * EMBER_LINK_BLOCK;
        store(at, data + (at - offset), EMBER_LINK_BLOCK);
        *early_word(block) |= 1u << block % 32;
    }
}

static void acknowledge(const ember_frame_head_t *head, const uint8_t *data,
                        uint32_t size) {
    ember_link_ack_t ack;

    if (size != sizeof ack) {
        return;
    }
    memcpy(&ack, data, sizeof ack);
    if (head->offset > out.acknowledged && head->offset <= out.sent) {
        out.acknowledged = head->offset;
    }
    out.payload = ack.payload;
    if (out.payload < LEAST_PAYLOAD || out.payload > EMBER_FRAME_PAYLOAD) {
        out.payload = LEAST_PAYLOAD;
    }
    out.again_count = ack.count < EMBER_LINK_AGAIN ? ack.count : EMBER_LINK_AGAIN;
    memcpy(out.again, ack.again, sizeof out.again);
    if ((head->flags & EMBER_LINK_TELL) != 0) {
        session.state_due = true;
        session.exit_due = session.ended;
    }
}

static void connect(uint16_t id) {
    if (session.connected && session.id != id) {
        ember_machine_reset();
    }
    session.connected = true;
    session.id = id;
    session.hello_due = true;
}

static void handle(const uint8_t *body, size_t size) {
    ember_frame_head_t head;

    memcpy(&head, body, sizeof head);
    const uint8_t *payload = body + sizeof head;
    const uint32_t length = (uint32_t)(size - sizeof head);
    if (head.type == EMBER_LINK_CONNECT) {
        connect(head.session);
    } else if (!session.connected) {
        session.restarted_due = true;
    } else if (head.session != session.id) {
        return;
    } else if (head.type == EMBER_LINK_DATA) {
        accept(head.offset, payload, length);
    } else if (head.type == EMBER_LINK_ACK) {
        acknowledge(&head, payload, length);
    }
}

// ---- to the host -------------------------------------------------------------------

static void put_all(ember_frame_writer_t *writer, const void *data, size_t size) {
    const uint8_t *byte = data;

    for (size_t i = 0; i < size; i++) {
        ember_frame_put(writer, byte[i]);
        if (i % 16 == 15) {
            ember_line_poll();
        }
    }
}

static void begin(ember_frame_writer_t *writer, uint8_t type, uint8_t flags,
                  uint32_t offset) {
    const ember_frame_head_t head = {type, flags, session.id, offset};

    ember_frame_begin(writer, &head);
}

static void finish(ember_frame_writer_t *writer) {
    ember_frame_end(writer);
    ember_line_send();
}

static void send_hello(ember_frame_writer_t *writer) {
    const ember_link_hello_t hello = {EMBER_LINK_VERSION, EMBER_FRAME_PAYLOAD,
                                      EMBER_LINK_WINDOW};

    session.hello_due = false;
    begin(writer, EMBER_LINK_CONNECTED, 0, 0);
    put_all(writer, &hello, sizeof hello);
    finish(writer);
}

static void send_state(ember_frame_writer_t *writer) {
    ember_link_state_t state = {
        .limit = in.taken + EMBER_LINK_WINDOW,
        .sent = out.sent,
        .damaged = ember_line_damaged(),
    };

    memcpy(state.early, in.early, sizeof state.early);
    session.state_due = false;
    in.told = state.limit;
    begin(writer, EMBER_LINK_STATE, in.waiting ? EMBER_LINK_WAITING : 0, in.next);
    put_all(writer, &state, sizeof state);
    finish(writer);
}

static void send_exit(ember_frame_writer_t *writer) {
    session.exit_due = false;
    begin(writer, EMBER_LINK_EXIT, 0, out.written);
    put_all(writer, &session.code, sizeof session.code);
    put_all(writer, session.text, session.text_size);
    finish(writer);
}

static void send_restarted(ember_frame_writer_t *writer) {
    session.restarted_due = false;
    begin(writer, EMBER_LINK_RESTARTED, 0, 0);
    finish(writer);
}

// Sends [offset, end), or as much of it as a frame takes; where that ended.
static uint32_t send_data(ember_frame_writer_t *writer, uint32_t offset, uint32_t end) {
    const uint32_t size = end - offset < out.payload ? end - offset : out.payload;

    begin(writer, EMBER_LINK_DATA, 0, offset);
    for (uint32_t i = 0; i < size; i++) {
        put_all(writer, &out.ring[(offset + i) % OUT_MOST], 1);
        if (i % 16 == 15) {
            ember_line_poll();
        }
    }
    finish(writer);
    return offset + size;
}

// Sends the next piece of what the host lost; false: there is none.
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

static void transmit(void) {
    ember_frame_writer_t *writer = ember_line_writer();

    if (writer == NULL) {
        return;
    }
    if (session.restarted_due) {
        send_restarted(writer);
    } else if (session.hello_due) {
        send_hello(writer);
    } else if (session.state_due) {
        send_state(writer);
    } else if (send_again(writer)) {
        return;
    } else if (out.written - out.sent >= out.payload ||
               (out.flush && out.written != out.sent)) {
        out.sent = send_data(writer, out.sent, out.written);
    } else if (session.exit_due) {
        send_exit(writer);
    }
}

static void serve(void) {
    const uint8_t *body;
    const size_t size = ember_line_receive(&body);

    if (size > 0) {
        handle(body, size);
    }
    transmit();
}

// ---- streams -----------------------------------------------------------------------

void ember_link_open(void) {
    out.payload = EMBER_FRAME_PAYLOAD / 4;
    ember_uart_open();
    while (!session.connected) {
        serve();
    }
}

static void wait_for_data(void) {
    in.waiting = true;
    session.state_due = true;
    out.flush = true;
    while (in.next == in.taken) {
        serve();
    }
    in.waiting = false;
    out.flush = false;
}

void ember_link_read(void *to, size_t size) {
    uint8_t *put = to;

    while (size > 0) {
        if (in.next == in.taken) {
            wait_for_data();
        }
        const uint32_t at = in.taken % EMBER_LINK_WINDOW;
        const uint32_t ready = in.next - in.taken;
        size_t piece = ready < EMBER_LINK_WINDOW - at ? ready : EMBER_LINK_WINDOW - at;
        piece = piece < size ? piece : size;
        if (put != NULL) {
            ember_line_copy(put, in.ring + at, piece);
            put += piece;
        }
        size -= piece;
        in.taken += (uint32_t)piece;
        if (in.taken + EMBER_LINK_WINDOW - in.told >= EMBER_LINK_WINDOW / 4) {
            session.state_due = true;
        }
        serve();
    }
}

void ember_link_write(const void *from, size_t size) {
    const uint8_t *take = from;

    while (size > 0) {
        const uint32_t at = out.written % OUT_MOST;
        const uint32_t free = OUT_MOST - (out.written - out.acknowledged);
        size_t piece = free < OUT_MOST - at ? free : OUT_MOST - at;
        piece = piece < size ? piece : size;
        ember_line_copy(out.ring + at, take, piece);
        take += piece;
        size -= piece;
        out.written += (uint32_t)piece;
        out.flush = piece == 0;
        serve();
    }
    out.flush = false;
}

_Noreturn void ember_link_exit(int32_t code, const char *text, size_t size) {
    session.ended = true;
    session.code = code;
    session.text = text;
    session.text_size = size;
    session.exit_due = true;
    out.flush = true;
    for (;;) {
        serve();
    }
}
