// SPDX-License-Identifier: Apache-2.0
// Values of a bundled program. Internal.
#ifndef EMBER_BUNDLE_VALUE_H
#define EMBER_BUNDLE_VALUE_H

#include "ember/bundle.h"
#include "plan.h"

// Fields of a tensor in the BP08 schema.
enum { BUNDLED_DTYPE, BUNDLED_SIZES, BUNDLED_DATA, BUNDLED_DIM_ORDER };

// Value `index` of a verified vector; BAD_PROGRAM when a tensor contradicts itself.
EMBER_LOCAL EMBER_MUST_USE ember_status_t ember_bundle_value(ember_vector_t values,
                                                             uint32_t index,
                                                             ember_value_t *value,
                                                             ember_error_t *err);

#endif // EMBER_BUNDLE_VALUE_H
