# SPDX-License-Identifier: Apache-2.0
# Bare-metal Arm64 with clang-19 and lld-19. There is no C library for it in Debian:
# runtime_c/libc has the few functions that Ember uses. The base flags are for every
# Armv8-A core, `flags` of its file follow them; variants of kernels add what they need
# (kernels/isa.yaml).
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
set(EMBER_PORTS a64 linux_user)

ember_find_tool(CMAKE_C_COMPILER clang-19 clang-19)
set(CMAKE_ASM_COMPILER ${CMAKE_C_COMPILER})
set(CMAKE_C_COMPILER_TARGET aarch64-none-elf)
set(CMAKE_ASM_COMPILER_TARGET aarch64-none-elf)
set(EMBER_OWN_LIBC ON)
# Without tables of jumps the SDK can read all paths of a function, for the stack.
ember_target_flags("-march=armv8-a ${EMBER_CORE_FLAGS} -mno-outline-atomics -nostdlibinc \
-fno-jump-tables \
-isystem ${CMAKE_CURRENT_LIST_DIR}/../runtime_c/libc/include")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-nostdlib -static -fuse-ld=lld-19 -Wl,--gc-sections")
set(EMBER_SYSTEM_LIBRARIES "")
