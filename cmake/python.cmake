# SPDX-License-Identifier: Apache-2.0
# EMBER_PYTHON, an interpreter, and EMBER_COMMAND, a list that starts the command `ember`
# of the package that this file is part of.
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/../sdk/ember")
  get_filename_component(ember_package "${CMAKE_CURRENT_LIST_DIR}/../sdk" ABSOLUTE)
  set(ember_bin "${CMAKE_CURRENT_LIST_DIR}/../.venv/bin") # `make setup` made it
else()
  # An installed package is in lib/pythonX.Y/site-packages/ember/_data/cmake.
  get_filename_component(ember_package "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
  set(ember_bin "${ember_package}/../../../bin")
endif()
if(NOT EMBER_PYTHON)
  find_program(EMBER_PYTHON NAMES python3 python
               HINTS "${ember_bin}" "$ENV{VIRTUAL_ENV}/bin" NO_CMAKE_FIND_ROOT_PATH)
endif()
if(NOT EMBER_PYTHON)
  message(FATAL_ERROR "Ember needs Python: give -DEMBER_PYTHON=<python3 with Ember's packages>")
endif()
set(ember_path "${ember_package}")
if(NOT "$ENV{PYTHONPATH}" STREQUAL "")
  string(APPEND ember_path ":$ENV{PYTHONPATH}")
endif()
set(EMBER_COMMAND "${CMAKE_COMMAND}" -E env "PYTHONPATH=${ember_path}" "${EMBER_PYTHON}"
    -m ember)
