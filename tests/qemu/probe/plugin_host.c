// SPDX-License-Identifier: Apache-2.0
// An emulator as its plugin sees one, with version VERSION of the interface and two
// processors: they run a block of five instructions in turn, three times in all; its
// third instruction writes to the first mark.
//
//   plugin_host PLUGIN ADDRESS_OF_MARKS OPTION...
#include "qemu.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 5, WRITER = 2, RUNS = 3, CPUS = 2, MOST = 2 * COUNT };

struct qemu_plugin_insn {
    mem_callback_t access;
    void *data;
};

struct qemu_plugin_tb {
    struct qemu_plugin_insn insns[COUNT];
};

// One that counts: instruction `insn`, or the block as a whole.
struct adder {
    const struct qemu_plugin_insn *insn;
    uint64_t *to; // of each processor
    uint64_t add;
};

static struct qemu_plugin_tb block;
static struct adder adders[MOST];
static int adder_count;
static tb_callback_t translated;
static end_callback_t ended;

static void add_adder(const struct qemu_plugin_insn *insn, uint64_t *to, uint64_t add) {
    adders[adder_count++] = (struct adder){insn, to, add};
}

#if VERSION == 1
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb,
                                              enum qemu_plugin_op op, void *to,
                                              uint64_t add) {
    (void)tb;
    (void)op;
    add_adder(NULL, to, add);
}

void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn,
                                                enum qemu_plugin_op op, void *to,
                                                uint64_t add) {
    (void)op;
    add_adder(insn, to, add);
}
#else
struct qemu_plugin_scoreboard {
    uint64_t values[CPUS];
};

struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t size) {
    return size == sizeof(uint64_t) ? calloc(1, sizeof(struct qemu_plugin_scoreboard))
                                    : NULL;
}

uint64_t qemu_plugin_u64_sum(qemu_plugin_u64 counter) {
    return counter.score->values[0] + counter.score->values[1];
}

void qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_plugin_tb *tb,
                                                       enum qemu_plugin_op op,
                                                       qemu_plugin_u64 to,
                                                       uint64_t add) {
    (void)tb;
    (void)op;
    add_adder(NULL, to.score->values, add);
}

void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *insn,
                                                         enum qemu_plugin_op op,
                                                         qemu_plugin_u64 to,
                                                         uint64_t add) {
    (void)op;
    add_adder(insn, to.score->values, add);
}
#endif

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, tb_callback_t cb) {
    (void)id;
    translated = cb;
}

void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, end_callback_t cb,
                                    void *data) {
    (void)id;
    (void)data;
    ended = cb;
}

void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, run_callback_t cb,
                                          enum qemu_plugin_cb_flags flags, void *data) {
    (void)tb;
    (void)cb;
    (void)flags;
    (void)data;
}

void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, mem_callback_t cb,
                                      enum qemu_plugin_cb_flags flags,
                                      enum qemu_plugin_mem_rw rw, void *data) {
    (void)flags;
    (void)rw;
    *insn = (struct qemu_plugin_insn){cb, data};
}

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb) {
    return sizeof tb->insns / sizeof tb->insns[0];
}

struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb,
                                                 size_t index) {
    (void)tb;
    return &block.insns[index];
}

uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb) {
    (void)tb;
    return 0;
}

size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn) {
    (void)insn;
    return 4;
}

bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info) {
    return info == QEMU_PLUGIN_MEM_RW;
}

unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info) {
    (void)info;
    return 2;
}

static void count(const struct qemu_plugin_insn *insn, unsigned cpu) {
    for (const struct adder *one = adders; one < adders + adder_count; one++) {
        if (one->insn == insn) {
            one->to[VERSION == 1 ? 0 : cpu] += one->add;
        }
    }
}

static void run(unsigned cpu, uint64_t address) {
    count(NULL, cpu);
    for (const struct qemu_plugin_insn *insn = block.insns; insn < block.insns + COUNT;
         insn++) {
        count(insn, cpu);
        if (insn == &block.insns[WRITER]) {
            insn->access(cpu, QEMU_PLUGIN_MEM_RW, address, insn->data);
        }
    }
}

int main(int argc, char **argv) {
    int (*install)(qemu_plugin_id_t, const qemu_info_t *, int, char **);
    void *plugin = argc > 2 ? dlopen(argv[1], RTLD_NOW) : NULL;

    if (plugin == NULL) {
        fprintf(stderr, "plugin_host: %s\n", argc > 2 ? dlerror() : "which plugin?");
        return 1;
    }
    const int *version = dlsym(plugin, "qemu_plugin_version");
    *(void **)&install = dlsym(plugin, "qemu_plugin_install");
    const qemu_info_t info = {.version = {.min = VERSION, .cur = VERSION}};
    if (*version != VERSION || install(1, &info, argc - 3, argv + 3) != 0) {
        fprintf(stderr, "plugin_host: version %d\n", *version);
        return 1;
    }
    translated(1, &block);
    for (unsigned i = 0; i < RUNS; i++) {
        run(i % CPUS, strtoull(argv[2], NULL, 0));
    }
    ended(1, NULL);
    return 0;
}
