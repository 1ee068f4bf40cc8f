// SPDX-License-Identifier: Apache-2.0
// Copies, sums and products of float32 element by element in the scalar unit of
// Cortex-M: loads and stores in groups. kernels/models/arm_fpu.h has the same in C.
#ifndef EMBER_INTRINSICS_ARM_FPU_ELEMENTS_H
#define EMBER_INTRINSICS_ARM_FPU_ELEMENTS_H

#include <stdint.h>

// Copies `count` elements between disjoint areas; the last ones overlap others unless
// they end a group.
static inline void ember_fpu_copy(float *to, const float *from, int32_t count) {
    if (count >= 8) {
        const float *last = from + (count - 8);
        float *end = to + (count - 8);
        int32_t left = count;
        __asm__ volatile("1:\n\t"
                         "vldmia %[from]!, {s0-s7}\n\t"
                         "subs %[left], #8\n\t"
                         "vstmia %[to]!, {s0-s7}\n\t"
                         "cmp %[left], #8\n\t"
                         "bge 1b\n\t"
                         "vldmia %[last], {s0-s7}\n\t"
                         "vstmia %[end], {s0-s7}"
                         : [to] "+r"(to), [from] "+r"(from), [left] "+r"(left)
                         : [last] "r"(last), [end] "r"(end)
                         : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "cc",
                           "memory");
    } else if (count >= 4) {
        __asm__ volatile("vldmia %[from], {s0-s3}\n\t"
                         "vldmia %[last], {s4-s7}\n\t"
                         "vstmia %[to], {s0-s3}\n\t"
                         "vstmia %[end], {s4-s7}"
                         :
                         : [to] "r"(to), [from] "r"(from),
                           [last] "r"(from + (count - 4)), [end] "r"(to + (count - 4))
                         : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "memory");
    } else {
        for (; count > 0; count--) {
            *to++ = *from++;
        }
    }
}

// One instruction for each two elements; 0 for what is not positive.
#define EMBER_FPU_EACH(WORD, Y, A, B, COUNT)                                           \
    __asm__ volatile("subs %[count], #4\n\t"                                           \
                     "blt 2f\n\t"                                                      \
                     "1:\n\t"                                                          \
                     "vldmia %[a]!, {s0-s3}\n\t"                                       \
                     "vldmia %[b]!, {s4-s7}\n\t"                                       \
                     "" WORD " s0, s0, s4\n\t"                                         \
                     "" WORD " s1, s1, s5\n\t"                                         \
                     "" WORD " s2, s2, s6\n\t"                                         \
                     "" WORD " s3, s3, s7\n\t"                                         \
                     "subs %[count], #4\n\t"                                           \
                     "vstmia %[y]!, {s0-s3}\n\t"                                       \
                     "bge 1b\n\t"                                                      \
                     "2:\n\t"                                                          \
                     "adds %[count], #4\n\t"                                           \
                     "beq 4f\n\t"                                                      \
                     "3:\n\t"                                                          \
                     "vldmia %[a]!, {s0}\n\t"                                          \
                     "vldmia %[b]!, {s4}\n\t"                                          \
                     "" WORD " s0, s0, s4\n\t"                                         \
                     "subs %[count], #1\n\t"                                           \
                     "vstmia %[y]!, {s0}\n\t"                                          \
                     "bne 3b\n\t"                                                      \
                     "4:"                                                              \
                     : [y] "+r"(Y), [a] "+r"(A), [b] "+r"(B), [count] "+r"(COUNT)      \
                     :                                                                 \
                     : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "cc", "memory")
