// SPDX-License-Identifier: Apache-2.0
// The log of Ember on Zephyr's console.
#include <zephyr/sys/printk.h>

#include "ember/port.h"

void ember_port_log(const char *text) {
    printk("%s", text);
}
