// SPDX-License-Identifier: Apache-2.0
// Every form of the products that nodes compute, one a line: the form's kernel, its
// name for users or NULL, and what is multiplied how. To add a form, add a line here
// and, for the order in which kernels are tried, in kernels.yaml.
//
// A file for each instruction set makes kernels of its lines, each in sections of its
// own, so that firmware links only those that its nodes use.
#ifndef EMBER_XNNPACK_FORMS_H
#define EMBER_XNNPACK_FORMS_H

// On any core: nodes/forms.c.
#define XNN_FORMS(LINEAR, CONV, TRANSPOSED, MATMUL)                                    \
    LINEAR(fully_connected_bf16, NULL, &ember_xnn_type_bf16)                           \
    LINEAR(fully_connected_f16, "pf16_gemm", &ember_xnn_type_f16)                      \
    LINEAR(fully_connected_f32, "pf32_gemm", &ember_xnn_type_f32)                      \
    LINEAR(fully_connected_qd8_qc4, "qp8_f32_qc4w_gemm", &ember_xnn_type_qd8_qc4)      \
    LINEAR(fully_connected_qd8_qc8, "qp8_f32_qc8w_gemm", &ember_xnn_type_qd8)          \
    LINEAR(fully_connected_qs8, "pqs8_qc8w_gemm", &ember_xnn_type_qs8)                 \
    CONV(conv_2d_f16, NULL, &ember_xnn_type_f16)                                       \
    CONV(conv_2d_f32, "pf32_gemm", &ember_xnn_type_f32)                                \
    CONV(conv_2d_qd8_qc8, NULL, &ember_xnn_type_qd8)                                   \
    CONV(conv_2d_qs8, "pqs8_qc8w_gemm", &ember_xnn_type_qs8)                           \
    TRANSPOSED(conv_transpose_2d_f16, NULL, &ember_xnn_type_f16)                       \
    TRANSPOSED(conv_transpose_2d_f32, NULL, &ember_xnn_type_f32)                       \
    TRANSPOSED(conv_transpose_2d_qd8_qc8, NULL, &ember_xnn_type_qd8)                   \
    TRANSPOSED(conv_transpose_2d_qs8, NULL, &ember_xnn_type_qs8)                       \
    MATMUL(batch_matrix_multiply_f16, "pf16_gemm", &ember_xnn_type_f16)                \
    MATMUL(batch_matrix_multiply_f32, "pf32_gemm", &ember_xnn_type_f32)

// By panels: panel/forms_<isa>.c. Some depend on the `node`.
#define XNN_FORMS_NEON(LINEAR, CONV, MATMUL)                                           \
    LINEAR(EMBER_CPU_NEON, fully_connected_bf16_neon, NULL, &ember_xnn_form_bf16_neon) \
    LINEAR(EMBER_CPU_NEON, fully_connected_f16_neon, "pf16_gemm",                      \
           ember_xnn_panel_f16(node))                                                  \
    LINEAR(EMBER_CPU_NEON, fully_connected_f32_neon, "pf32_gemm",                      \
           &ember_xnn_form_f32_neon)                                                   \
    CONV(EMBER_CPU_NEON, conv_2d_f16_neon, NULL, ember_xnn_panel_f16(node))            \
    CONV(EMBER_CPU_NEON, conv_2d_f32_neon, "pf32_gemm", &ember_xnn_form_f32_neon)      \
    MATMUL(EMBER_CPU_NEON, batch_matrix_multiply_f16_neon, "pf16_gemm",                \
           &ember_xnn_form_f16_matmul_neon)                                            \
    MATMUL(EMBER_CPU_NEON, batch_matrix_multiply_f32_neon, "pf32_gemm",                \
           &ember_xnn_form_f32_neon)

#define XNN_FORMS_FHM(LINEAR, CONV)                                                    \
    LINEAR(EMBER_CPU_FHM, fully_connected_f16_fhm, "pf16_gemm",                        \
           ember_xnn_panel_f16_fhm(node))                                              \
    CONV(EMBER_CPU_FHM, conv_2d_f16_fhm, NULL, ember_xnn_panel_f16_fhm(node))

#define XNN_FORMS_DOT(LINEAR, CONV)                                                    \
    LINEAR(EMBER_CPU_DOT, fully_connected_qd8_qc4_dot, "qp8_f32_qc4w_gemm",            \
           &ember_xnn_form_qd8_qc4_dot)                                                \
    LINEAR(EMBER_CPU_DOT, fully_connected_qd8_qc8_dot, "qp8_f32_qc8w_gemm",            \
           &ember_xnn_form_qd8_qc8_dot)                                                \
    LINEAR(EMBER_CPU_DOT, fully_connected_qs8_dot, "pqs8_qc8w_gemm",                   \
           &ember_xnn_form_qs8_dot)                                                    \
    CONV(EMBER_CPU_DOT, conv_2d_qd8_qc8_dot, NULL, &ember_xnn_form_qd8_qc8_dot)        \
    CONV(EMBER_CPU_DOT, conv_2d_qs8_dot, "pqs8_qc8w_gemm", &ember_xnn_form_qs8_dot)

