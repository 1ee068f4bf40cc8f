# SPDX-License-Identifier: Apache-2.0
# Flags that every Ember object is built with, whatever the compiler. A toolchain file
# includes this one and adds the target's flags with ember_target_flags().
#
# Numbers are the same on every board only without contraction and fast-math; sections
# of their own let the linker drop what a firmware does not reach.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES EMBER_CPU EMBER_CORE_FLAGS EMBER_HEXAGON_RUNTIME)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_COMPILER_WORKS TRUE)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_INTERPROCEDURAL_OPTIMIZATION OFF)

set(EMBER_COMMON_FLAGS "-std=c11 -ffunction-sections -fdata-sections -ffp-contract=off\
 -fno-math-errno -fomit-frame-pointer -fno-asynchronous-unwind-tables\
 -fno-unwind-tables")
set(EMBER_WARNINGS -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)

macro(ember_target_flags flags)
  set(CMAKE_C_FLAGS_INIT "${flags} ${EMBER_COMMON_FLAGS}")
  set(CMAKE_ASM_FLAGS_INIT "${flags}")
endmacro()

# Stops with the name of the package when a tool is missing.
macro(ember_find_tool variable name package)
  find_program(${variable} ${name})
  if(NOT ${variable})
    message(FATAL_ERROR "${name} is missing; install it: apt-get install ${package}")
  endif()
endmacro()
