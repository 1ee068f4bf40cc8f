# SPDX-License-Identifier: Apache-2.0
# The package has the version of the Python package, and suits every target.
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/../sdk/ember/__init__.py")
  file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../sdk/ember/__init__.py" ember_line
       REGEX "__version__ =")
else()
  file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../../__init__.py" ember_line
       REGEX "__version__ =")
endif()
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" PACKAGE_VERSION "${ember_line}")
if(PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
