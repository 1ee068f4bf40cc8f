# SPDX-License-Identifier: Apache-2.0
# 32-bit Arm processes for qemu-arm: the SDK runs the loader there, at the pointer
# width and with the struct layout (AAPCS) of a Cortex-M board, but on Linux calls.
# Models of variants use float16, so the processor converts it. GCC: nobody measures
# this code, and clang takes a third more time. States that it prepares become firmware:
# bytes between their members are zeros, not what a stack had.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
set(EMBER_PORTS linux_user)
include(${CMAKE_CURRENT_LIST_DIR}/newlib.cmake)
set(EMBER_MODELS ON)

set(CMAKE_C_COMPILER ${EMBER_ARM_GCC})
set(CMAKE_ASM_COMPILER ${CMAKE_C_COMPILER})
ember_use_newlib("-march=armv7-a+fp -mfloat-abi=hard -mthumb")
ember_target_flags("-march=armv7-a -mfpu=vfpv3-d16-fp16 -mfloat-abi=hard -marm \
-mfp16-format=ieee -fno-short-enums -ftrivial-auto-var-init=zero")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-nostdlib -Wl,--gc-sections -Wl,--no-warn-rwx-segments \
-Wl,--no-enum-size-warning")
set(EMBER_SYSTEM_LIBRARIES ${EMBER_NEWLIB_LIBRARIES})
