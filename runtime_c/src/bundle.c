// SPDX-License-Identifier: Apache-2.0
// Opening bundled programs and loading their inputs. Linked only where one is used.
#include "bundle_value.h"

enum { BUNDLE_VERSION, BUNDLE_SUITES, BUNDLE_PROGRAM };
enum { SUITE_METHOD, SUITE_TESTS };
enum { TEST_INPUTS, TEST_OUTPUTS };

enum {
    B_BUNDLE,
    B_SUITE,
    B_TEST,
    B_VALUE,
    B_TENSOR, // members of the value, in the order of their tags
    B_INT,
    B_BOOL,
    B_DOUBLE,
    B_COUNT,
};

enum { LEAST_BUNDLE = 16, BUNDLE_IDENTIFIER_AT = 4 };

static const ember_flat_rule_t bundle_rules[] = {
    {FLAT_FIRST | BUNDLE_SUITES, FLAT_TABLES, B_SUITE}, // B_BUNDLE
    {BUNDLE_PROGRAM, FLAT_VEC1, 0},
    {FLAT_FIRST | SUITE_METHOD, FLAT_VEC1, 0}, // B_SUITE
    {SUITE_TESTS, FLAT_TABLES, B_TEST},
    {FLAT_FIRST | TEST_INPUTS, FLAT_TABLES, B_VALUE}, // B_TEST
    {TEST_OUTPUTS, FLAT_TABLES, B_VALUE},
    {FLAT_FIRST | VALUE_BODY, FLAT_UNION + 4, B_TENSOR}, // B_VALUE
    {VALUE_TAG, FLAT_U8, 0},
    {FLAT_FIRST | BUNDLED_SIZES, FLAT_VEC4, 0}, // B_TENSOR
    {BUNDLED_DATA, FLAT_VEC1, 0},
    {BUNDLED_DIM_ORDER, FLAT_VEC1, 0},
    {BUNDLED_DTYPE, FLAT_U8, 0},
    {FLAT_FIRST | BODY_ITEM, FLAT_U64, 0}, // B_INT
    {FLAT_FIRST | BODY_ITEM, FLAT_U8, 0},  // B_BOOL
    {FLAT_FIRST | BODY_ITEM, FLAT_U64, 0}, // B_DOUBLE
    {FLAT_FIRST, 0, 0},
};

static const ember_flat_schema_t schema = {bundle_rules, B_COUNT};

ember_status_t ember_bundle_open(ember_bundle_t *bundle, const void *data, size_t size,
                                 ember_error_t *err) {
    const uint8_t *bytes = data;
    if (bytes == NULL || ((uintptr_t)bytes & (EMBER_ALIGN - 1)) != 0) {
        return ember_fail(err, EMBER_BAD_ARGUMENT, "bundle: must be aligned");
    }
    if (size < LEAST_BUNDLE) {
        return ember_fail(err, EMBER_BAD_PROGRAM, "bundle: shorter than its header");
    }
    if (memcmp(bytes + BUNDLE_IDENTIFIER_AT, "BP08", 4) != 0) {
        return ember_fail(err, EMBER_UNSUPPORTED, "bundle: not of this schema version");
    }
    const uint8_t *root = ember_flat_verify((ember_bytes_t){bytes, size}, &schema);
    if (root == NULL) {
        return ember_fail(err, EMBER_BAD_PROGRAM, "bundle: malformed FlatBuffer");
    }
    const ember_vector_t program = ember_flat_vector(root, BUNDLE_PROGRAM);
    if (vector_count(program) == 0 ||
        ((uintptr_t)vector_items(program) & (EMBER_ALIGN - 1)) != 0) {
        return ember_fail(err, EMBER_BAD_PROGRAM,
                          "bundle: its program is missing or misaligned");
    }
    *bundle = (ember_bundle_t){root, {vector_items(program), vector_count(program)}};
    return EMBER_OK;
}

// The tests of the method called `name`, or NULL.
static const uint8_t *find_suite(const ember_bundle_t *bundle, const char *name) {
    const ember_vector_t suites = ember_flat_vector(bundle->root, BUNDLE_SUITES);
    for (uint32_t i = 0; i < vector_count(suites); i++) {
        const uint8_t *suite = vector_table(suites, i);
        if (ember_flat_is(suite, SUITE_METHOD, name)) {
            return suite;
        }
    }
    return NULL;
}

uint32_t ember_bundle_test_count(const ember_bundle_t *bundle, const char *name) {
    const uint8_t *suite = find_suite(bundle, name);
    return suite != NULL ? vector_count(ember_flat_vector(suite, SUITE_TESTS)) : 0;
}

