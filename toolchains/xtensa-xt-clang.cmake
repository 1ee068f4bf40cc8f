# SPDX-License-Identifier: Apache-2.0
# Xtensa and HiFi cores with Cadence's licensed xt-clang. NOT TRIED: written from the
# options that ExecuTorch's own build uses (backends/cadence/cadence.cmake) and from
# Cadence's public documents; nobody has run it. docs/cadence.md says what to do with it.
#
# It takes from the environment what Cadence's tools take:
#   XTENSA_TOOLCHAIN  folder of the tools        TOOLCHAIN_VER  their version, RI-2023.11
#   XTENSA_CORE       name of the core's configuration, which xt-clang reads itself
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR xtensa)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)

foreach(variable XTENSA_TOOLCHAIN TOOLCHAIN_VER XTENSA_CORE)
  if(NOT DEFINED ENV{${variable}})
    message(FATAL_ERROR "${variable} is not set; it says which Xtensa tools to use")
  endif()
endforeach()
set(xtensa_tools $ENV{XTENSA_TOOLCHAIN}/$ENV{TOOLCHAIN_VER}/XtensaTools/bin)
find_program(CMAKE_C_COMPILER xt-clang PATHS ${xtensa_tools} NO_DEFAULT_PATH REQUIRED)
set(CMAKE_ASM_COMPILER ${CMAKE_C_COMPILER})
set(EMBER_CORE_COMPILER ${CMAKE_C_COMPILER})
find_program(CMAKE_AR xt-ar PATHS ${xtensa_tools} NO_DEFAULT_PATH REQUIRED)
find_program(CMAKE_RANLIB xt-ranlib PATHS ${xtensa_tools} NO_DEFAULT_PATH REQUIRED)

ember_target_flags("-mtext-section-literals -mlongcalls")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--gc-sections")
set(EMBER_SYSTEM_LIBRARIES -lm)
