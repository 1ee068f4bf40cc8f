# SPDX-License-Identifier: Apache-2.0
# 32-bit Arm processes for qemu-arm: the SDK runs the loader there, at the pointer
# width and with the struct layout (AAPCS) of a Cortex-M board, but on Linux calls.
# Models of variants use float16, so the processor converts it.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/newlib.cmake)
set(EMBER_MODELS ON)

ember_find_tool(CMAKE_C_COMPILER clang-19 clang-19)
set(CMAKE_ASM_COMPILER ${CMAKE_C_COMPILER})
set(CMAKE_C_COMPILER_TARGET arm-none-eabi)
set(CMAKE_ASM_COMPILER_TARGET arm-none-eabi)
ember_use_newlib("-march=armv7-a+fp -mfloat-abi=hard -mthumb")
ember_target_flags("-march=armv7-a -mfpu=vfpv3-d16-fp16 -mfloat-abi=hard ${EMBER_NEWLIB_INCLUDE}")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-nostdlib -fuse-ld=lld-19 -Wl,--gc-sections")
set(EMBER_SYSTEM_LIBRARIES ${EMBER_NEWLIB_LIBRARIES})
