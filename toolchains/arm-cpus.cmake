# SPDX-License-Identifier: Apache-2.0
# Cortex-M cores and their flags, the same for GCC and clang.
# Armv6-M jumps by a table behind a call, of which no bound of the stack is known.
set(EMBER_FLAGS_cortex-m0 "-mcpu=cortex-m0 -mfloat-abi=soft -fno-jump-tables")
set(EMBER_FLAGS_cortex-m0plus "-mcpu=cortex-m0plus -mfloat-abi=soft -fno-jump-tables")
set(EMBER_FLAGS_cortex-m3 "-mcpu=cortex-m3 -mfloat-abi=soft")
set(EMBER_FLAGS_cortex-m4 "-mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard")
set(EMBER_FLAGS_cortex-m7 "-mcpu=cortex-m7 -mfpu=fpv5-d16 -mfloat-abi=hard")
set(EMBER_FLAGS_cortex-m33 "-mcpu=cortex-m33 -mfpu=fpv5-sp-d16 -mfloat-abi=hard")
# Helium's float lanes flush denormals and turn comparisons with NaN around, so that no
# compiler may use them on its own; kernel variants that know it do (kernels/isa.yaml).
set(EMBER_FLAGS_cortex-m55 "-mcpu=cortex-m55+nomve.fp -mfloat-abi=hard")

if(NOT DEFINED EMBER_FLAGS_${EMBER_CPU})
  message(FATAL_ERROR "toolchains/arm-cpus.cmake has no flags for the cpu '${EMBER_CPU}'")
endif()
# GCC's enums take the fewest bytes, clang's take four: structs must look the same to
# both, and to the loader on the host.
set(EMBER_CPU_FLAGS "${EMBER_FLAGS_${EMBER_CPU}} -mthumb -fno-short-enums")
# The runtime is always compiled by GCC. Its loops shall stay loops, not become calls of
# strlen and memset; counted loops, conditional instructions, and addresses that are
# computed anew for each use are larger.
set(EMBER_CORE_OPTIONS -fno-tree-loop-distribute-patterns -fno-branch-count-reg
                       -fno-if-conversion -fno-forward-propagate)
