// SPDX-License-Identifier: Apache-2.0
// Calls with the argument list of another version of their operator.
#include <string.h>

#include "check.h"
#include "ember/kernels.h"
#include "subject.h"

enum { X, LIST, LOW, EXTRA, FLAG, Y, ALL };

// What the kernel was told last.
typedef struct seen {
    uint32_t count;
    uint32_t prepares;
    int64_t item;
    int32_t low;
    ember_kind_t extra;
    bool flag;
    uint32_t elements;
} seen_t;

static seen_t seen;

static ember_status_t prepare(ember_node_t *node, void *state) {
    ember_tensor_t x;
    ember_tensor_t y;

    (void)state;
    ember_node_tensor(node, X, &x);
    ember_node_output_like(node, Y, &x, &y);
    seen.count = ember_node_arg_count(node);
    seen.item = ember_node_list_int(node, LIST, 0);
    seen.low = ember_node_int_in(node, LOW, INT8_MIN, INT8_MAX);
    seen.extra = ember_node_kind(node, EXTRA);
    seen.flag = ember_node_bool(node, FLAG);
    seen.elements = y.numel;
    seen.prepares++;
    return ember_node_status(node);
}

static int32_t run(void *state) {
    (void)state;
    return EMBER_OK;
}

// --- the table, as the SDK generates it
// -----------------------------------------------

static const ember_kernel_t kernel = {prepare, run, 16, "scaled"};
static const uint16_t earlier_kinds[] = {4, 1 << EMBER_TENSOR, 1 << EMBER_TENSOR,
                                         1 << EMBER_INT_LIST, 1 << EMBER_TENSOR};
static const uint32_t earlier_args[] = {7,
                                        EMBER_SCHEMA_ARGUMENT(0),
                                        EMBER_SCHEMA_ARGUMENT(1),
                                        EMBER_SCHEMA_CONSTANT(EMBER_INT, -128),
                                        EMBER_SCHEMA_CONSTANT(EMBER_NONE, 0),
                                        EMBER_SCHEMA_CONSTANT(EMBER_BOOL, 1),
                                        EMBER_SCHEMA_ARGUMENT(2),
                                        EMBER_SCHEMA_ARGUMENT(3)};
static const uint16_t own_kinds[] = {7, 4094, 4094, 4094, 4094, 4094, 4094, 4094};
static const uint32_t own_args[] = {7,
                                    EMBER_SCHEMA_ARGUMENT(0),
                                    EMBER_SCHEMA_ARGUMENT(1),
                                    EMBER_SCHEMA_ARGUMENT(2),
                                    EMBER_SCHEMA_ARGUMENT(3),
                                    EMBER_SCHEMA_ARGUMENT(4),
                                    EMBER_SCHEMA_ARGUMENT(5),
                                    EMBER_SCHEMA_ARGUMENT(6)};
static const ember_schema_t lists[] = {
    {earlier_kinds, earlier_args}, {own_kinds, own_args}, {0, 0}};
static const struct {
    ember_schemas_t schemas;
    const ember_kernel_t *candidates[2];
} several = {{ember_schemas_prepare, lists}, {&kernel, 0}};

// A kernel of images (N, C, H, W), at most so many sizes of its output.
typedef struct image {
    ember_tensor_t x;
    ember_tensor_t y;
    int32_t x_sizes[4];
    int32_t y_sizes[4];
    int32_t x_strides[4];
    uint32_t other; // elements of a tensor beside the images
    uint32_t prepares;
} image_t;

static image_t image;

// What the kernel asks of its output, and of a tensor beside the images.
static enum { LIKE_IMAGE, RANK_3, LARGER, BESIDE_ANOTHER } asked;

static void ask_output(ember_node_t *node) {
    static const int32_t five = 5;
    const int32_t larger[4] = {image.x.sizes[0], image.x.sizes[1], image.x.sizes[2] + 1,
                               image.x.sizes[3]};
    ember_tensor_t other;
    switch (asked) {
    case LIKE_IMAGE:
        ember_node_output_like(node, 2, &image.x, &image.y);
        break;
    case RANK_3:
        ember_node_output(node, 2, 3, image.x.sizes, &image.y);
        break;
    case LARGER:
        ember_node_output(node, 2, 4, larger, &image.y);
        break;
    case BESIDE_ANOTHER:
        ember_node_output(node, 2, 1, &five, &other);
        image.other = other.numel;
        ember_node_output_like(node, 3, &image.x, &image.y);
        break;
    }
}

