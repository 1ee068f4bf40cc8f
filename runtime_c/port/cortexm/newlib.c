// SPDX-License-Identifier: Apache-2.0
// What newlib's mathematics asks for. Without it the linker would take newlib's
// reentrancy structure: 1 kB of RAM for one int that nobody reads.
int *__errno(void);

int *__errno(void) {
    static int number;

    return &number;
}
