// SPDX-License-Identifier: Apache-2.0
// An application to copy: executes any model ten times, on zeros, and writes what its
// instructions took as a file for ExecuTorch's Inspector:
//
//     ember run model.pte --board mps2-an386 --app examples/firmware/etdump.c
#include "ember/etdump.h"
#include "ember/model.h"
#include "ember/port.h"

enum { INSTRUCTIONS = 128, NODES = 64, EXECUTIONS = 10 };

static ember_program_t program;
static ember_method_t method;
static ember_etdump_t dump;
static ember_etdump_cost_t instructions[INSTRUCTIONS]; // 24 bytes each
static ember_etdump_cost_t nodes[NODES];               // inside delegates

static void check(ember_status_t status) {
    if (status != EMBER_OK) {
        ember_port_panic(ember_status_text(status));
    }
}

// Replace by your serial port. Here: a file of the host.
static int32_t send(void *context, const void *data, size_t size) {
    return ember_port_write(*(const int32_t *)context, data, size);
}

int main(void) {
    const ember_etdump_memory_t memory = {instructions, INSTRUCTIONS, nodes, NODES,
                                          NULL};

    check(ember_model_open(&program, NULL));
    check(ember_model_load(&method, &program, NULL, NULL));
    check(ember_etdump_start(&dump, &method, &memory, ember_port_cycles));
    for (int i = 0; i < EXECUTIONS; i++) {
        check(ember_etdump_execute(&dump, NULL));
    }
    int32_t file = ember_port_open("run.etdp", EMBER_PORT_WRITE);
    check(file >= 0 ? EMBER_OK : EMBER_IO);
    check(ember_etdump_write(&dump, send, &file));
    ember_port_close(file);
    ember_port_log("run.etdp is written\n");
    return 0;
}
