// SPDX-License-Identifier: Apache-2.0
// Two byte streams over a line that loses, flips and inserts bytes. Internal;
// sdk/ember/hil/link.py is the other side, docs/hil.md describes the protocol.
//
// The host drives the protocol, because it has the clock: this side has no timers. It
// keeps the last bytes that it wrote until the host has them, and reports what it has.
//
//      to the board     CONNECT   flags: version. Begins a session; during another one
//                                 the board resets itself first
//                       DATA      a part of the stream
//                       ACK       offset: everything before it has arrived. Payload
//                                 ember_link_ack_t
//      from the board   CONNECTED payload ember_link_hello_t
//                       DATA
//                       STATE     offset: everything before it has arrived. Payload
//                                 ember_link_state_t
//                       EXIT      offset: length of the stream. Payload: u32 status,
//                                 then the text of the log
//                       RESTARTED the board was reset and has no session
#ifndef EMBER_PORT_UART_LINK_H
#define EMBER_PORT_UART_LINK_H

#include "frame.h"

enum { EMBER_LINK_VERSION = 1 };

enum {
    EMBER_LINK_CONNECT = 1,
    EMBER_LINK_DATA,
    EMBER_LINK_ACK,
    EMBER_LINK_CONNECTED,
    EMBER_LINK_STATE,
    EMBER_LINK_EXIT,
    EMBER_LINK_RESTARTED,
};

// Flags of an ACK, and of a STATE.
enum { EMBER_LINK_TELL = 1 };    // asks for a STATE
enum { EMBER_LINK_WAITING = 1 }; // everything that arrived was read, and more is wanted

enum {
    EMBER_LINK_BLOCK = 32, // bytes; early data is kept in whole aligned blocks
    EMBER_LINK_BLOCKS = EMBER_LINK_WINDOW / EMBER_LINK_BLOCK,
    EMBER_LINK_AGAIN = 6,
};

typedef struct ember_link_hello {
    uint16_t version;
    uint16_t payload; // bytes of a frame at most
    uint32_t window;  // bytes
} ember_link_hello_t;

typedef struct ember_link_state {
    uint32_t limit; // the host may not send from here on
    uint32_t sent;  // bytes of the board's stream
    uint16_t damaged;
    uint16_t answered;                      // number of the last ACK
    uint32_t early[EMBER_LINK_BLOCKS / 32]; // bit i: block i modulo BLOCKS is early
} ember_link_state_t;

typedef struct ember_link_range {
    uint32_t start;
    uint32_t end;
} ember_link_range_t;

typedef struct ember_link_ack {
    uint16_t payload; // bytes that frames should have
    uint8_t count;    // of ranges; 0: those of the last ACK stay
    uint8_t number;
    ember_link_range_t again[EMBER_LINK_AGAIN]; // lost: to be sent again; only `count`
} ember_link_ack_t;

// Switches the line on and waits for a host.
void ember_link_open(void);

// The next `size` bytes of the host's stream; if `to` is NULL they are skipped.
void ember_link_read(void *to, size_t size);

// Appends to the board's stream.
void ember_link_write(const void *from, size_t size);

// Ends the session with an exit status and at most EMBER_FRAME_PAYLOAD - 4 bytes of
// text. The firmware restarts when the next session begins.
_Noreturn void ember_link_exit(int32_t code, const char *text, size_t size);

#endif // EMBER_PORT_UART_LINK_H
