// SPDX-License-Identifier: Apache-2.0
// Kernels of products by panels and SMMLA.
#include "panel_forms.h"

XNN_FORMS_I8MM(XNN_PANEL_LINEAR, XNN_PANEL_CONV)
