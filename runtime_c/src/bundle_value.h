// SPDX-License-Identifier: Apache-2.0
// Values of a bundled program. Internal.
#ifndef EMBER_BUNDLE_VALUE_H
#define EMBER_BUNDLE_VALUE_H

#include "ember/bundle.h"
#include "plan.h"

// Value `index` of a vector of the test; BAD_PROGRAM if it is malformed.
EMBER_LOCAL EMBER_MUST_USE ember_status_t
ember_bundle_value(const ember_bundle_test_t *test, ember_vector_t values,
                   uint32_t index, ember_value_t *value, ember_error_t *err);

#endif // EMBER_BUNDLE_VALUE_H
