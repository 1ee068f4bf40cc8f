# SPDX-License-Identifier: Apache-2.0
# Toolchain file of any board of Ember, read before project():
#
#   cmake -B build -DCMAKE_TOOLCHAIN_FILE=$(ember cmake-dir)/board.cmake
#         -DEMBER_BOARD=mps2-an386 -Dember_DIR=$(ember cmake-dir)
#
#   EMBER_BOARD      see `ember boards`
#   EMBER_TOOLCHAIN  not the board's default
#
# It also names the board's emulator, so that add_test() of an executable starts it.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES EMBER_BOARD EMBER_TOOLCHAIN EMBER_PYTHON)
if(NOT EMBER_BOARD)
  message(FATAL_ERROR "EMBER_BOARD is not set: give -DEMBER_BOARD=<name>, see `ember boards`")
endif()

# CMake reads a toolchain file several times; the facts are asked for once.
if(NOT DEFINED ENV{EMBER_FACTS_${EMBER_BOARD}_${EMBER_TOOLCHAIN}})
  include("${CMAKE_CURRENT_LIST_DIR}/python.cmake")
  set(ember_words cmake-dir --board ${EMBER_BOARD})
  if(EMBER_TOOLCHAIN)
    list(APPEND ember_words --toolchain ${EMBER_TOOLCHAIN})
  endif()
  execute_process(COMMAND ${EMBER_COMMAND} ${ember_words} OUTPUT_VARIABLE ember_facts
                  ERROR_VARIABLE ember_error RESULT_VARIABLE ember_failed)
  if(ember_failed)
    message(FATAL_ERROR "${ember_error}")
  endif()
  set(ENV{EMBER_FACTS_${EMBER_BOARD}_${EMBER_TOOLCHAIN}} "${ember_facts}")
endif()
cmake_language(EVAL CODE "$ENV{EMBER_FACTS_${EMBER_BOARD}_${EMBER_TOOLCHAIN}}")
