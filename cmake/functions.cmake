# SPDX-License-Identifier: Apache-2.0
# Ember in a CMake project: by find_package(ember CONFIG) or add_subdirectory().
#
#   ember_add_model(<target> <model.pte>... [BOARD <name>] [METHODS <name>...]
#                   [KERNELS <folder>...] [PROJECT <ember.yaml>] [STACK <bytes>]
#                   [OPTIMIZE size|balanced|speed] [MESSAGES] [CALLER_IO])
#     Links the models, the kernels that they need, the runtime and the board's start
#     code into the executable, which has a main(). Models that cannot run end the
#     configuration. A changed model configures again; no kernel is compiled for it.
#
#   ember_add_verify(<target> OpenSSL|sodium|MbedTLS)
#     Checks of signed models: verify.cmake.
#
# With the names and the arguments that they have in ExecuTorch:
#
#   gen_selected_ops(LIB_NAME <name> [OPS_SCHEMA_YAML <file>] [ROOT_OPS "a,b"]
#                    [INCLUDE_ALL_OPS ON] [OPS_FROM_MODEL <model.pte>]
#                    [DTYPE_SELECTIVE_BUILD ON])
#   generate_bindings_for_kernels(LIB_NAME <name> [FUNCTIONS_YAML <file>]
#                                 [CUSTOM_OPS_YAML <file>] [DTYPE_SELECTIVE_BUILD ON]
#                                 [ADD_EXCEPTION_BOUNDARY] [BACKENDS <id>...])
#   gen_operators_lib(LIB_NAME <name> [KERNEL_LIBS <target>...] [DEPS <target>...]
#                     [DTYPE_SELECTIVE_BUILD ON])
#     The library <name>: the table `ember_operators` of the selected kernels, and the
#     runtime. Kernels of CUSTOM_OPS_YAML are in KERNEL_LIBS, which link `ember::headers`.
#
#   SELECT_OPS_LIST, SELECT_ALL_OPS, SELECT_OPS_FROM_MODEL, SELECT_OPS_YAML
#     Variables that make the library `ember_selected_ops` so.
include_guard(GLOBAL)
include("${CMAKE_CURRENT_LIST_DIR}/python.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/verify.cmake")
set_property(GLOBAL PROPERTY EMBER_COMMAND "${EMBER_COMMAND}")
set_property(GLOBAL PROPERTY EMBER_CMAKE_DIR "${CMAKE_CURRENT_LIST_DIR}")

# Runs a command of the SDK; what it complains of ends the configuration, what it notes
# is a warning.
function(ember_run)
  get_property(command GLOBAL PROPERTY EMBER_COMMAND)
  execute_process(COMMAND ${command} ${ARGN} WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
                  OUTPUT_QUIET ERROR_VARIABLE complaint RESULT_VARIABLE failed)
  if(failed)
    string(STRIP "${complaint}" complaint)
    message(FATAL_ERROR "${complaint}")
  elseif(complaint MATCHES "note: .*")
    string(STRIP "${CMAKE_MATCH_0}" note)
    message(WARNING "${note}")
  endif()
endfunction()

# The board of a project: the argument, or EMBER_BOARD. A project has one compiler, so
# it is for one board.
function(ember_board_of variable given)
  if(NOT given AND NOT EMBER_BOARD)
    message(FATAL_ERROR "no board: give BOARD <name> or -DEMBER_BOARD=<name>")
  elseif(given AND EMBER_BOARD AND NOT given STREQUAL EMBER_BOARD)
    message(FATAL_ERROR "this project is configured for ${EMBER_BOARD}, not for ${given}: "
                        "use another build folder with -DEMBER_BOARD=${given}")
  elseif(given AND NOT given MATCHES "^host" AND NOT CMAKE_CROSSCOMPILING)
    get_property(folder GLOBAL PROPERTY EMBER_CMAKE_DIR)
    message(FATAL_ERROR "this project is configured for the host, not for ${given}: "
                        "give -DCMAKE_TOOLCHAIN_FILE=${folder}/board.cmake "
                        "-DEMBER_BOARD=${given}")
  endif()
  set(board "${given}")
  if(NOT board)
    set(board "${EMBER_BOARD}")
  endif()
  set(${variable} "${board}" PARENT_SCOPE)
