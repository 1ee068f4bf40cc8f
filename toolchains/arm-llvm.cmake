# SPDX-License-Identifier: Apache-2.0
# Cortex-M with clang-19 and lld-19; newlib and libgcc come from arm-none-eabi-gcc's
# multilib for the core. That GCC also compiles what is plain C, the runtime and the
# portable kernels: its code is smaller and takes fewer instructions. It may use no
# Helium, some of which GNU as gets wrong.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/arm-cpus.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/newlib.cmake)

ember_find_tool(CMAKE_C_COMPILER clang-19 clang-19)
set(CMAKE_ASM_COMPILER ${CMAKE_C_COMPILER})
set(CMAKE_C_COMPILER_TARGET arm-none-eabi)
set(CMAKE_ASM_COMPILER_TARGET arm-none-eabi)
ember_use_newlib("${EMBER_CPU_FLAGS}")
ember_target_flags("${EMBER_CPU_FLAGS} ${EMBER_NEWLIB_INCLUDE}")
set(EMBER_PLAIN_COMPILER ${EMBER_ARM_GCC})
string(REPLACE "+nomve.fp" "+nomve" EMBER_PLAIN_FLAGS
               "${EMBER_CPU_FLAGS} ${EMBER_COMMON_FLAGS}")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-nostdlib -fuse-ld=lld-19 -Wl,--gc-sections")
set(EMBER_SYSTEM_LIBRARIES ${EMBER_NEWLIB_LIBRARIES})
