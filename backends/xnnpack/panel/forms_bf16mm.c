// SPDX-License-Identifier: Apache-2.0
// Kernels of products by panels and BFMMLA.
#include "panel_forms.h"

XNN_FORMS_BF16MM(XNN_PANEL_LINEAR)