endfunction()

# Files that configure the project again when they change.
function(ember_depend_on)
  foreach(file ${ARGN})
    get_filename_component(file "${file}" ABSOLUTE)
    file(GLOB_RECURSE inside LIST_DIRECTORIES false "${file}/*")
    if(NOT IS_DIRECTORY "${file}")
      set(inside "${file}")
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${inside})
  endforeach()
endfunction()

# Gives a target what a generated file of variables says.
function(ember_use target visibility file)
  include("${file}")
  target_include_directories(${target} SYSTEM ${visibility} ${EMBER_INCLUDES})
  target_compile_definitions(${target} ${visibility} ${EMBER_DEFINITIONS})
  target_link_options(${target} ${visibility} ${EMBER_LINK_OPTIONS})
  target_link_libraries(${target} ${visibility} ${EMBER_LINK_ITEMS})
endfunction()

function(ember_add_model target)
  cmake_parse_arguments(arg "MESSAGES;CALLER_IO" "BOARD;PROJECT;STACK;OPTIMIZE"
                        "METHODS;KERNELS" ${ARGN})
  if(NOT arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ember_add_model(${target}): no model given")
  endif()
  ember_board_of(board "${arg_BOARD}")
  set(words "")
  foreach(model ${arg_UNPARSED_ARGUMENTS})
    get_filename_component(model "${model}" ABSOLUTE)
    list(APPEND words "${model}")
  endforeach()
  ember_depend_on(${words} ${arg_KERNELS} ${arg_PROJECT})
  list(APPEND words --board ${board})
  foreach(method ${arg_METHODS})
    list(APPEND words --method ${method})
  endforeach()
  foreach(folder ${arg_KERNELS})
    list(APPEND words --kernels "${folder}")
  endforeach()
  foreach(name PROJECT STACK OPTIMIZE)
    if(arg_${name})
      string(TOLOWER ${name} option)
      list(APPEND words --${option} "${arg_${name}}")
    endif()
  endforeach()
  if(EMBER_TOOLCHAIN)
    list(APPEND words --toolchain ${EMBER_TOOLCHAIN})
  endif()
  if(arg_MESSAGES)
    list(APPEND words --messages)
  endif()
  if(arg_CALLER_IO)
    list(APPEND words --caller-io)
  endif()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}.ember")
  ember_run(pack ${words} --out "${folder}")
  ember_use(${target} PRIVATE "${folder}/package.cmake")
  file(GLOB_RECURSE made "${folder}/objects/*.o")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${made})
endfunction()

# ---- names of ExecuTorch -------------------------------------------------------------
function(gen_selected_ops)
  cmake_parse_arguments(
    GEN "" "LIB_NAME;OPS_SCHEMA_YAML;ROOT_OPS;INCLUDE_ALL_OPS;OPS_FROM_MODEL;DTYPE_SELECTIVE_BUILD"
    "" ${ARGN})
  if(GEN_DTYPE_SELECTIVE_BUILD AND NOT GEN_OPS_FROM_MODEL)
    message(FATAL_ERROR "DTYPE_SELECTIVE_BUILD needs OPS_FROM_MODEL: a model says the dtypes")
  endif()
  set(words "")
  if(GEN_OPS_FROM_MODEL)
    get_filename_component(model "${GEN_OPS_FROM_MODEL}" ABSOLUTE)
    list(APPEND words "${model}")
  endif()
  if(GEN_OPS_SCHEMA_YAML)
    list(APPEND words --ops-yaml "${GEN_OPS_SCHEMA_YAML}")
  endif()
  if(GEN_ROOT_OPS)
    list(APPEND words --ops "${GEN_ROOT_OPS}")
  endif()
  if(GEN_INCLUDE_ALL_OPS)
    list(APPEND words --all-ops)
  endif()
  ember_depend_on(${GEN_OPS_FROM_MODEL} ${GEN_OPS_SCHEMA_YAML})
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${GEN_LIB_NAME}")
  file(MAKE_DIRECTORY "${folder}")
  if(NOT words)
    message(FATAL_ERROR "gen_selected_ops(${GEN_LIB_NAME}): no operators are selected")
  endif()
  ember_run(select ${words} --info-only --out "${folder}/selected_operators.yaml")
