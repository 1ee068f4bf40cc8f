# SPDX-License-Identifier: Apache-2.0
# Flags of Cortex-M cores, for GCC and clang. EMBER_CORE_FLAGS are those of the core,
# `flags` of boards/cores/<cpu>.yaml; what follows from them is found here by asking the
# compiler, so that a core's file says what the core is and nothing else.
if(NOT EMBER_CORE_FLAGS)
  message(FATAL_ERROR "EMBER_CORE_FLAGS is not set: `flags` of the core in boards/cores")
endif()

# The macros that a compiler defines for the core, "" if it does not know the core.
#   ember_core_macros(variable compiler [option ..])
macro(ember_core_macros variable)
  separate_arguments(core_words UNIX_COMMAND "${EMBER_CORE_FLAGS}")
  execute_process(COMMAND ${ARGN} ${core_words} -mthumb -dM -E -x c /dev/null
                  OUTPUT_VARIABLE ${variable} ERROR_QUIET)
  if(${variable} AND NOT "${${variable}}" MATCHES "ARCH_PROFILE ('M'|77)")
    message(FATAL_ERROR "core ${EMBER_CPU} (`${EMBER_CORE_FLAGS}`) is not a Cortex-M: \
the port cortexm has start-up code for Cortex-M only")
  endif()
endmacro()

# Stops if no compiler of the toolchain knows the core.
#   ember_need_core("macros" "compiler" "remedy")
macro(ember_need_core macros compiler remedy)
  if("${macros}" STREQUAL "")
    message(FATAL_ERROR "${compiler} does not support `${EMBER_CORE_FLAGS}` (`flags` of \
core ${EMBER_CPU}): ${remedy}")
  endif()
endmacro()

# `variable`: the core by its architecture, for a compiler that does not know its name,
# from the `macros` of one that does.
function(ember_architecture variable macros)
  foreach(pair 8_1M_MAIN=armv8.1-m.main 8M_MAIN=armv8-m.main 8M_BASE=armv8-m.base
               7EM=armv7e-m 7M=armv7-m 6M=armv6s-m)
    string(REPLACE "=" ";" pair ${pair})
    list(GET pair 0 macro)
    if(macros MATCHES "__ARM_ARCH_${macro}__ ")
      list(GET pair 1 march)
      break()
    endif()
  endforeach()
  if(march MATCHES "main" AND macros MATCHES "__ARM_FEATURE_DSP ")
    string(APPEND march "+dsp")
  endif()
  if(macros MATCHES "__ARM_FP (0x[cCeE]|12|14)")
    string(APPEND march "+fp.dp")
  elseif(macros MATCHES "__ARM_FP ")
    string(APPEND march "+fp")
  endif()
  string(REGEX REPLACE "-mcpu=[^ ]+" "-march=${march}" flags "${EMBER_CORE_FLAGS}")
  set(${variable} "${flags}" PARENT_SCOPE)
endfunction()

# `variable`: `flags` without an extension that the macros say the core has. Helium's
# float lanes flush denormals and turn comparisons with NaN around, so no compiler may
# use them on its own; kernel variants that know it do (kernels/isa.yaml).
function(ember_without variable flags macros feature extension)
  if(macros MATCHES "${feature}")
    string(REGEX REPLACE "(-m(cpu|arch)=[^ ]+)" "\\1+no${extension}" flags "${flags}")
  endif()
  set(${variable} "${flags}" PARENT_SCOPE)
endfunction()

# Flags for every compiler. GCC's enums take the fewest bytes, clang's take four: structs
# must look the same to both, and to the loader on the host.
set(EMBER_CPU_OPTIONS "-mthumb -fno-short-enums")
ember_core_macros(ember_core ${EMBER_CORE_COMPILER})
if(ember_core MATCHES "ARM_ARCH_ISA_THUMB 1")
  # Such a core jumps by a table behind a call, of which no bound of the stack is known.
  string(APPEND EMBER_CPU_OPTIONS " -fno-jump-tables")
endif()
# The runtime is always compiled by GCC. Its loops must stay loops, not become calls of
# strlen and memset. Counted loops, conditional instructions, addresses computed again for
# each use, constants kept in registers, shared or reordered ends of functions, and
# duplicated paths take more code. Alias analysis saves loads.
set(EMBER_CORE_OPTIONS -fno-tree-loop-distribute-patterns -fno-branch-count-reg
                       -fno-if-conversion -fno-forward-propagate
                       -fno-move-loop-invariants -fno-tree-tail-merge
                       -fno-schedule-insns2 -fno-thread-jumps -fipa-pta)
