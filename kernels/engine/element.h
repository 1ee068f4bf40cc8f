// SPDX-License-Identifier: Apache-2.0
// Elements of every dtype in, elements of a few compute classes out.
//
// A generic kernel computes in one of three classes: float (for f16, bf16, f32),
// double (f64) and int64_t (integers and bool; uint64_t keeps its bits). Rows of
// elements are read from any dtype into a buffer of the class and back.
#ifndef EMBER_KERNELS_ENGINE_ELEMENT_H
#define EMBER_KERNELS_ENGINE_ELEMENT_H

#include "ember/tensor.h"

typedef enum ember_class {
    EMBER_CLASS_F32,
    EMBER_CLASS_F64,
    EMBER_CLASS_S64,
} ember_class_t;

// One number of any class.
typedef union ember_number {
    float f32;
    double f64;
    int64_t s64;
} ember_number_t;

// Elementary steps (ember_node_work()) of adding one element of any dtype to another,
// element by element.
enum { EMBER_STEPS_ANY = 8 };

// Of a remainder of floats, which takes as many turns as their exponents differ.
enum { EMBER_STEPS_REST = 128 };

// The class in which elements of `dtype` are computed.
ember_class_t ember_class_of(uint32_t dtype);

// Bytes of a number of `class`.
uint32_t ember_class_size(ember_class_t class);

// The dtype whose numbers are exactly those of `class`.
ember_dtype_t ember_class_dtype(ember_class_t class);

// Elements of any dtype in memory, `step` bytes apart.
typedef struct ember_elements {
    void *at;
    uint32_t dtype;
    int32_t step;
} ember_elements_t;

// An array of numbers of `class`.
ember_elements_t ember_elements_of(ember_class_t class, const void *numbers);

// Casts `count` elements, also in place if no step of `to` is longer. Rounds, wraps and
// truncates like PyTorch's casts.
void ember_elements_cast(const ember_elements_t *to, const ember_elements_t *from,
                         uint32_t count);

// Casts a single element.
void ember_element_cast(uint32_t to_dtype, void *to, uint32_t from_dtype,
                        const void *from);

// Reads `count` elements, `step` bytes apart, to the array `to` of `class`.
void ember_elements_load(ember_class_t class, void *to, uint32_t dtype,
                         const void *from, int32_t step, uint32_t count);

// Writes `count` numbers of the array `from` of `class` to elements `step` bytes
// apart, cast as above.
void ember_elements_store(ember_class_t class, const void *from, uint32_t dtype,
                          void *to, int32_t step, uint32_t count);

// Converts an array in place from one class to another; 8 bytes for each number.
void ember_numbers_convert(void *numbers, ember_class_t from, ember_class_t to,
                           uint32_t count);

// An integer as an element of the integer or bool `dtype` would hold it.
int64_t ember_integer_wrap(uint32_t dtype, int64_t number);

float ember_f32_from_f16(uint16_t bits);
uint16_t ember_f16_from_f32(float x);
float ember_f32_from_bf16(uint16_t bits);
uint16_t ember_bf16_from_f32(float x);

#endif // EMBER_KERNELS_ENGINE_ELEMENT_H
