// SPDX-License-Identifier: Apache-2.0
// Small operators to test the runtime with, and counts of what it did with them.
//
//     toy::add.out(a, b, out)          float32, one shape
//     toy::choose.out(x, out)          copies; candidates for int32, then float32
//     toy::copy.out(x, out)            through scratch
//     toy::fail.prepare(x, out)        prepare fails with BAD_PROGRAM and a sentence
//     toy::fail.run(x, out)            run fails with DATA_RANGE
//     toy::fail.silent(x, out)         prepare returns BAD_PROGRAM without a sentence
//     toy::fill.out(Scalar, out)       out keeps its shape
//     toy::gather.out(x, index, out)   int64 indices, checked in run
//     toy::inc.int(int, ret)           ret = int + 1
//     toy::less.int(int, int, ret)     ret = a < b, a bool
//     toy::narrow.out(x, int, out)     the first n of x (rank 1); out is dynamic
//     toy::none.out(...)               any arguments, does nothing
//     toy::positive.out(x, out)        the positive ones; out is resized by run
//     toy::probe.out(...)              prepare calls toy_probe
//     toy::refuse.out(x, out)          its only candidate is always unsupported
//     toy::size.int(x, dim, ret)
//     toy::split.out(x, outs)          outs[i] = x[i]
//     toy::sum.out(xs, out)            None items are left out
//     toy::view.out(x, sizes, out)     et_view
#ifndef EMBER_TEST_TOYS_H
#define EMBER_TEST_TOYS_H

#include "ember/method.h"

#ifndef TOY_LOCAL
#define TOY_LOCAL // _Thread_local where tests run toys on several threads
#endif

extern TOY_LOCAL uint32_t toy_prepares; // of every toy but none
extern TOY_LOCAL uint32_t toy_runs;

// Called by the prepare of toy::probe.out; may be NULL.
extern void (*toy_probe)(ember_node_t *node);

extern const ember_operators_t toy_operators;
extern const ember_registry_t toy_registry; // operators only

#endif // EMBER_TEST_TOYS_H
