# SPDX-License-Identifier: Apache-2.0
# Lets clang use the newlib and libgcc that arm-none-eabi-gcc would choose.
#   ember_use_newlib("flags")  sets EMBER_NEWLIB_INCLUDE, EMBER_NEWLIB_LIBRARIES
ember_find_tool(EMBER_ARM_GCC arm-none-eabi-gcc gcc-arm-none-eabi)

macro(ember_ask_gcc variable flags question)
  separate_arguments(asked UNIX_COMMAND "${flags} ${question}")
  execute_process(
    COMMAND ${EMBER_ARM_GCC} ${asked}
    OUTPUT_VARIABLE ${variable}
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endmacro()

macro(ember_use_newlib flags)
  ember_ask_gcc(newlib_any "" -print-file-name=libc.a)
  ember_ask_gcc(newlib_c "${flags}" -print-file-name=libc.a)
  ember_ask_gcc(newlib_m "${flags}" -print-file-name=libm.a)
  ember_ask_gcc(newlib_gcc "${flags}" -print-libgcc-file-name)
  if(NOT IS_ABSOLUTE "${newlib_c}")
    message(FATAL_ERROR "newlib is missing; install it: apt-get install libnewlib-arm-none-eabi")
  endif()
  get_filename_component(newlib_folder ${newlib_any} DIRECTORY)
  get_filename_component(newlib_headers ${newlib_folder}/../include ABSOLUTE)
  if(NOT EXISTS ${newlib_headers}/string.h)
    set(newlib_headers /usr/include/newlib)
  endif()
  set(EMBER_NEWLIB_INCLUDE "-isystem ${newlib_headers}")
  set(EMBER_NEWLIB_LIBRARIES ${newlib_m} ${newlib_c} ${newlib_gcc})
endmacro()
