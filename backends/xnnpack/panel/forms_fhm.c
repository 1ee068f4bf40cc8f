// SPDX-License-Identifier: Apache-2.0
// Kernels of products by panels and FMLAL.
#include "panel_forms.h"

XNN_FORMS_FHM(XNN_PANEL_LINEAR, XNN_PANEL_CONV)
