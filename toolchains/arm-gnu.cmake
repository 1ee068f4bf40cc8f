# SPDX-License-Identifier: Apache-2.0
# Cortex-M with arm-none-eabi-gcc and newlib. Not for Helium: GNU as 2.40 encodes some
# MVE instructions wrongly (arm-llvm.cmake).
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
set(EMBER_PORTS cortexm)

ember_find_tool(CMAKE_C_COMPILER arm-none-eabi-gcc gcc-arm-none-eabi)
set(CMAKE_ASM_COMPILER ${CMAKE_C_COMPILER})
set(EMBER_CORE_COMPILER ${CMAKE_C_COMPILER})
include(${CMAKE_CURRENT_LIST_DIR}/arm-cpus.cmake)
ember_need_core("${ember_core}" arm-none-eabi-gcc
                "write `toolchains: [arm-llvm]` in the core's file")

ember_target_flags("${EMBER_CORE_FLAGS} ${EMBER_CPU_OPTIONS}")
# newlib was compiled with short enums; none of them is in what Ember calls.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-nostdlib -Wl,--gc-sections -Wl,--no-warn-rwx-segments \
-Wl,--no-enum-size-warning")
set(EMBER_SYSTEM_LIBRARIES -lm -lc -lgcc)