static ember_status_t prepare_image(ember_node_t *node, void *state) {
    (void)state;
    ember_node_tensor(node, 0, &image.x);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    ask_output(node);
    if (ember_node_status(node) != EMBER_OK) {
        return ember_node_status(node);
    }
    memcpy(image.x_sizes, image.x.sizes, sizeof(image.x_sizes));
    memcpy(image.y_sizes, image.y.sizes, sizeof(image.y_sizes));
    ember_tensor_strides(&image.x, image.x_strides);
    image.prepares++;
    return ember_node_int(node, 1) == 3 ? EMBER_OK : EMBER_BAD_PROGRAM;
}

static const ember_kernel_t turned = {prepare_image, run, 16, "turned"};
static const struct {
    ember_schemas_t schemas;
    const ember_kernel_t *candidates[2];
} images = {{ember_images_prepare, NULL}, {&turned, 0}};
static const ember_operator_t items[] = {
    {"toy::scaled.out", several.candidates, 4, 7, EMBER_OP_SCHEMAS},
    {"toy::turned.out", images.candidates, 4, 5, EMBER_OP_SCHEMAS},
};
static const ember_operators_t operators = {items, 2};
static const ember_registry_t registry = {&operators, NULL, &ember_changing};
static const ember_registry_t fixed = {&operators, NULL, NULL};

static ember_status_t load(subject_t *subject, const char *name,
                           const ember_registry_t *with) {
    seen = (seen_t){0};
    image = (image_t){0};
    CHECK_EQ(subject_open(subject, name), EMBER_OK);
    const ember_status_t status = subject_load(subject, "forward", with);
    CHECK(subject->method.parts == NULL || subject->method.parts == &ember_changing);
    return status;
}

static void check_constants(void) {
    CHECK_EQ(seen.count, ALL + 1);
    CHECK_EQ(seen.item, 3);
    CHECK_EQ(seen.low, -128);
    CHECK_EQ(seen.extra, EMBER_NONE);
    CHECK(seen.flag);
    CHECK_EQ(seen.elements, 4);
}

// --- tests
// ----------------------------------------------------------------------------

static void what_a_list_lacks_is_constant(void) {
    subject_t subject;
    CHECK_EQ(load(&subject, "schema_earlier.pte", &fixed), EMBER_OK);
    check_constants();
    subject_close(&subject);
    CHECK_EQ(load(&subject, "schema_earlier.pte", &registry), EMBER_OK);
    check_constants();
    subject_close(&subject);
}

static void the_own_list_is_taken_as_it_is(void) {
    subject_t subject;
    CHECK_EQ(load(&subject, "schema_own.pte", &registry), EMBER_OK);
    CHECK_EQ(seen.count, ALL + 1);
    CHECK_EQ(seen.low, 3);
    CHECK_EQ(seen.extra, EMBER_TENSOR);
    CHECK(seen.flag);
    subject_close(&subject);
}

static void a_call_that_changes_is_prepared_the_same_way(void) {
    subject_t subject;
    CHECK_EQ(load(&subject, "schema_dynamic.pte", &registry), EMBER_OK);
    for (int32_t size = 4; size > 1; size--) {
        CHECK_EQ(ember_method_resize_input(&subject.method, 0, 1, &size, NULL),
                 EMBER_OK);
        CHECK_EQ(ember_method_execute(&subject.method, NULL), EMBER_OK);
        CHECK_EQ(seen.elements, size);
        CHECK_EQ(seen.low, -128);
        CHECK_EQ(seen.extra, EMBER_NONE);
    }
    CHECK(subject.method.parts == &ember_changing);
    subject_close(&subject);
}

static void other_lists_are_refused(void) {
    const char *const names[] = {"schema_wrong_kind.pte", "schema_wrong_count.pte"};
    for (uint32_t i = 0; i < 2; i++) {
        subject_t subject;
        CHECK_EQ(load(&subject, names[i], &registry), EMBER_BAD_PROGRAM);
        CHECK_EQ(seen.prepares, 0);
    }
}

