// SPDX-License-Identifier: Apache-2.0
// An image that arrives row by row, as from a camera, and is never in memory as a
// whole: for programs packed with `--rows fed`.
//
//     uint32_t missing = 1;
//     while (missing > 0) {
//         camera_row(row);
//         ember_method_feed(&method, row, 1, &missing, NULL);
//     }
//     ember_method_output(&method, 0, &output);
//
// The program's input is one row of the image: (1, channels, 1, width), or its bytes
// one after the other as the header <model>_plan.h says. Layers run as far as the rows
// allow; the rest of the program runs with the last row. To avoid the copy, write a row
// to the input's own memory and call ember_method_execute() instead of
// ember_method_feed().
//
// Between two rows of an image the method's planned memory must stay as it is: no
// other method that shares it may be loaded or run. Scratch may be used.
#ifndef EMBER_FEED_H
#define EMBER_FEED_H

#include "ember/method.h"

EMBER_C_BEGIN

// Gives the next `count` rows, one after the other in memory, to a loaded method.
// `*missing` becomes the number of rows that the image still lacks; 0: it is complete,
// its outputs are valid until the next row is given, which begins a new image.
//
// Returns EMBER_OK, or
//   EMBER_UNSUPPORTED   no input of the method comes row by row
//   EMBER_BAD_ARGUMENT  the image lacks fewer rows than `count`: none was taken
// or what ember_method_execute() returns; the next row is then the first of an image.
EMBER_MUST_USE ember_status_t ember_method_feed(ember_method_t *method,
                                                const void *rows, uint32_t count,
                                                uint32_t *missing, ember_error_t *err);

// Forgets the rows given so far: the next one is the first of an image, as after a
// frame that the camera did not complete. UNSUPPORTED as above.
EMBER_MUST_USE ember_status_t ember_method_feed_anew(ember_method_t *method,
                                                     ember_error_t *err);

EMBER_C_END

#endif // EMBER_FEED_H