ember_status_t ember_bundle_find(const ember_bundle_t *bundle, const char *name,
                                 uint32_t index, ember_bundle_test_t *test,
                                 ember_error_t *err) {
    if (index >= ember_bundle_test_count(bundle, name)) {
        return ember_fail(err, EMBER_NOT_FOUND, "bundle: no such test case");
    }
    const uint8_t *suite = find_suite(bundle, name);
    const uint8_t *table = vector_table(ember_flat_vector(suite, SUITE_TESTS), index);
    *test = (ember_bundle_test_t){
        .inputs = ember_flat_vector(table, TEST_INPUTS),
        .outputs = ember_flat_vector(table, TEST_OUTPUTS),
    };
    return EMBER_OK;
}

static bool is_permutation(const uint8_t *order, uint32_t rank) {
    uint32_t seen = 0;
    for (uint32_t i = 0; i < rank; i++) {
        seen |= order[i] < rank ? 1u << order[i] : 0;
    }
    return seen == (1u << rank) - 1;
}

static ember_status_t read_tensor(const uint8_t *body, ember_tensor_t *tensor,
                                  ember_error_t *err) {
    const ember_vector_t sizes = ember_flat_vector(body, BUNDLED_SIZES);
    const ember_vector_t order = ember_flat_vector(body, BUNDLED_DIM_ORDER);
    const ember_vector_t data = ember_flat_vector(body, BUNDLED_DATA);
    const uint32_t dtype = ember_flat_u8(body, BUNDLED_DTYPE);
    const uint32_t rank = vector_count(sizes);
    *tensor = (ember_tensor_t){
        .data = (void *)(uintptr_t)vector_items(data),
        .sizes = (const int32_t *)__builtin_assume_aligned(vector_items(sizes), 4),
        .dim_order = vector_items(order),
        .dtype = (uint8_t)dtype,
        .rank = (uint8_t)rank,
        .element_size = (uint8_t)ember_dtype_size(dtype),
        .constant = true,
    };
    if (rank > EMBER_MAX_RANK || tensor->element_size == 0 ||
        !ember_sizes_numel(tensor->sizes, rank, &tensor->numel) ||
        (uint64_t)tensor->numel * tensor->element_size != vector_count(data) ||
        vector_count(order) != rank || !is_permutation(tensor->dim_order, rank)) {
        return ember_fail(err, EMBER_BAD_PROGRAM, "bundle: a tensor is malformed");
    }
    return EMBER_OK;
}

ember_status_t ember_bundle_value(ember_vector_t values, uint32_t index,
                                  ember_value_t *value, ember_error_t *err) {
    static const uint8_t kinds[] = {EMBER_TENSOR, EMBER_INT, EMBER_BOOL, EMBER_DOUBLE};
    const uint8_t *item = vector_table(values, index);
    const uint8_t *body = ember_flat_table(item, VALUE_BODY);
    value->kind = (ember_kind_t)kinds[ember_flat_u8(item, VALUE_TAG) - 1];
    if (value->kind == EMBER_TENSOR) {
        return read_tensor(body, &value->as_tensor, err);
    }
    ember_plan_scalar(body, value);
    return EMBER_OK;
}

// A planned input is copied from where it lies; others get memory of their own,
// because a program may write to its inputs.
static ember_status_t lend_memory(const ember_method_t *method, uint32_t index,
                                  ember_tensor_t *tensor, ember_arena_t *arena,
                                  ember_error_t *err) {
    const size_t bytes = ember_tensor_bytes(tensor);
    ember_value_t declared;
    bool planned = false;
    const ember_status_t status =
        ember_method_meta_input(&method->meta, index, &declared, &planned);
    const bool aligned = ((uintptr_t)tensor->data & (tensor->element_size - 1u)) == 0;
    if (status != EMBER_OK || (planned && aligned)) {
        return status;
    }
    void *copy = ember_arena_alloc(arena, bytes, EMBER_ALIGN);
    if (copy == NULL) {
        return ember_fail(err, EMBER_NO_MEMORY, "bundle: no room for an input");
    }
    tensor->data = memcpy(copy, tensor->data, bytes);
    return EMBER_OK;
}

ember_status_t ember_bundle_load_inputs(const ember_bundle_test_t *test,
                                        ember_method_t *method, ember_arena_t *arena,
                                        ember_error_t *err) {
    if (vector_count(test->inputs) != method->meta.input_count) {
        return ember_fail(err, EMBER_BAD_ARGUMENT,
                          "bundle: another number of inputs than the method takes");
    }
    for (uint32_t i = 0; i < vector_count(test->inputs); i++) {
        ember_value_t value;
        ember_status_t status = ember_bundle_value(test->inputs, i, &value, err);
        if (status == EMBER_OK && value.kind == EMBER_TENSOR) {
            status = lend_memory(method, i, &value.as_tensor, arena, err);
        }
        if (status == EMBER_OK) {
            status = ember_method_set_input(method, i, &value, err);
        }
        if (status != EMBER_OK) {
            return status;
        }
    }
    return EMBER_OK;
}
