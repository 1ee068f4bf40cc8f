// SPDX-License-Identifier: Apache-2.0
// The protocol between the SDK and the test runner: two streams of records, one in each
// direction. sdk/ember/cases/batch.py is the other side.
//
//     record  u32 kind, u32 length, length bytes
//
//  Little endian. Lengths are multiples of 4, so that a slow link needs no framing of
//  its own. To the runner:
//
//      HELLO   ember_batch_hello_t. The runner stops if the version is not its own
//      CASE    ember_batch_case_t; u32 sizes[1 + data_count] of the program and its
//              data files; the names of its methods, each with a NUL; then program and
//              files, each at a multiple of 16 in the record. If the program is linked
//              into the runner, there are no sizes and no files.
//              `run_count` RUN records follow
//      DEAD    ember_batch_dead_head_t, then its ranges: one record for each method, in
//              order, before the RUN records. Only in a case with the flag POISON
//      WATCH   ember_batch_watch_head_t, then its watches: one record for each method,
//              in order, before the RUN records. Only in a case with the flag CAPTURE
//      RUN     ember_batch_run_t, then the inputs (values.h) unless the case is a
//              bundle. With the flag FED, feeds follow: ember_batch_feed_t, then for
//              each of its values an ember_batch_fed_t and its bytes, padded with zeros
//              to a multiple of 4; the last feed has the event EMBER_BATCH_NO_EVENT
//     END     nothing
//
// From the runner, the results of each case in order:
//
//     HELLO   ember_batch_hello_t
//      CYCLES  ember_batch_cycles_t, then an ember_batch_node_t for each instruction of
//              the method. Before the OUTPUT of each run of a case with the flag TIMED
//      NODE    ember_batch_captured_t; the values (values.h) follow the record. One for
//              what is watched before an instruction, one for what is watched after it,
//              and in between one for each output of each node of a delegate whose call
//              is watched
//      OUTPUT  ember_batch_output_t; the outputs (values.h) follow the record. One for
//              each successful run
//      RESULT  ember_batch_result_t, then the error message. The last record of a case
//     END     ember_batch_end_t
#ifndef EMBER_APP_BATCH_H
#define EMBER_APP_BATCH_H

#include <stdint.h>

enum { EMBER_BATCH_VERSION = 5, EMBER_BATCH_ALIGN = 16 };

enum {
    EMBER_BATCH_HELLO = 1,
    EMBER_BATCH_CASE = 2,
    EMBER_BATCH_RUN = 3,
    EMBER_BATCH_END = 4,
    EMBER_BATCH_OUTPUT = 5,
    EMBER_BATCH_RESULT = 6,
    EMBER_BATCH_DEAD = 7,
    EMBER_BATCH_CYCLES = 8,
    EMBER_BATCH_WATCH = 9,
    EMBER_BATCH_NODE = 10,
};

// Where a case failed.
enum {
    EMBER_BATCH_READ,    // the case is larger than the memory
    EMBER_BATCH_OPEN,    // the program or a data file
    EMBER_BATCH_LOAD,    // `which` method
    EMBER_BATCH_INPUTS,  // of `which` run
    EMBER_BATCH_EXECUTE, // `which` run
    EMBER_BATCH_CHECK,   // what the bundle expects of `which` run
    EMBER_BATCH_DONE,
};

// Flags of a case.
enum {
    EMBER_BATCH_BUNDLE = 1,
    EMBER_BATCH_LINKED = 2,
    EMBER_BATCH_POISON = 4,
    EMBER_BATCH_TIMED = 8,    // instead of POISON
    EMBER_BATCH_CAPTURE = 16, // instead of POISON and TIMED
    EMBER_BATCH_FED = 32,     // only with CAPTURE
};

#define EMBER_BATCH_UNKNOWN  UINT64_MAX // bytes
#define EMBER_BATCH_NO_EVENT UINT32_MAX
#define EMBER_BATCH_NO_NODE  UINT32_MAX

typedef struct ember_batch_head {
    uint32_t kind;
    uint32_t length; // bytes
} ember_batch_head_t;

