// SPDX-License-Identifier: Apache-2.0
// CRC-32 as zlib computes it, a byte at a time: from EMBER_CRC32_START, then inverted.
#ifndef EMBER_PORT_UART_CRC32_H
#define EMBER_PORT_UART_CRC32_H

#include <stdint.h>

#define EMBER_CRC32_START   0xFFFFFFFFu
#define EMBER_CRC32_RESIDUE 0xDEBB20E3u // of bytes followed by their own CRC

// A table of 16 words: a sixteenth of the usual table, at half its speed.
static inline uint32_t ember_crc32_next(uint32_t crc, uint8_t byte) {
    static const uint32_t table[16] = {
        0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4,
        0x4DB26158, 0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
        0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
    };

    crc = crc >> 4 ^ table[(crc ^ byte) & 15u];
    return crc >> 4 ^ table[(crc ^ (uint32_t)byte >> 4) & 15u];
}

#endif
