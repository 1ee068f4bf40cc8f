// SPDX-License-Identifier: Apache-2.0
// SME through the compiler's language extensions: they call the support routines of
// runtime_c/port/a64/sme_abi.S.
#include <arm_sme.h>
#include <stdint.h>
#include <string.h>

enum { LANES = 16 }; // of 32 bits at a streaming vector length of 512

int sme_job(const char *name);

static float result[LANES];

__arm_new("za") __arm_locally_streaming static void fill_za(float value) {
    const svbool_t all = svptrue_b32();

    svzero_za();
    svmopa_za32_f32_m(0, all, all, svdup_f32(value), svdup_f32(1.0f));
}

__attribute__((noinline)) static void other_user_of_za(void) {
    fill_za(99.0f); // a private-ZA function that has ZA of its own
}

// ZA stays alive over the call, so the compiler sets up a lazy save.
__arm_new("za") __attribute__((
    noinline)) __arm_locally_streaming static void sum_over_a_call(int with_call) {
    const svbool_t all = svptrue_b32();

    svzero_za();
    svmopa_za32_f32_m(0, all, all, svdup_f32(2.0f), svdup_f32(3.0f));
    if (with_call) {
        other_user_of_za();
    }
    svmopa_za32_f32_m(0, all, all, svdup_f32(1.0f), svdup_f32(1.0f));
    svst1_hor_za32(0, 5, all, result);
}

static int right(void) {
    for (int i = 0; i < LANES; i++) {
        if (result[i] != 7.0f) {
            return 0;
        }
    }
    return 1;
}

int sme_job(const char *name) {
    if (strcmp(name, "state") == 0) {
        return __arm_has_sme() && !__arm_in_streaming_mode() ? 0 : 1;
    }
    if (strcmp(name, "save") == 0) {
        sum_over_a_call(0);
        const int plain = right();
        memset(result, 0, sizeof result);
        sum_over_a_call(1);
        return plain && right() ? 0 : 2;
    }
    __arm_za_disable();
    sum_over_a_call(1);
    return right() ? 0 : 3;
}
