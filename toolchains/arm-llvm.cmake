# SPDX-License-Identifier: Apache-2.0
# Cortex-M with clang-19 and lld-19; newlib and libgcc come from arm-none-eabi-gcc's
# multilib for the core. That GCC also compiles what is plain C, the runtime and the
# portable kernels: its code is smaller and takes fewer instructions. It may use no
# Helium, some of which GNU as gets wrong.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
set(EMBER_PORTS cortexm)
include(${CMAKE_CURRENT_LIST_DIR}/newlib.cmake)

ember_find_tool(CMAKE_C_COMPILER clang-19 clang-19)
set(CMAKE_ASM_COMPILER ${CMAKE_C_COMPILER})
set(CMAKE_C_COMPILER_TARGET arm-none-eabi)
set(CMAKE_ASM_COMPILER_TARGET arm-none-eabi)
set(EMBER_CORE_COMPILER ${CMAKE_C_COMPILER} --target=arm-none-eabi)
include(${CMAKE_CURRENT_LIST_DIR}/arm-cpus.cmake)
ember_need_core("${ember_core}" clang-19 "give an -mcpu or -march that it lists for \
`clang-19 --target=arm-none-eabi --print-supported-cpus`")

ember_core_macros(ember_gcc_core ${EMBER_ARM_GCC})
set(ember_gcc_flags "${EMBER_CORE_FLAGS}")
if(ember_gcc_core STREQUAL "") # GCC 12 knows no Cortex-M85
  ember_architecture(ember_gcc_flags "${ember_core}")
endif()
ember_without(ember_gcc_flags "${ember_gcc_flags}" "${ember_gcc_core}" "FEATURE_MVE" mve)
ember_without(ember_clang_flags "${EMBER_CORE_FLAGS}" "${ember_core}"
              "FEATURE_MVE (0x)?3" mve.fp)

ember_use_newlib("${ember_gcc_flags} ${EMBER_CPU_OPTIONS}")
ember_target_flags("${ember_clang_flags} ${EMBER_CPU_OPTIONS} ${EMBER_NEWLIB_INCLUDE}")
set(EMBER_PLAIN_COMPILER ${EMBER_ARM_GCC})
set(EMBER_PLAIN_FLAGS "${ember_gcc_flags} ${EMBER_CPU_OPTIONS} ${EMBER_COMMON_FLAGS}")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-nostdlib -fuse-ld=lld-19 -Wl,--gc-sections")
set(EMBER_SYSTEM_LIBRARIES ${EMBER_NEWLIB_LIBRARIES})