// y[i] = x[i] scale + shift, i < count; y may be x.
static inline void ember_fpu_affine(float *y, const float *x, int32_t count,
                                    float scale, float shift) {
    __asm__ volatile("subs %[count], #4\n\t"
                     "blt 2f\n"
                     "1:\n\t"
                     "vldmia %[x]!, {s0-s3}\n\t"
                     "vmul.f32 s0, s0, %[scale]\n\t"
                     "vmul.f32 s1, s1, %[scale]\n\t"
                     "vmul.f32 s2, s2, %[scale]\n\t"
                     "vmul.f32 s3, s3, %[scale]\n\t"
                     "vadd.f32 s0, s0, %[shift]\n\t"
                     "vadd.f32 s1, s1, %[shift]\n\t"
                     "vadd.f32 s2, s2, %[shift]\n\t"
                     "vadd.f32 s3, s3, %[shift]\n\t"
                     "subs %[count], #4\n\t"
                     "vstmia %[y]!, {s0-s3}\n\t"
                     "bge 1b\n"
                     "2:\n\t"
                     "adds %[count], #4\n\t"
                     "beq 4f\n"
                     "3:\n\t"
                     "vldmia %[x]!, {s0}\n\t"
                     "vmul.f32 s0, s0, %[scale]\n\t"
                     "subs %[count], #1\n\t"
                     "vadd.f32 s0, s0, %[shift]\n\t"
                     "vstmia %[y]!, {s0}\n\t"
                     "bne 3b\n"
                     "4:"
                     : [y] "+r"(y), [x] "+r"(x), [count] "+r"(count)
                     : [scale] "t"(scale), [shift] "t"(shift)
                     : "s0", "s1", "s2", "s3", "cc", "memory");
}

// c = sums scale, of four rows of four, `step` bytes apart in c.
static inline void ember_fpu_scale_4x4(float *c, int32_t step, const float *sums,
                                       float scale) {
    __asm__ volatile("vldmia %[sums], {s0-s15}\n\t"
                     "vmul.f32 s0, s0, %[scale]\n\t"
                     "vmul.f32 s1, s1, %[scale]\n\t"
                     "vmul.f32 s2, s2, %[scale]\n\t"
                     "vmul.f32 s3, s3, %[scale]\n\t"
                     "vmul.f32 s4, s4, %[scale]\n\t"
                     "vmul.f32 s5, s5, %[scale]\n\t"
                     "vmul.f32 s6, s6, %[scale]\n\t"
                     "vmul.f32 s7, s7, %[scale]\n\t"
                     "vmul.f32 s8, s8, %[scale]\n\t"
                     "vmul.f32 s9, s9, %[scale]\n\t"
                     "vmul.f32 s10, s10, %[scale]\n\t"
                     "vmul.f32 s11, s11, %[scale]\n\t"
                     "vmul.f32 s12, s12, %[scale]\n\t"
                     "vmul.f32 s13, s13, %[scale]\n\t"
                     "vmul.f32 s14, s14, %[scale]\n\t"
                     "vmul.f32 s15, s15, %[scale]\n\t"
                     "vstmia %[c], {s0-s3}\n\t"
                     "add %[c], %[step]\n\t"
                     "vstmia %[c], {s4-s7}\n\t"
                     "add %[c], %[step]\n\t"
                     "vstmia %[c], {s8-s11}\n\t"
                     "add %[c], %[step]\n\t"
                     "vstmia %[c], {s12-s15}\n\t"
                     : [c] "+r"(c)
                     : [step] "r"(step), [sums] "r"(sums), [scale] "t"(scale)
                     : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9",
                       "s10", "s11", "s12", "s13", "s14", "s15", "memory");
}