// What stands for arguments is not what a program may name.
static void forged_indices_are_refused(void) {
    const char *const names[] = {"schema_forged_argument.pte",
                                 "schema_forged_constant.pte", "schema_forged_item.pte",
                                 "schema_forged_name.pte"};
    for (uint32_t i = 0; i < 4; i++) {
        subject_t subject;
        CHECK_EQ(load(&subject, names[i], &registry), EMBER_BAD_PROGRAM);
    }
}

static void check_image(int32_t n, int32_t h, int32_t w, int32_t c) {
    const int32_t sizes[4] = {n, c, h, w};
    const int32_t strides[4] = {c * h * w, 1, c * w, c};
    CHECK(memcmp(image.x_sizes, sizes, sizeof(sizes)) == 0);
    CHECK(memcmp(image.y_sizes, sizes, sizeof(sizes)) == 0);
    CHECK(memcmp(image.x_strides, strides, sizeof(strides)) == 0);
    CHECK(image.x.data != image.y.data);
    CHECK_EQ(image.x.numel, n * h * w * c);
}

static void an_image_has_its_channels_second(void) {
    const ember_registry_t *const with[] = {&fixed, &registry};
    for (uint32_t i = 0; i < 2; i++) {
        subject_t subject;
        CHECK_EQ(load(&subject, "schema_image.pte", with[i]), EMBER_OK);
        CHECK(image.prepares > 0);
        check_image(2, 5, 3, 4);
        subject_close(&subject);
    }
}

static void an_image_may_change_its_shape(void) {
    subject_t subject;
    int32_t sizes[4] = {2, 5, 3, 4};
    CHECK_EQ(load(&subject, "schema_image_dynamic.pte", &registry), EMBER_OK);
    for (; sizes[1] > 1; sizes[1]--) {
        CHECK_EQ(ember_method_resize_input(&subject.method, 0, 4, sizes, NULL),
                 EMBER_OK);
        CHECK_EQ(ember_method_execute(&subject.method, NULL), EMBER_OK);
        check_image(2, sizes[1], 3, 4);
    }
    CHECK(subject.method.parts == &ember_changing);
    subject_close(&subject);
}

static void other_images_are_refused(void) {
    const char *const names[] = {"schema_image_order.pte", "schema_image_rank.pte"};
    for (uint32_t i = 0; i < 2; i++) {
        subject_t subject;
        CHECK_EQ(load(&subject, names[i], &registry), EMBER_BAD_PROGRAM);
        CHECK_EQ(image.prepares, 0);
    }
}

static void a_malformed_image_is_refused(void) {
    const ember_registry_t *const with[] = {&fixed, &registry};
    for (uint32_t i = 0; i < 2; i++) {
        subject_t subject;
        CHECK_EQ(load(&subject, "schema_image_forged.pte", with[i]), EMBER_UNSUPPORTED);
        CHECK_EQ(image.prepares, 0);
    }
}

static void an_output_that_is_another_image_is_refused(void) {
    for (asked = RANK_3; asked <= LARGER; asked++) {
        subject_t subject;
        CHECK_EQ(load(&subject, "schema_image.pte", &registry), EMBER_BAD_PROGRAM);
        CHECK_EQ(load(&subject, "schema_image_dynamic.pte", &registry), EMBER_OK);
        CHECK_EQ(ember_method_execute(&subject.method, NULL), EMBER_BAD_PROGRAM);
        CHECK_EQ(image.prepares, 0);
        subject_close(&subject);
    }
    asked = LIKE_IMAGE;
}

static void other_tensors_of_the_call_are_as_they_are(void) {
    subject_t subject;
    asked = BESIDE_ANOTHER;
    CHECK_EQ(load(&subject, "schema_image_beside.pte", &registry), EMBER_OK);
    CHECK_EQ(ember_method_execute(&subject.method, NULL), EMBER_OK);
    check_image(2, 5, 3, 4);
    CHECK_EQ(image.other, 5);
    subject_close(&subject);
    asked = LIKE_IMAGE;
}

TESTS(TEST(an_image_has_its_channels_second), TEST(an_image_may_change_its_shape),
      TEST(other_images_are_refused), TEST(a_malformed_image_is_refused),
      TEST(an_output_that_is_another_image_is_refused),
      TEST(other_tensors_of_the_call_are_as_they_are),
      TEST(what_a_list_lacks_is_constant), TEST(the_own_list_is_taken_as_it_is),
      TEST(a_call_that_changes_is_prepared_the_same_way), TEST(other_lists_are_refused),
      TEST(forged_indices_are_refused))
