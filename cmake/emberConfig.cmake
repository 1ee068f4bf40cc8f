# SPDX-License-Identifier: Apache-2.0
# find_package(ember CONFIG): see functions.cmake.
include("${CMAKE_CURRENT_LIST_DIR}/functions.cmake")
