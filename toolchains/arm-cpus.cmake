# SPDX-License-Identifier: Apache-2.0
# Flags of Cortex-M cores, the same for GCC and clang. EMBER_CORE_FLAGS are those of the
# core, `flags` of boards/cores/<cpu>.yaml.
if(NOT EMBER_CORE_FLAGS)
  message(FATAL_ERROR "EMBER_CORE_FLAGS is not set: `flags` of the core in boards/cores")
endif()
# GCC's enums take the fewest bytes, clang's take four: structs must look the same to
# both, and to the loader on the host.
set(EMBER_CPU_FLAGS "${EMBER_CORE_FLAGS} -mthumb -fno-short-enums")
# The runtime is always compiled by GCC. Its loops shall stay loops, not become calls of
# strlen and memset; counted loops, conditional instructions, and addresses that are
# computed anew for each use are larger.
set(EMBER_CORE_OPTIONS -fno-tree-loop-distribute-patterns -fno-branch-count-reg
                       -fno-if-conversion -fno-forward-propagate)
