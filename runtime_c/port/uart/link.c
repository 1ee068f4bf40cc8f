// SPDX-License-Identifier: Apache-2.0
// Two streams over a line that loses bytes; link.h. Frames from the line are untrusted:
// whatever their numbers, only the rings below are written.
#include "link.h"

#include "line.h"
#include "link_parts.h"
#include "machine.h"
#include "uart.h"

#include <string.h>

static struct {
    uint16_t id;
    uint8_t answered; // number of the last ACK
    bool connected;
    bool waiting; // for the host's next bytes
    bool flush;   // send what is written, even if the frame is not full
    bool ended;
    bool hello_due;
    bool state_due;
    bool exit_due;
    bool restarted_due;
    int32_t code;
    const char *text;
    size_t text_size;
} session;

// ---- from the host -----------------------------------------------------------------

static void acknowledge(const ember_frame_head_t *head, const uint8_t *data,
                        uint32_t size) {
    ember_link_ack_t ack = {0};

    if (size < sizeof ack - sizeof ack.again || size > sizeof ack) {
        return;
    }
    memcpy(&ack, data, size);
    ember_link_out_acknowledge(head->offset, &ack);
    session.answered = ack.number;
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
        session.state_due = true;
        ember_link_in_accept(head.offset, payload, length);
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

void ember_link_begin(ember_frame_writer_t *writer, uint8_t type, uint8_t flags,
                      uint32_t offset) {
    const ember_frame_head_t head = {type, flags, session.id, offset};

    ember_frame_begin(writer, &head);
}

void ember_link_finish(ember_frame_writer_t *writer) {
    ember_frame_end(writer);
    ember_line_send();
}

static void send_hello(ember_frame_writer_t *writer) {
    const ember_link_hello_t hello = {EMBER_LINK_VERSION, EMBER_FRAME_PAYLOAD,
                                      EMBER_LINK_WINDOW};

    session.hello_due = false;
    ember_link_begin(writer, EMBER_LINK_CONNECTED, 0, 0);
    put_all(writer, &hello, sizeof hello);
    ember_link_finish(writer);
}

static void send_state(ember_frame_writer_t *writer) {
    ember_link_state_t state = {
        .sent = ember_link_out_sent(),
        .damaged = ember_line_damaged(),
        .answered = session.answered,
    };
    const uint32_t next = ember_link_in_tell(&state);

    session.state_due = false;
    ember_link_begin(writer, EMBER_LINK_STATE, session.waiting ? EMBER_LINK_WAITING : 0,
                     next);
    put_all(writer, &state, sizeof state);
    ember_link_finish(writer);
}

static void send_exit(ember_frame_writer_t *writer) {
    session.exit_due = false;
    ember_link_begin(writer, EMBER_LINK_EXIT, 0, ember_link_out_written());
    put_all(writer, &session.code, sizeof session.code);
    put_all(writer, session.text, session.text_size);
    ember_link_finish(writer);
}

static void send_restarted(ember_frame_writer_t *writer) {
    session.restarted_due = false;
    ember_link_begin(writer, EMBER_LINK_RESTARTED, 0, 0);
    ember_link_finish(writer);
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
    } else if (!ember_link_out_send(writer, session.flush) && session.exit_due) {
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
    ember_machine_map(ember_uart.base);
    ember_uart_open();
    while (!session.connected) {
        serve();
    }
}

static void wait_for_data(void) {
    session.waiting = true;
    session.flush = true;
    session.state_due = true;
    while (ember_link_in_is_empty()) {
        serve();
    }
    session.waiting = false;
    session.flush = false;
}

void ember_link_read(void *to, size_t size) {
    uint8_t *put = to;

    while (size > 0) {
        if (ember_link_in_is_empty()) {
            wait_for_data();
        }
        const size_t piece = ember_link_in_take(put, size);
        put = put != NULL ? put + piece : NULL;
        size -= piece;
        session.state_due = session.state_due || ember_link_in_has_room();
        serve();
    }
}

void ember_link_write(const void *from, size_t size) {
    const uint8_t *take = from;

    while (size > 0) {
        const size_t piece = ember_link_out_put(take, size);
        take += piece;
        size -= piece;
        session.flush = piece == 0;
        serve();
    }
    session.flush = false;
}

_Noreturn void ember_link_exit(int32_t code, const char *text, size_t size) {
    session.ended = true;
    session.code = code;
    session.text = text;
    session.text_size = size;
    session.exit_due = true;
    session.flush = true;
    for (;;) {
        serve();
    }
}
