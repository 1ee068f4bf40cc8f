// SPDX-License-Identifier: Apache-2.0
// See table.h.
#include "table.h"

#include <stdlib.h>
#include <string.h>

#include "toys.h"

extern const ember_operators_t ember_operators;
extern const ember_backends_t ember_backends;

static ember_operators_t all;
ember_registry_t fuzz_registry = {&all, &ember_backends, &ember_changing};

static int compare(const void *a, const void *b) {
    return strcmp(((const ember_operator_t *)a)->name,
                  ((const ember_operator_t *)b)->name);
}

__attribute__((constructor)) static void merge(void) {
    const uint32_t count = toy_operators.count + ember_operators.count;
    ember_operator_t *items = malloc(count * sizeof(*items));
    memcpy(items, toy_operators.items, toy_operators.count * sizeof(*items));
    memcpy(items + toy_operators.count, ember_operators.items,
           ember_operators.count * sizeof(*items));
    qsort(items, count, sizeof(*items), compare);
    all = (ember_operators_t){items, count};
}
