// SPDX-License-Identifier: Apache-2.0
// Segments and bundles, over the contracts of flat.h's accessors.
#include "flat_contract.h"

// Any round of the search for a suite: it keeps nothing of those before but the reader.
#define CUT_SUITES       uint32_t i = nondet_uint32()
#define CUT_SUITES_AGAIN (REACHED("another suite"), ASSUME(false))

#include "bundle.c"
#include "container.c"

// --- contracts -----------------------------------------------------------------------

void ember_flat_begin(ember_flat_t *flat, const ember_bytes_t *bytes,
                      ember_error_t *err) {
    REQUIRE(bytes->data == file_data && bytes->size == file_size);
    any_reader(flat);
    any_layouts(flat, LAYOUT_UNION, UNION_FIELDS);
    any_layouts(flat, LAYOUT_SEGMENT, SEGMENT_FIELDS);
    flat->err = err;
}

const uint8_t *ember_flat_root(ember_flat_t *flat) {
    return table_or_failure(flat);
}

bool ember_flat_is(ember_vector_t string, const char *text) {
    REQUIRE(is_vector(string, FLAT_VEC1) && text != NULL);
    return nondet_bool();
}

int ember_flat_compare(ember_vector_t string, const void *text, uint32_t length) {
    REQUIRE(is_vector(string, FLAT_VEC1));
    proof_readable(text, length);
    return nondet_int32();
}

const uint8_t *ember_flat_union(ember_flat_t *flat, ember_vector_t tables,
                                uint32_t index, uint32_t *tag) {
    REQUIRE(is_vector(tables, FLAT_VEC4));
    (void)index;
    *tag = 1 + nondet_uint8() % UNION_MOST;
    if (nondet_bool()) {
        return any_table();
    }
    *tag = 1;
    return ember_flat_malformed(flat);
}

bool ember_plan_shape(ember_tensor_t *tensor, ember_vector_t sizes,
                      ember_vector_t order) {
    REQUIRE(is_vector(sizes, FLAT_VEC4) && is_vector(order, FLAT_VEC1));
    const uint32_t rank = vector_count(sizes);
    tensor->sizes = (const int32_t *)(const void *)vector_items(sizes);
    tensor->dim_order = vector_items(order);
    tensor->rank = (uint8_t)rank;
    tensor->numel = nondet_uint32();
    ASSUME(tensor->numel <= INT32_MAX);
    return rank <= EMBER_MAX_RANK && vector_count(order) == rank && nondet_bool();
}

void ember_plan_scalar(ember_flat_t *flat, const uint8_t *body, ember_value_t *value) {
    REQUIRE(is_table(body) && value->kind != EMBER_TENSOR);
    may_fail(flat);
}

uint32_t ember_dtype_size(uint32_t dtype) {
    (void)dtype;
    return nondet_bool() ? 0 : 1u << nondet_uint8() % 4; // as prove_dtype shows
}

// --- proofs --------------------------------------------------------------------------

void prove_segment(void) {
    ember_flat_t flat;
    ember_bytes_t segment;
    any_file();
    any_reader(&flat);
    any_layouts(&flat, LAYOUT_SEGMENT, SEGMENT_FIELDS);
    ember_bytes_t all = {NULL, nondet_size()}; // apart from the file
    ASSUME(all.size >= 1 && all.size <= PROOF_BYTES);
    all.data = malloc(all.size);
    const ember_vector_t list = any_vector(FLAT_VEC4);
    if (ember_segment_at(&flat, list, &all, nondet_uint32(), &segment)) {
        REQUIRE(segment.size <= all.size);
        proof_readable(segment.data, segment.size);
        if (segment.size > 1 && segment.data != all.data) {
            REACHED("segment");
        }
    } else {
        REQUIRE(segment.data == NULL && segment.size == 0);
    }
}

void prove_bundle_open(void) {
    ember_bundle_t bundle;
    any_file();
    if (ember_bundle_open(&bundle, file_data, file_size, NULL) == EMBER_OK) {
        REQUIRE(bundle.program.size > 0 && is_vector(bundle.suites, FLAT_VEC4));
        proof_readable(bundle.program.data, bundle.program.size);
        REACHED("bundle");
    }
}

static ember_bundle_t any_bundle(void) {
    any_file();
    return (ember_bundle_t){{file_data, file_size}, any_vector(FLAT_VEC4), {NULL, 0}};
}

void prove_bundle_test_count(void) {
    const ember_bundle_t bundle = any_bundle();
    const uint32_t count = ember_bundle_test_count(&bundle, "forward");
    REQUIRE(count <= file_size / 4);
    if (count > 1) {
        REACHED("tests");
    }
}

void prove_bundle_find(void) {
    const ember_bundle_t bundle = any_bundle();
    const uint32_t index = nondet_uint32();
    ember_bundle_test_t test;
    if (ember_bundle_find(&bundle, "forward", index, &test, NULL) == EMBER_OK) {
        REQUIRE(test.flat.data == file_data && test.flat.size == file_size);
        REQUIRE(is_vector(test.inputs, FLAT_VEC4));
        REQUIRE(is_vector(test.outputs, FLAT_VEC4));
        if (index > 0) {
            REACHED("test");
        }
    }
}

void prove_bundle_value(void) {
    ember_value_t value;
    any_file();
    const ember_bundle_test_t test = {
        {file_data, file_size}, any_vector(FLAT_VEC4), any_vector(FLAT_VEC4)};
    const uint32_t index = nondet_uint32();
    if (ember_bundle_value(&test, test.inputs, index, &value, NULL) == EMBER_OK) {
        REQUIRE(value.kind == EMBER_TENSOR || is_scalar(value.kind));
        if (value.kind == EMBER_TENSOR) {
            const ember_tensor_t *tensor = &value.as_tensor;
            proof_readable(tensor->data, (size_t)tensor->numel * tensor->element_size);
            proof_readable(tensor->sizes, 4 * (size_t)tensor->rank);
            proof_readable(tensor->dim_order, tensor->rank);
            if (tensor->rank > 1 && tensor->numel > 1) {
                REACHED("tensor");
            }
        }
    }
}
