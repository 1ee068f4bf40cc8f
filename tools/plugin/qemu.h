// SPDX-License-Identifier: Apache-2.0
// The part of QEMU's plugin interface that the plugin uses: QEMU ships no header for
// plugins in its Debian packages.
//
// Version 1 of the interface (up to QEMU 8) counts in a variable, version 2 (from QEMU
// 9 on) in one per processor. The functions that only one of them has are null in the
// other, so that the plugin suits the emulator that loads it.
#ifndef EMBER_PLUGIN_QEMU_H
#define EMBER_PLUGIN_QEMU_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_scoreboard;

typedef struct qemu_plugin_u64 {
    struct qemu_plugin_scoreboard *score;
    size_t offset;
} qemu_plugin_u64;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_RW = 3 };

typedef struct qemu_info {
    const char *target_name;
    struct {
        int min;
        int cur;
    } version;
    bool system_emulation;
} qemu_info_t;

typedef void (*tb_callback_t)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*run_callback_t)(unsigned cpu, void *data);
typedef void (*end_callback_t)(qemu_plugin_id_t id, void *data);
typedef void (*mem_callback_t)(unsigned cpu, qemu_plugin_meminfo_t info,
                               uint64_t address, void *data);

extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                                  tb_callback_t cb);
extern void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, end_callback_t cb,
                                           void *data);
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
                                                 run_callback_t cb,
                                                 enum qemu_plugin_cb_flags flags,
                                                 void *data);
extern void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
                                             mem_callback_t cb,
                                             enum qemu_plugin_cb_flags flags,
                                             enum qemu_plugin_mem_rw rw, void *data);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb,
                                                        size_t index);
extern uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
extern size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
extern bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
extern unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);

#define WEAK __attribute__((weak))

// Version 1.
extern WEAK void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb,
                                                          enum qemu_plugin_op op,
                                                          void *to, uint64_t add);
extern WEAK void qemu_plugin_register_vcpu_insn_exec_inline(
    struct qemu_plugin_insn *insn, enum qemu_plugin_op op, void *to, uint64_t add);

// Version 2.
extern WEAK struct qemu_plugin_scoreboard *qemu_plugin_scoreboard_new(size_t size);
extern WEAK uint64_t qemu_plugin_u64_sum(qemu_plugin_u64 counter);
extern WEAK void
qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(struct qemu_plugin_tb *tb,
                                                  enum qemu_plugin_op op,
                                                  qemu_plugin_u64 to, uint64_t add);
extern WEAK void
qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(struct qemu_plugin_insn *insn,
                                                    enum qemu_plugin_op op,
                                                    qemu_plugin_u64 to, uint64_t add);

#undef WEAK

#endif
