// SPDX-License-Identifier: Apache-2.0
// Compares a method's outputs with those that a bundled program expects.
#include "bundle_value.h"

// A float with `exponent` and `fraction` bits, given by its bits, as a double; exact.
static double widen(uint32_t bits, uint32_t exponent, uint32_t fraction) {
    const uint32_t most = (1u << exponent) - 1;
    const uint64_t sign = (uint64_t)(bits >> (exponent + fraction) & 1u) << 63;
    const uint32_t power = bits >> fraction & most;
    uint64_t mantissa = (uint64_t)(bits & ((1u << fraction) - 1)) << (52 - fraction);
    uint64_t scale = power + 1023u - (most >> 1);
    if (power == most) {
        scale = 2047;
    } else if (power == 0) {
        scale = mantissa == 0 ? 0 : scale + 1;
        while (mantissa != 0 && (mantissa >> 52) == 0) {
            mantissa <<= 1;
            scale--;
        }
        mantissa &= (UINT64_C(1) << 52) - 1;
    }
    const uint64_t wide = sign | scale << 52 | mantissa;
    double value;
    memcpy(&value, &wide, sizeof(value));
    return value;
}

static double element(const uint8_t *at, uint32_t dtype) {
    uint16_t half;
    float single;
    double value;
    switch (dtype) {
    case EMBER_F64:
        memcpy(&value, at, sizeof(value));
        return value;
    case EMBER_F32:
        memcpy(&single, at, sizeof(single));
        return (double)single;
    default:
        memcpy(&half, at, sizeof(half));
        return dtype == EMBER_F16 ? widen(half, 5, 10) : widen(half, 8, 7);
    }
}

static bool is_close(double got, double want, double rtol, double atol) {
    if (got == want) {
        return true; // infinities too
    }
    if (got != got || want != want) {
        return got != got && want != want;
    }
    const double gap = got > want ? got - want : want - got;
    const double size = want < 0 ? -want : want;
    return size <= __DBL_MAX__ && gap <= atol + rtol * size;
}

static bool is_float(uint32_t dtype) {
    return dtype == EMBER_F16 || dtype == EMBER_F32 || dtype == EMBER_F64 ||
           dtype == EMBER_BF16;
}

static bool same_element(const uint8_t *got, const uint8_t *want,
                         const ember_tensor_t *tensor, double rtol, double atol) {
    if (!is_float(tensor->dtype)) {
        return memcmp(got, want, tensor->element_size) == 0;
    }
    return is_close(element(got, tensor->dtype), element(want, tensor->dtype), rtol,
                    atol);
}

// Steps both tensors to the next logical element: their dim orders may differ.
static void step(const ember_tensor_t *tensor, int32_t *index, const int32_t *strides,
                 const int32_t *others, int32_t *at, int32_t *other) {
    for (uint32_t dim = tensor->rank; dim-- > 0;) {
        *at += strides[dim];
        *other += others[dim];
        if (++index[dim] < tensor->sizes[dim]) {
            return;
        }
        *at -= strides[dim] * index[dim];
        *other -= others[dim] * index[dim];
        index[dim] = 0;
    }
}

static bool same_tensor(const ember_tensor_t *got, const ember_tensor_t *want,
                        double rtol, double atol) {
    int32_t strides[EMBER_MAX_RANK];
    int32_t others[EMBER_MAX_RANK];
    int32_t index[EMBER_MAX_RANK] = {0};
    int32_t at = 0;
    int32_t other = 0;
    if (got->dtype != want->dtype || !ember_tensor_same_shape(got, want)) {
        return false;
    }
    if (got->data == NULL && got->numel > 0) { // nobody gave it memory
        return false;
    }
    ember_tensor_strides(got, strides);
    ember_tensor_strides(want, others);
    for (uint32_t i = 0; i < got->numel; i++) {
        const uint8_t *a = (const uint8_t *)got->data + at * got->element_size;
        const uint8_t *b = (const uint8_t *)want->data + other * got->element_size;
        if (!same_element(a, b, got, rtol, atol)) {
            return false;
        }
        step(got, index, strides, others, &at, &other);
    }
    return true;
}

static bool same_value(const ember_value_t *got, const ember_value_t *want, double rtol,
                       double atol) {
    if (got->kind != want->kind) {
        return false;
    }
    switch (want->kind) {
    case EMBER_TENSOR:
        return same_tensor(&got->as_tensor, &want->as_tensor, rtol, atol);
    case EMBER_INT:
        return got->as_int == want->as_int;
    case EMBER_BOOL:
        return got->as_bool == want->as_bool;
    default:
        return is_close(got->as_double, want->as_double, rtol, atol);
    }
}

ember_status_t ember_bundle_compare(const ember_bundle_test_t *test,
                                    ember_method_t *method, double rtol, double atol,
                                    ember_error_t *err) {
    for (uint32_t i = 0; i < vector_count(test->outputs); i++) {
        ember_value_t got;
        ember_value_t want;
        ember_status_t status = ember_bundle_value(test, test->outputs, i, &want, err);
        if (status == EMBER_OK && ember_method_output(method, i, &got) != EMBER_OK) {
            status = ember_fail(err, EMBER_BAD_ARGUMENT,
                                "bundle: more outputs than the method has");
        } else if (status == EMBER_OK && !same_value(&got, &want, rtol, atol)) {
            status = ember_fail(err, EMBER_MISMATCH,
                                "bundle: an output differs from the expected one");
        }
        if (status != EMBER_OK) {
            if (err != NULL) {
                err->instruction = i;
            }
            return status;
        }
    }
    return EMBER_OK;
}
