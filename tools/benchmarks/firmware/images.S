// SPDX-License-Identifier: Apache-2.0
// The program and the data file of the bench firmware, found on the include path.
    .section .ember_model, "a"
    .balign 16
    .global bench_program
bench_program:
    .incbin "program.pte"
    .global bench_program_end
bench_program_end:
    .balign 16
    .global bench_data
bench_data:
    .incbin "data.ptd"
    .global bench_data_end
bench_data_end:
