// SPDX-License-Identifier: Apache-2.0
// ETDump: the cost of each instruction of a method, for ExecuTorch's Inspector.
//
//     ember_etdump_start(&dump, &method, &memory, ember_port_cycles);
//     ember_etdump_execute(&dump, &err);         // instead of ember_method_execute()
//     ember_etdump_write(&dump, send, &serial);  // as a file, front to back
//
//  Lifetime  the method and the memory must outlive the dump, which owns nothing and
//            needs no call to end.
//  Threads   one caller at a time, as for the method.
//  Units     bytes; times in ticks of the clock that the caller gives.
//
// Linked only if ember_etdump_start() is called. Not for methods that were prepared at
// build time: they have no instructions to name.
#ifndef EMBER_ETDUMP_H
#define EMBER_ETDUMP_H

#include "ember/event.h"

EMBER_C_BEGIN

// The cost of an instruction, or of a node inside a delegate: the sum of its
// executions.
typedef struct ember_etdump_cost {
    uint64_t ticks;
    uint32_t executions; // 0: never executed
    uint32_t node;       // inside the delegate of the instruction
    uint32_t instruction;
} ember_etdump_cost_t;

// Memory lent to a dump.
typedef struct ember_etdump_memory {
    ember_etdump_cost_t *instructions; // (instruction_count,) of the method's meta
    uint32_t instruction_count;
    ember_etdump_cost_t
        *nodes;              // (node_count,): distinct nodes inside delegates, may be
    uint32_t node_count;     //   NULL and 0; nodes past the end are not in the dump
    const uint32_t *origins; // (instruction_count,): the instruction that the
                             //   Inspector sees for each; NULL: itself. `ember build`
                             //   writes them to 2-selection.json
} ember_etdump_memory_t;

// A counter that rises and wraps at 32 bits, such as ember_port_cycles(). The figure of
// an instruction that takes longer than 2^32 ticks is too low by a multiple of 2^32.
typedef uint32_t (*ember_etdump_clock_fn)(void);

// Receives the next `size` bytes of the file. Returns 0, or anything else on failure.
typedef int32_t (*ember_etdump_write_fn)(void *context, const void *data, size_t size);

// Fields are internal; `executions`, `ticks` and `lost` may be read.
typedef struct ember_etdump {
    ember_method_t *method;
    ember_etdump_memory_t memory;
    ember_etdump_clock_fn clock;
    ember_etdump_cost_t *node; // the executing node; NULL: none, or no room for it
    uint32_t instruction;      // the executing instruction
    uint32_t nodes;            // used entries of memory.nodes
    uint32_t lost;             // executions of nodes for which there was no room
    uint32_t executions;       // successful executions of the method
    uint64_t ticks;            // of all executions
    uint32_t began;
    uint32_t instruction_began;
    uint32_t node_began;
} ember_etdump_t;

// Begins an empty dump; starting again discards what was measured.
//
// EMBER_NO_MEMORY if `memory` has no room for the method's instructions,
// EMBER_BAD_ARGUMENT for a prepared method.
EMBER_MUST_USE ember_status_t ember_etdump_start(ember_etdump_t *dump,
                                                 ember_method_t *method,
                                                 const ember_etdump_memory_t *memory,
                                                 ember_etdump_clock_fn clock);

// ember_method_execute(), measured; costs add up with those of earlier executions. It
// sets the hooks of the method's delegates, and removes them afterwards.
EMBER_MUST_USE ember_status_t ember_etdump_execute(ember_etdump_t *dump,
                                                   ember_error_t *err);

// Bytes that ember_etdump_write() would write now: 40 for each event (two for a call of
// an operator, one for everything else) and the names of the method's operators.
size_t ember_etdump_size(const ember_etdump_t *dump);

// Writes the file (*.etdp) in pieces of at most 64 bytes; the dump stays as it is.
// EMBER_IO if `write` fails; it is not called again.
EMBER_MUST_USE ember_status_t ember_etdump_write(const ember_etdump_t *dump,
                                                 ember_etdump_write_fn write,
                                                 void *context);

EMBER_C_END

#endif // EMBER_ETDUMP_H
