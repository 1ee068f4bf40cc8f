// SPDX-License-Identifier: Apache-2.0
// Opens bundled programs and loads their inputs. Linked only if one is used.
#include "bundle_value.h"

#define BUNDLE_FIELDS (FLAT(1, FLAT_VEC4) | FLAT(2, FLAT_VEC1))
enum { BUNDLE_SUITES, BUNDLE_PROGRAM };
#define SUITE_FIELDS (FLAT(0, FLAT_VEC1) | FLAT(1, FLAT_VEC4))
enum { SUITE_METHOD, SUITE_TESTS };
#define TEST_FIELDS (FLAT(0, FLAT_VEC4) | FLAT(1, FLAT_VEC4))
enum { TEST_INPUTS, TEST_OUTPUTS };
#define BUNDLED_FIELDS                                                                 \
    (FLAT(0, FLAT_U8) | FLAT(1, FLAT_VEC4) | FLAT(2, FLAT_VEC1) | FLAT(3, FLAT_VEC1))
enum { BUNDLED_DTYPE, BUNDLED_SIZES, BUNDLED_DATA, BUNDLED_DIM_ORDER };

enum { LEAST_BUNDLE = 16, BUNDLE_IDENTIFIER_AT = 4 };

ember_status_t ember_bundle_open(ember_bundle_t *bundle, const void *data, size_t size,
                                 ember_error_t *err) {
    const ember_bytes_t flat = {data, size};
    if (data == NULL || ((uintptr_t)data & (EMBER_ALIGN - 1)) != 0) {
        return ember_fail(err, EMBER_BAD_ARGUMENT, "bundle: must be aligned");
    }
    if (size < LEAST_BUNDLE) {
        return ember_fail(err, EMBER_BAD_PROGRAM, "bundle: shorter than its header");
    }
    if (memcmp(flat.data + BUNDLE_IDENTIFIER_AT, "BP08", 4) != 0) {
        return ember_fail(err, EMBER_UNSUPPORTED, "bundle: unsupported schema version");
    }
    ember_flat_t reader;
    ember_flat_begin(&reader, &flat, err);
    ember_field_t root[2];
    ember_flat_read(&reader, ember_flat_root(&reader), BUNDLE_FIELDS, root);
    const ember_vector_t program = root[BUNDLE_PROGRAM].at;
    if (vector_count(program) == 0 ||
        ((uintptr_t)vector_items(program) & (EMBER_ALIGN - 1)) != 0) {
        flat_fail(&reader, EMBER_BAD_PROGRAM,
                  "bundle: its program is missing or misaligned");
    }
    if (reader.status == EMBER_OK) {
        *bundle = (ember_bundle_t){flat,
                                   root[BUNDLE_SUITES].at,
                                   {vector_items(program), vector_count(program)}};
    }
    return reader.status;
}

// The tests of the method called `name`: an empty vector if it has none.
static ember_vector_t find_tests(ember_flat_t *flat, const ember_bundle_t *bundle,
                                 const char *name) {
    ember_field_t suite[2];
    for (uint32_t i = 0; i < vector_count(bundle->suites); i++) {
        ember_flat_read(flat, ember_flat_item(flat, bundle->suites, i), SUITE_FIELDS,
                        suite);
        if (ember_flat_is(suite[SUITE_METHOD].at, name)) {
            return suite[SUITE_TESTS].at;
        }
    }
    return ember_flat_field(flat, NULL, FLAT(0, FLAT_VEC4)).at;
}

uint32_t ember_bundle_test_count(const ember_bundle_t *bundle, const char *name) {
    ember_flat_t flat;
    ember_flat_begin(&flat, &bundle->flat, NULL);
    return vector_count(find_tests(&flat, bundle, name));
}

