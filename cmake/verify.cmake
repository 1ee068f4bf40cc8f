# SPDX-License-Identifier: Apache-2.0
# Signed models in a CMake project (ember/verify.h):
#
#   ember_add_verify(<target> OpenSSL|sodium|MbedTLS)
#     Compiles ember_verify() into the target, with `ember_crypto_openssl`,
#     `ember_crypto_sodium` or `ember_crypto_mbedtls`, and links the library. That is the
#     project's target OpenSSL::Crypto, sodium or MbedTLS::mbedcrypto, if it has one, as
#     projects for boards do; else one that CMake finds.
get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
set_property(GLOBAL PROPERTY EMBER_VERIFY_DIR "${root}/runtime_c/verify")

# A library without a package for CMake as an imported target.
function(ember_find_library target header library)
  string(TOUPPER "EMBER_${library}" prefix)
  find_path(${prefix}_INCLUDE ${header})
  # The compiler knows folders that CMake does not look into.
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=lib${library}.so
                  OUTPUT_VARIABLE place OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  get_filename_component(hint "${place}" DIRECTORY)
  find_library(${prefix}_LIBRARY ${library} HINTS "${hint}")
  if(NOT ${prefix}_INCLUDE OR NOT ${prefix}_LIBRARY)
    message(FATAL_ERROR "ember_add_verify: ${library} was not found: install it, or give "
                        "-D${prefix}_INCLUDE=<folder> -D${prefix}_LIBRARY=<file>")
  endif()
  add_library(${target} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${${prefix}_LIBRARY}"
                                             INTERFACE_INCLUDE_DIRECTORIES "${${prefix}_INCLUDE}")
endfunction()

function(ember_add_verify target library)
  set(crypto_OpenSSL OpenSSL::Crypto)
  set(crypto_sodium sodium)
  set(crypto_MbedTLS MbedTLS::mbedcrypto)
  if(NOT DEFINED crypto_${library})
    message(FATAL_ERROR "ember_add_verify(${target} ${library}): the library is one of "
                        "OpenSSL, sodium, MbedTLS")
  endif()
  set(crypto ${crypto_${library}})
  if(NOT TARGET ${crypto} AND library STREQUAL OpenSSL)
    find_package(OpenSSL 3 REQUIRED COMPONENTS Crypto)
  elseif(NOT TARGET ${crypto} AND library STREQUAL sodium)
    ember_find_library(sodium sodium.h sodium)
  elseif(NOT TARGET ${crypto})
    find_package(MbedTLS CONFIG QUIET)
    if(NOT TARGET ${crypto})
      ember_find_library(${crypto} mbedtls/ecdsa.h mbedcrypto)
    endif()
  endif()
  get_property(folder GLOBAL PROPERTY EMBER_VERIFY_DIR)
  string(TOLOWER ${library} name)
  target_sources(${target} PRIVATE "${folder}/verify.c" "${folder}/${name}.c")
  target_link_libraries(${target} PRIVATE ember::headers ${crypto})
endfunction()
