// SPDX-License-Identifier: Apache-2.0
// Shapes, strides, layouts, dtypes.
#include <string.h>

#include "check.h"
#include "ember/tensor.h"
#include "plan.h"

static ember_tensor_t make(uint8_t rank, const int32_t *sizes, const uint8_t *order) {
    ember_tensor_t tensor = {.sizes = sizes,
                             .dim_order = order,
                             .numel = 1,
                             .dtype = EMBER_F32,
                             .rank = rank,
                             .element_size = 4};
    for (uint32_t i = 0; i < rank; i++) {
        tensor.numel *= (uint32_t)sizes[i];
    }
    return tensor;
}

static const uint8_t plain[] = {0, 1, 2, 3};
static const uint8_t last[] = {0, 2, 3, 1};

static void dtypes_have_sizes(void) {
#define EXPECT(name, number, size) CHECK_EQ(ember_dtype_size(number), size);
    EMBER_DTYPE_LIST(EXPECT)
#undef EXPECT
    static const uint8_t unknown[] = {8, 9, 10, 12, 13, 14, 16, 17, 22, 26, 30, 255};
    for (size_t i = 0; i < sizeof(unknown); i++) {
        CHECK_EQ(ember_dtype_size(unknown[i]), 0);
    }
    CHECK_EQ(ember_dtype_size(UINT32_MAX), 0);
}

static void strides_follow_the_dim_order(void) {
    static const int32_t sizes[] = {2, 3, 4, 5};
    int32_t strides[4];
    ember_tensor_t tensor = make(4, sizes, plain);
    ember_tensor_strides(&tensor, strides);
    CHECK(strides[0] == 60 && strides[1] == 20 && strides[2] == 5 && strides[3] == 1);
    tensor = make(4, sizes, last);
    ember_tensor_strides(&tensor, strides);
    CHECK(strides[0] == 60 && strides[1] == 1 && strides[2] == 15 && strides[3] == 3);
}

// Whatever the size of an element, those in bytes fit, too.
static void no_elements_have_no_strides(void) {
    static const int32_t sizes[] = {2, 0, INT32_MAX};
    int32_t strides[3];
    const ember_tensor_t tensor = make(3, sizes, plain);
    ember_tensor_strides(&tensor, strides);
    CHECK(strides[0] == 0 && strides[1] == 0 && strides[2] == 0);
}

static void contiguity_ignores_ones(void) {
    static const int32_t sizes[] = {2, 3, 4, 5};
    static const int32_t one_channel[] = {2, 1, 4, 5};
    static const int32_t none[] = {2, 3, 0, 5};
    ember_tensor_t tensor = make(4, sizes, plain);
    CHECK(ember_tensor_is_contiguous(&tensor));
    tensor = make(4, sizes, last);
    CHECK(!ember_tensor_is_contiguous(&tensor));
    tensor = make(4, one_channel, last);
    CHECK(ember_tensor_is_contiguous(&tensor));
    tensor = make(4, none, last);
    CHECK(ember_tensor_is_contiguous(&tensor));
    tensor = make(0, NULL, NULL);
    CHECK(ember_tensor_is_contiguous(&tensor));
}

static void layouts_compare(void) {
    static const int32_t sizes[] = {2, 3, 4, 5};
    static const int32_t one_channel[] = {2, 1, 4, 5};
    static const int32_t ones[] = {1, 1, 1, 1};
    static const int32_t none[] = {2, 3, 0, 5};
    ember_tensor_t a = make(4, sizes, plain);
    ember_tensor_t b = make(4, sizes, last);
    CHECK(ember_tensor_same_shape(&a, &b) && !ember_tensor_same_layout(&a, &b));
    CHECK(ember_tensor_same_layout(&a, &a) && ember_tensor_same_layout(&b, &b));
    a = make(4, one_channel, plain);
    CHECK(!ember_tensor_same_shape(&a, &b));
    b = make(4, one_channel, last);
    CHECK(ember_tensor_same_layout(&a, &b));
    a = make(4, ones, plain);
    b = make(4, ones, last);
    CHECK(ember_tensor_same_layout(&a, &b));
    b = make(3, ones, plain);
    CHECK(!ember_tensor_same_layout(&a, &b));
    a = make(4, none, plain);
    b = make(4, none, last);
    CHECK(ember_tensor_same_layout(&a, &b));
    a = make(0, NULL, NULL);
    CHECK(ember_tensor_same_layout(&a, &a));
}

