# SPDX-License-Identifier: Apache-2.0
# Hexagon with HVX, clang-19 and lld-19. clang calls routines for division that
# Debian has no archive of; the SDK takes them out of the ziglang package and passes
# the archive as EMBER_HEXAGON_RUNTIME. C library: runtime_c/libc.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR hexagon)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
set(EMBER_PORTS linux_user)

ember_find_tool(CMAKE_C_COMPILER clang-19 clang-19)
ember_find_tool(EMBER_LLD ld.lld-19 lld-19)
set(CMAKE_ASM_COMPILER ${CMAKE_C_COMPILER})
set(CMAKE_C_COMPILER_TARGET hexagon-unknown-none-elf)
set(CMAKE_ASM_COMPILER_TARGET hexagon-unknown-none-elf)
set(EMBER_OWN_LIBC ON)
# The archive has no shared prologues (__save_r16_through_..), which clang would call.
ember_target_flags("${EMBER_CORE_FLAGS} -G0 -fno-pic -nostdlibinc -mllvm -spill-func-threshold=1000 \
-mllvm -spill-func-threshold-Os=1000 \
-isystem ${CMAKE_CURRENT_LIST_DIR}/../runtime_c/libc/include")
# clang's driver asks for Qualcomm's linker; call lld without it.
set(CMAKE_C_LINK_EXECUTABLE
    "${EMBER_LLD} --gc-sections -static <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
set(EMBER_SYSTEM_LIBRARIES ${EMBER_HEXAGON_RUNTIME})
