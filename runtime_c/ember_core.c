// SPDX-License-Identifier: Apache-2.0
// The whole core as one translation unit, which firmware is built from: with every
// caller in sight, the compiler makes it a tenth smaller than file by file. Debug and
// test builds may compile src/*.c instead.
#define EMBER_LOCAL __attribute__((unused)) static

#include "src/arena.c"
#include "src/container.c"
#include "src/flat.c"
#include "src/kernels.c"
#include "src/plan.c"
#include "src/status.c"
#include "src/tensor.c"

#include "src/data.c"
#include "src/loader.c"
#include "src/loader_file.c"
#include "src/meta.c"
#include "src/program.c"

#include "src/delegate.c"
#include "src/etdump.c"
#include "src/event.c"
#include "src/execute.c"
#include "src/flow.c"
#include "src/images.c"
#include "src/io.c"
#include "src/load.c"
#include "src/load_step.c"
#include "src/load_values.c"
#include "src/node.c"
#include "src/node_list.c"
#include "src/node_output.c"
#include "src/reset.c"
#include "src/schemas.c"
#include "src/slot.c"
#include "src/spare.c"
#include "src/value.c"
#include "src/volatile.c"

#include "src/bundle.c"
#include "src/bundle_compare.c"
