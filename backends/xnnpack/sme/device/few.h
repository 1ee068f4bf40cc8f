// SPDX-License-Identifier: Apache-2.0
// The interface between few.c and few.S: adjacent rows of the output, in groups of four
// or eight, by one or two vectors of columns. few.S relies on the offsets of the
// fields.
#ifndef EMBER_XNNPACK_SME_FEW_H
#define EMBER_XNNPACK_SME_FEW_H

#include <stddef.h>
#include <stdint.h>

enum { XNN_SME_GROUP = 8 };

typedef struct sme_few {
    const int8_t *const *lines; // elements of the first row in each
    const uint8_t *w;
    int8_t *y;
    size_t from[XNN_SME_GROUP]; // rows of a group in a line, from its first one on
    size_t to[XNN_SME_GROUP];   // the same in y
    size_t from_step;           // from group to group
    size_t to_step;
    size_t last_from; // the last group ends with the last row
    size_t last_to;
    size_t groups;
    size_t line_count;
    size_t steps; // of 16 numbers of a row, in a line
    size_t rest;  // elements after these
    size_t columns;
    const int32_t *start;
    const float *factors;
    int32_t low; // bounds as bits of floats, see static.h
    int32_t high;
    int32_t zero;
    uint32_t whole; // eight rows are adjacent
} sme_few_t;

_Static_assert(offsetof(sme_few_t, from) == 24 && offsetof(sme_few_t, to) == 88 &&
                   offsetof(sme_few_t, from_step) == 152 &&
                   offsetof(sme_few_t, groups) == 184 &&
                   offsetof(sme_few_t, start) == 224 &&
                   offsetof(sme_few_t, whole) == 252,
               "few.S has other places");

void xnn_sme_few_eight(const sme_few_t *job) __arm_streaming __arm_preserves("za");
void xnn_sme_few_four(const sme_few_t *job) __arm_streaming __arm_preserves("za");

#endif // EMBER_XNNPACK_SME_FEW_H
