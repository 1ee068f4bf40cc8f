// SPDX-License-Identifier: Apache-2.0
// Kernels and backends of the fuzzer: the build's own and the toys of the unit tests.
#ifndef EMBER_FUZZ_TABLE_H
#define EMBER_FUZZ_TABLE_H

#include "ember/method.h"

extern ember_registry_t fuzz_registry; // filled before main()

#if FUZZ_BUNDLES
#include "ember/bundle.h"

// Runs every test of a bundle's first methods.
void fuzz_check_bundle(const ember_bundle_t *bundle, const ember_program_t *program);
#endif

#endif // EMBER_FUZZ_TABLE_H