ember_status_t ember_bundle_find(const ember_bundle_t *bundle, const char *name,
                                 uint32_t index, ember_bundle_test_t *test,
                                 ember_error_t *err) {
    ember_flat_t flat;
    ember_flat_begin(&flat, &bundle->flat, err);
    const ember_vector_t tests = find_tests(&flat, bundle, name);
    ember_field_t fields[2];
    if (index >= vector_count(tests)) {
        flat_fail(&flat, EMBER_NOT_FOUND, "bundle: no such test case");
        return flat.status;
    }
    ember_flat_read(&flat, ember_flat_item(&flat, tests, index), TEST_FIELDS, fields);
    *test = (ember_bundle_test_t){bundle->flat, fields[TEST_INPUTS].at,
                                  fields[TEST_OUTPUTS].at};
    return flat.status;
}

static void read_tensor(ember_flat_t *flat, const uint8_t *body,
                        ember_tensor_t *tensor) {
    ember_field_t fields[4];
    ember_flat_read(flat, body, BUNDLED_FIELDS, fields);
    const ember_vector_t sizes = fields[BUNDLED_SIZES].at;
    const ember_vector_t order = fields[BUNDLED_DIM_ORDER].at;
    const ember_vector_t data = fields[BUNDLED_DATA].at;
    const uint32_t dtype = fields[BUNDLED_DTYPE].number;
    *tensor = (ember_tensor_t){
        .data = (void *)(uintptr_t)vector_items(data),
        .dtype = (uint8_t)dtype,
        .element_size = (uint8_t)ember_dtype_size(dtype),
        .constant = true,
    };
    if (tensor->element_size == 0 || !ember_plan_shape(tensor, sizes, order) ||
        (uint64_t)tensor->numel * tensor->element_size != vector_count(data)) {
        flat_fail(flat, EMBER_BAD_PROGRAM, "bundle: a tensor is malformed");
    }
}

ember_status_t ember_bundle_value(const ember_bundle_test_t *test,
                                  ember_vector_t values, uint32_t index,
                                  ember_value_t *value, ember_error_t *err) {
    static const uint8_t kinds[] = {EMBER_NONE, EMBER_TENSOR, EMBER_INT, EMBER_BOOL,
                                    EMBER_DOUBLE};
    ember_flat_t flat;
    ember_flat_begin(&flat, &test->flat, err);
    uint32_t tag;
    const uint8_t *body = ember_flat_union(&flat, values, index, &tag);
    value->kind = (ember_kind_t)kinds[tag < sizeof(kinds) ? tag : 0];
    if (value->kind == EMBER_TENSOR) {
        read_tensor(&flat, body, &value->as_tensor);
    } else if (value->kind == EMBER_NONE) {
        flat_fail(&flat, EMBER_BAD_PROGRAM, "bundle: a value is malformed");
    } else if (is_number(value->kind)) {
        const ember_field_t bits = ember_flat_field(&flat, body, FLAT(0, FLAT_U64));
        value->as_int = (int64_t)load_u64(bits.at);
    } else {
        ember_plan_scalar(&flat, body, value);
    }
    return flat.status;
}

// A planned input is copied from the bundle; others get memory of their own, because a
// program may write to its inputs.
static ember_status_t lend_memory(const ember_method_t *method, uint32_t index,
                                  ember_tensor_t *tensor, ember_arena_t *arena,
                                  ember_error_t *err) {
    const size_t bytes = ember_tensor_bytes(tensor);
    ember_value_t declared;
    bool planned = false;
    const ember_status_t status =
        ember_method_meta_input(&method->meta, index, &declared, &planned);
    const bool aligned = ((uintptr_t)tensor->data & (tensor->element_size - 1u)) == 0;
    // unreached: `method` was loaded, so its inputs can be read
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
                          "bundle: wrong number of inputs for the method");
    }
    for (uint32_t i = 0; i < vector_count(test->inputs); i++) {
        ember_value_t value;
        ember_status_t status = ember_bundle_value(test, test->inputs, i, &value, err);
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
