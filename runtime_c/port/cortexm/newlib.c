// SPDX-License-Identifier: Apache-2.0
// What newlib's mathematics asks for. Without it the linker would pull in newlib's
// reentrancy structure: 1 kB of RAM for one unused int.
int *__errno(void);

int *__errno(void) {
    static int number;

    return &number;
}