#define XNN_FORMS_I8MM(LINEAR, CONV)                                                   \
    LINEAR(EMBER_CPU_I8MM, fully_connected_qd8_qc4_i8mm, "qp8_f32_qc4w_gemm",          \
           &ember_xnn_form_qd8_qc4_i8mm)                                               \
    LINEAR(EMBER_CPU_I8MM, fully_connected_qd8_qc8_i8mm, "qp8_f32_qc8w_gemm",          \
           &ember_xnn_form_qd8_qc8_i8mm)                                               \
    LINEAR(EMBER_CPU_I8MM, fully_connected_qs8_i8mm, "pqs8_qc8w_gemm",                 \
           &ember_xnn_form_qs8_i8mm)                                                   \
    CONV(EMBER_CPU_I8MM, conv_2d_qd8_qc8_i8mm, NULL, &ember_xnn_form_qd8_qc8_i8mm)     \
    CONV(EMBER_CPU_I8MM, conv_2d_qs8_i8mm, "pqs8_qc8w_gemm", &ember_xnn_form_qs8_i8mm)

#define XNN_FORMS_BF16MM(LINEAR)                                                       \
    LINEAR(EMBER_CPU_BF16MM, fully_connected_bf16_bf16mm, NULL,                        \
           &ember_xnn_form_bf16_bf16mm)

// With HVX: hvx/forms_hvx.c.
#define XNN_FORMS_HVX(LINEAR, CONV, TRANSPOSED)                                        \
    LINEAR(fully_connected_qd8_qc4_hvx, "qp8_f32_qc4w_gemm", &ember_xnn_hvx_qd8_qc4)   \
    LINEAR(fully_connected_qd8_qc8_hvx, "qp8_f32_qc8w_gemm", &ember_xnn_hvx_qd8)       \
    LINEAR(fully_connected_qs8_hvx, "pqs8_qc8w_gemm", &ember_xnn_hvx_qs8)              \
    CONV(conv_2d_qd8_qc8_hvx, NULL, &ember_xnn_hvx_qd8)                                \
    CONV(conv_2d_qs8_hvx, "pqs8_qc8w_gemm", &ember_xnn_hvx_qs8)                        \
    TRANSPOSED(conv_transpose_2d_qd8_qc8_hvx, NULL, &ember_xnn_hvx_qd8)                \
    TRANSPOSED(conv_transpose_2d_qs8_hvx, NULL, &ember_xnn_hvx_qs8)

// By outer products: sme/forms_sme.c. Those of convolutions have a shape function.
#define XNN_FORMS_SME(LINEAR, CONV, MATMUL)                                            \
    LINEAR(fully_connected_bf16_sme, NULL, &ember_xnn_type_bf16, XNN_SME_BF16)         \
    LINEAR(fully_connected_f16_sme, "pf16_gemm", &ember_xnn_type_f16, XNN_SME_F16)     \
    LINEAR(fully_connected_f32_sme, "pf32_gemm", &ember_xnn_type_f32, XNN_SME_F32)     \
    LINEAR(fully_connected_qd8_qb4_sme, "qp8_f32_qb4w_gemm", &ember_xnn_type_qd8_qb4,  \
           XNN_SME_QD8_B4)                                                             \
    LINEAR(fully_connected_qd8_qc4_sme, "qp8_f32_qc4w_gemm", &ember_xnn_type_qd8_qc4,  \
           XNN_SME_QD8_S4)                                                             \
    LINEAR(fully_connected_qd8_qc8_sme, "qp8_f32_qc8w_gemm", &ember_xnn_type_qd8,      \
           XNN_SME_QD8)                                                                \
    LINEAR(fully_connected_qs8_sme, "pqs8_qc8w_gemm", &ember_xnn_sme_qs8, XNN_SME_QS8) \
    CONV(conv_2d_f16_sme, NULL, ember_xnn_conv_shape, &ember_xnn_type_f16,             \
         XNN_SME_F16)                                                                  \
    CONV(conv_2d_f32_sme, "pf32_gemm", ember_xnn_conv_shape, &ember_xnn_type_f32,      \
         XNN_SME_F32)                                                                  \
    CONV(conv_2d_qd8_qc8_sme, NULL, ember_xnn_conv_shape, &ember_xnn_type_qd8,         \
         XNN_SME_QD8)                                                                  \
    CONV(conv_2d_qs8_sme, "pqs8_qc8w_gemm", ember_xnn_sme_conv_shape,                  \
         &ember_xnn_sme_qs8, XNN_SME_QS8)                                              \
    MATMUL(batch_matrix_multiply_f16_sme, "pf16_gemm", &ember_xnn_type_f16,            \
           XNN_SME_F16)                                                                \
    MATMUL(batch_matrix_multiply_f32_sme, "pf32_gemm", &ember_xnn_type_f32, XNN_SME_F32)

#endif // EMBER_XNNPACK_FORMS_H