static void matrices_have_two_orders(void) {
    static const int32_t sizes[] = {2, 3};
    static const uint8_t turned_order[] = {1, 0};
    const ember_tensor_t matrix = make(2, sizes, plain);
    const ember_tensor_t turned = make(2, sizes, turned_order);
    CHECK(ember_tensor_is_contiguous(&matrix));
    CHECK(!ember_tensor_is_contiguous(&turned));
    CHECK(!ember_tensor_same_order(&matrix, &turned));
    CHECK(!ember_tensor_same_layout(&matrix, &turned));
    const ember_tensor_t row = make(1, sizes, NULL); // has one order only
    const ember_tensor_t other = make(1, sizes, plain);
    CHECK(ember_tensor_same_order(&row, &other));
    CHECK(ember_tensor_same_order(&other, &row));
}

// --- shapes of a file ----------------------------------------------------------------

static bool is_counted(int32_t first, int32_t second, uint32_t numel) {
    const int32_t sizes[] = {first, second};
    uint32_t counted = UINT32_MAX;
    return ember_sizes_numel(sizes, 2, &counted) && counted == numel;
}

static void elements_have_a_most(void) {
    CHECK(is_counted(2, 3, 6));
    CHECK(is_counted(INT32_MAX, 1, INT32_MAX));
    CHECK(is_counted(INT32_MAX, 0, 0));
    uint32_t counted;
    static const int32_t wrong[][2] = {{1 << 16, 1 << 15}, {1, -1}, {-1, 0}};
    for (size_t i = 0; i < 3; i++) {
        CHECK(!ember_sizes_numel(wrong[i], 2, &counted));
    }
}

// Whether two sizes and an order of `count` dimensions are a shape.
static bool is_shape(uint32_t first, uint32_t second, uint32_t count, uint8_t outer,
                     uint8_t inner) {
    const uint32_t sizes[] = {2, first, second};
    const uint32_t order[] = {count, outer | (uint32_t)inner << 8};
    ember_tensor_t tensor = {.numel = UINT32_MAX};
    return ember_plan_shape(&tensor, (const uint8_t *)sizes, (const uint8_t *)order) &&
           tensor.numel == first * second && tensor.rank == 2;
}

static void shapes_have_each_dimension_once(void) {
    CHECK(is_shape(2, 3, 2, 0, 1));
    CHECK(is_shape(2, 3, 2, 1, 0));
    CHECK(is_shape(INT32_MAX, 1, 2, 1, 0));
    CHECK(!is_shape(2, 3, 1, 0, 1));
    CHECK(!is_shape(2, 3, 2, 0, 0));
    CHECK(!is_shape(2, 3, 2, 0, 2));
    CHECK(!is_shape(2, 3, 2, 0, 33));
    ember_tensor_t tensor;
    static const uint32_t large[] = {2, 1 << 16, 1 << 15}, order[] = {2, 1 << 8};
    CHECK(!ember_plan_shape(&tensor, (const uint8_t *)large, (const uint8_t *)order));
}

TESTS(TEST(elements_have_a_most), TEST(shapes_have_each_dimension_once),
      TEST(matrices_have_two_orders), TEST(dtypes_have_sizes),
      TEST(strides_follow_the_dim_order), TEST(no_elements_have_no_strides),
      TEST(contiguity_ignores_ones), TEST(layouts_compare))
