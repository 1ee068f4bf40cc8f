// SPDX-License-Identifier: Apache-2.0
// Which blocks of code ran, and after which: what an estimate of cycles takes.
//
// Between the lines of two accesses to the marks stand those of what ran meanwhile:
//
//   b <block> <address> <instructions> <bytes>   when it is first named; hexadecimal
//   e <block> <next block> <times>               decimal
//
// The block that accesses a mark belongs to what ran before the access.
#ifndef EMBER_PLUGIN_BLOCKS_H
#define EMBER_PLUGIN_BLOCKS_H
#include "qemu.h"
#include <stdio.h>

// Has every execution of the block counted.
void blocks_watch(struct qemu_plugin_tb *block);

// Writes what ran since the last call.
void blocks_flush(FILE *out);

#endif