endfunction()

function(generate_bindings_for_kernels)
  cmake_parse_arguments(GEN "ADD_EXCEPTION_BOUNDARY"
                        "LIB_NAME;FUNCTIONS_YAML;CUSTOM_OPS_YAML;DTYPE_SELECTIVE_BUILD"
                        "BACKENDS" ${ARGN})
  ember_board_of(board "")
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${GEN_LIB_NAME}")
  set(words --selected "${folder}/selected_operators.yaml" --board ${board})
  if(GEN_FUNCTIONS_YAML)
    list(APPEND words --functions "${GEN_FUNCTIONS_YAML}")
  endif()
  if(GEN_CUSTOM_OPS_YAML)
    list(APPEND words --custom-ops "${GEN_CUSTOM_OPS_YAML}")
  endif()
  if(GEN_DTYPE_SELECTIVE_BUILD)
    list(APPEND words --dtypes)
  endif()
  foreach(id ${GEN_BACKENDS})
    list(APPEND words --backend ${id})
  endforeach()
  if(EMBER_TOOLCHAIN)
    list(APPEND words --toolchain ${EMBER_TOOLCHAIN})
  endif()
  ember_depend_on(${GEN_FUNCTIONS_YAML} ${GEN_CUSTOM_OPS_YAML})
  ember_run(bindings ${words} --out "${folder}")
endfunction()

function(gen_operators_lib)
  cmake_parse_arguments(GEN "" "LIB_NAME;DTYPE_SELECTIVE_BUILD" "KERNEL_LIBS;DEPS" ${ARGN})
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${GEN_LIB_NAME}")
  add_library(${GEN_LIB_NAME} STATIC "${folder}/operators.c" "${folder}/backends.c")
  target_link_libraries(${GEN_LIB_NAME} PUBLIC ${GEN_KERNEL_LIBS} ${GEN_DEPS})
  ember_use(${GEN_LIB_NAME} PUBLIC "${folder}/libraries.cmake")
endfunction()

get_filename_component(ember_root "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
add_library(ember::headers INTERFACE IMPORTED GLOBAL)
target_include_directories(ember::headers INTERFACE "${ember_root}/runtime_c/include"
                                                    "${ember_root}")
target_compile_definitions(ember::headers INTERFACE EMBER_ERROR_STRINGS=0)

# What ExecuTorch's projects name as KERNEL_LIBS and DEPS is in every Ember library.
foreach(name executorch executorch_core portable_kernels optimized_kernels
        quantized_kernels portable_ops_lib)
  if(NOT TARGET ${name})
    add_library(${name} INTERFACE IMPORTED GLOBAL)
  endif()
endforeach()

if(SELECT_OPS_LIST OR SELECT_ALL_OPS OR SELECT_OPS_FROM_MODEL OR SELECT_OPS_YAML)
  gen_selected_ops(LIB_NAME ember_selected_ops OPS_SCHEMA_YAML "${SELECT_OPS_YAML}" ROOT_OPS
                   "${SELECT_OPS_LIST}" INCLUDE_ALL_OPS "${SELECT_ALL_OPS}" OPS_FROM_MODEL
                   "${SELECT_OPS_FROM_MODEL}")
  generate_bindings_for_kernels(LIB_NAME ember_selected_ops)
  gen_operators_lib(LIB_NAME ember_selected_ops)
endif()