// c = sums scale + what is added to each row.
static inline void ember_fpu_affine_4x4(float *c, int32_t step, const float *sums,
                                        float scale, const float *added) {
    __asm__ volatile(
        "vldmia %[sums], {s0-s15}\n\t"
        "vmul.f32 s0, s0, %[scale]\n\t"
        "vmul.f32 s1, s1, %[scale]\n\t"
        "vmul.f32 s2, s2, %[scale]\n\t"
        "vmul.f32 s3, s3, %[scale]\n\t"
        "vmul.f32 s4, s4, %[scale]\n\t"
        "vmul.f32 s5, s5, %[scale]\n\t"
        "vmul.f32 s6, s6, %[scale]\n\t"
        "vmul.f32 s7, s7, %[scale]\n\t"
        "vmul.f32 s8, s8, %[scale]\n\t"
        "vmul.f32 s9, s9, %[scale]\n\t"
        "vmul.f32 s10, s10, %[scale]\n\t"
        "vmul.f32 s11, s11, %[scale]\n\t"
        "vmul.f32 s12, s12, %[scale]\n\t"
        "vmul.f32 s13, s13, %[scale]\n\t"
        "vmul.f32 s14, s14, %[scale]\n\t"
        "vmul.f32 s15, s15, %[scale]\n\t"
        "vldmia %[added], {s16-s19}\n\t"
        "vadd.f32 s0, s0, s16\n\t"
        "vadd.f32 s1, s1, s16\n\t"
        "vadd.f32 s2, s2, s16\n\t"
        "vadd.f32 s3, s3, s16\n\t"
        "vadd.f32 s4, s4, s17\n\t"
        "vadd.f32 s5, s5, s17\n\t"
        "vadd.f32 s6, s6, s17\n\t"
        "vadd.f32 s7, s7, s17\n\t"
        "vadd.f32 s8, s8, s18\n\t"
        "vadd.f32 s9, s9, s18\n\t"
        "vadd.f32 s10, s10, s18\n\t"
        "vadd.f32 s11, s11, s18\n\t"
        "vadd.f32 s12, s12, s19\n\t"
        "vadd.f32 s13, s13, s19\n\t"
        "vadd.f32 s14, s14, s19\n\t"
        "vadd.f32 s15, s15, s19\n\t"
        "vstmia %[c], {s0-s3}\n\t"
        "add %[c], %[step]\n\t"
        "vstmia %[c], {s4-s7}\n\t"
        "add %[c], %[step]\n\t"
        "vstmia %[c], {s8-s11}\n\t"
        "add %[c], %[step]\n\t"
        "vstmia %[c], {s12-s15}\n\t"
        : [c] "+r"(c)
        : [step] "r"(step), [sums] "r"(sums), [scale] "t"(scale), [added] "r"(added)
        : "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11",
          "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "memory");
}

// y[i] = a[i] + b[i], i < count; y may be a or b.
static inline void ember_fpu_add(float *y, const float *a, const float *b,
                                 int32_t count) {
    EMBER_FPU_EACH("vadd.f32", y, a, b, count);
}

static inline void ember_fpu_sub(float *y, const float *a, const float *b,
                                 int32_t count) {
    EMBER_FPU_EACH("vsub.f32", y, a, b, count);
}

static inline void ember_fpu_mul(float *y, const float *a, const float *b,
                                 int32_t count) {
    EMBER_FPU_EACH("vmul.f32", y, a, b, count);
}

// y[i] = x[i] where it is positive, else 0; NaN stays; y may be x. `until`: the largest
// int32 whose bits become 0.
static inline void ember_fpu_relu(float *y, const float *x, int32_t count,
                                  int32_t until) {
    __asm__ volatile("subs %[count], #4\n\t"
                     "blt 2f\n"
                     "1:\n\t"
                     "ldmia %[x]!, {r2-r5}\n\t"
                     "cmp r2, %[until]\n\t"
                     "it le\n\t"
                     "movle r2, #0\n\t"
                     "cmp r3, %[until]\n\t"
                     "it le\n\t"
                     "movle r3, #0\n\t"
                     "cmp r4, %[until]\n\t"
                     "it le\n\t"
                     "movle r4, #0\n\t"
                     "cmp r5, %[until]\n\t"
                     "it le\n\t"
                     "movle r5, #0\n\t"
                     "subs %[count], #4\n\t"
                     "stmia %[y]!, {r2-r5}\n\t"
                     "bge 1b\n"
                     "2:\n\t"
                     "adds %[count], #4\n\t"
                     "beq 4f\n"
                     "3:\n\t"
                     "ldr r2, [%[x]], #4\n\t"
                     "cmp r2, %[until]\n\t"
                     "it le\n\t"
                     "movle r2, #0\n\t"
                     "str r2, [%[y]], #4\n\t"
                     "subs %[count], #1\n\t"
                     "bne 3b\n"
                     "4:"
                     : [y] "+r"(y), [x] "+r"(x), [count] "+r"(count)
                     : [until] "r"(until)
                     : "r2", "r3", "r4", "r5", "cc", "memory");
}

#endif // EMBER_INTRINSICS_ARM_FPU_ELEMENTS_H
