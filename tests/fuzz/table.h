// SPDX-License-Identifier: Apache-2.0
// Kernels and backends of the fuzzer: the build's own and the toys of the unit tests.
#ifndef EMBER_FUZZ_TABLE_H
#define EMBER_FUZZ_TABLE_H

#include "ember/method.h"

extern ember_registry_t fuzz_registry; // filled before main()

#endif // EMBER_FUZZ_TABLE_H
