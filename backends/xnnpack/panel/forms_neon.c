// SPDX-License-Identifier: Apache-2.0
// Kernels of products by panels and FMLA or other NEON instructions.
#include "panel_forms.h"

XNN_FORMS_NEON(XNN_PANEL_LINEAR, XNN_PANEL_CONV, XNN_PANEL_MATMUL)
