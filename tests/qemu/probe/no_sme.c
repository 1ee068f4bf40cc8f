// SPDX-License-Identifier: Apache-2.0
// Stands in for sme.c on boards without SME.
int sme_job(const char *name);

int sme_job(const char *name) {
    return name != 0;
}
