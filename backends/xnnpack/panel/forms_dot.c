// SPDX-License-Identifier: Apache-2.0
// Kernels of products by panels and SDOT.
#include "panel_forms.h"

XNN_FORMS_DOT(XNN_PANEL_LINEAR, XNN_PANEL_CONV)