typedef struct ember_batch_hello {
    uint32_t version;
    uint32_t pointer; // bytes; 0 from the SDK
    uint64_t memory;  // bytes for cases; 0 from the SDK
} ember_batch_hello_t;

typedef struct ember_batch_case {
    uint32_t index; // the SDK's; comes back with the results
    uint32_t flags;
    uint32_t linked; // index of the linked program; its data files follow
    uint32_t data_count;
    uint32_t method_count;
    uint32_t run_count;
    uint32_t names_size; // bytes, with padding to a multiple of 4
    uint32_t reserved;
    uint64_t budget; // steps of one execution; 0: no limit; UNKNOWN: ample
} ember_batch_case_t;

typedef struct ember_batch_run {
    uint32_t method; // index in the case's names
    uint32_t test;   // of a bundle: the test case of that method
    double rtol;     // for the runtime's own check of a bundle
    double atol;
    uint32_t reset; // 1: all methods start again at their initial states
    uint32_t reserved;
} ember_batch_run_t;

typedef struct ember_batch_dead_head {
    uint32_t count; // ranges
    uint32_t fill;  // the byte that overwrites them
} ember_batch_dead_head_t;

// Bytes [start, end) of a planned memory that no instruction from `first` to `last`
// needs, each taken just before it executes. The number of instructions stands for the
// exit.
typedef struct ember_batch_dead {
    uint32_t memory_id;
    uint32_t start;
    uint32_t end;
    uint32_t first;
    uint32_t last;
} ember_batch_dead_t;

// An event is the execution of an instruction, counted over all runs of a case.
typedef struct ember_batch_watch_head {
    uint32_t count; // of the watches, which are sorted
    uint32_t first; // event from which NODE records are written
    uint64_t room;  // bytes of NODE records after which no more are written
    uint32_t fill;  // the byte that overwrites scratch before each instruction
    uint32_t reserved;
} ember_batch_watch_head_t;

typedef struct ember_batch_watch {
    uint32_t moment; // 2 * instruction, and 1 for after it
    uint32_t value;
} ember_batch_watch_t;

// Values that replace what the board computed, just before an event.
typedef struct ember_batch_feed {
    uint32_t event;
    uint32_t count; // of values
} ember_batch_feed_t;

typedef struct ember_batch_fed {
    uint32_t value;
    uint32_t bytes; // if it is not the tensor's size, the tensor stays as it is
} ember_batch_fed_t;

typedef struct ember_batch_captured {
    uint32_t index;
    uint32_t run;
    uint32_t event;
    uint32_t moment; // as in a watch
    uint32_t node;   // inside the delegate, or EMBER_BATCH_NO_NODE
} ember_batch_captured_t;

typedef struct ember_batch_cycles {
    uint32_t index;
    uint32_t run;
    uint32_t whole; // cycles of the execution, counting included
    uint32_t count; // of the nodes that follow
} ember_batch_cycles_t;

typedef struct ember_batch_node {
    uint32_t cycles; // of all executions; modulo 2^32
    uint32_t executions;
} ember_batch_node_t;

typedef struct ember_batch_output {
    uint32_t index;
    uint32_t run;
    int32_t verdict; // of the runtime's own check, ember_status_t; OK without a bundle
    uint32_t output; // the first that differs
} ember_batch_output_t;

typedef struct ember_batch_result {
    uint32_t index;
    int32_t status; // ember_status_t
    uint32_t stage;
    uint32_t which;
    uint32_t instruction;    // EMBER_NO_INSTRUCTION: none
    uint32_t message_length; // bytes, without padding
    uint64_t needed;         // with NO_MEMORY: at least this many bytes, or UNKNOWN
    uint64_t method;         // bytes of all method arenas
    uint64_t planned;        // bytes of all planned memories
    uint64_t scratch;        // bytes of the largest node
    uint64_t used;           // bytes of memory in all, programs and inputs included
    uint64_t work;           // bound of the steps of all runs
} ember_batch_result_t;

typedef struct ember_batch_end {
    uint64_t stack_size; // 0: unknown
    uint64_t stack_used;
} ember_batch_end_t;

#endif // EMBER_APP_BATCH_H
