// SPDX-License-Identifier: Apache-2.0
// Which memories were accessed, and in what widths: what an estimate of cycles adds for
// memories that are not as fast as the core.
//
//   t <range> <r|w> <bytes> <times>
//
// in the order of the ranges, from 0. Accesses of an instruction to addresses in a row
// are one access of up to 128 bytes: the emulator moves a vector byte by byte.
#ifndef EMBER_PLUGIN_TRAFFIC_H
#define EMBER_PLUGIN_TRAFFIC_H
#include "qemu.h"
#include <stdio.h>

void traffic_add_range(uint64_t low, uint64_t end);

// `block` and `place` tell one execution of an instruction from another.
void traffic_count(uint64_t block, uint64_t place, qemu_plugin_meminfo_t info,
                   uint64_t address);

// Writes what was accessed since the last call.
void traffic_flush(FILE *out);

#endif
