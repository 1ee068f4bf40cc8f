# SPDX-License-Identifier: Apache-2.0
# The computer that runs the SDK. EMBER_SANITIZE is a list for -fsanitize=.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
set(EMBER_PORTS host)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES EMBER_SANITIZE)
set(EMBER_MODELS ON)

find_program(CMAKE_C_COMPILER NAMES cc gcc clang REQUIRED)
# CMake 3.31 with GCC 14 does not find out by itself where Debian has libraries.
execute_process(COMMAND ${CMAKE_C_COMPILER} -print-multiarch ERROR_QUIET
                OUTPUT_VARIABLE host_triple OUTPUT_STRIP_TRAILING_WHITESPACE)
if(host_triple)
  set(CMAKE_C_LIBRARY_ARCHITECTURE ${host_triple})
  set(CMAKE_LIBRARY_ARCHITECTURE ${host_triple})
endif()

set(host_flags "-fno-pie")
set(host_link "-no-pie -Wl,--gc-sections")
if(EMBER_SANITIZE)
  string(REPLACE ";" "," checks "${EMBER_SANITIZE}")
  string(APPEND host_flags " -g1 -fsanitize=${checks} -fno-sanitize-recover=all")
  string(APPEND host_link " -fsanitize=${checks}")
endif()
ember_target_flags("${host_flags}")
set(CMAKE_EXE_LINKER_FLAGS_INIT "${host_link}")
set(EMBER_SYSTEM_LIBRARIES -lm)
