// SPDX-License-Identifier: Apache-2.0
// What the parts of this port share: registers of the core, and the guard below the
// stack.
#ifndef EMBER_PORT_CORTEXM_CORE_H
#define EMBER_PORT_CORTEXM_CORE_H

#include "../linker_symbols.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define VTOR              REGISTER(0xE000ED08u)
#define CCR               REGISTER(0xE000ED14u)
#define SHCSR             REGISTER(0xE000ED24u)
#define CFSR              REGISTER(0xE000ED28u)
#define HFSR              REGISTER(0xE000ED2Cu)
#define MMFAR             REGISTER(0xE000ED34u)
#define BFAR              REGISTER(0xE000ED38u)
#define MPU_TYPE          REGISTER(0xE000ED90u)
#define MPU_CTRL          REGISTER(0xE000ED94u)
#define MPU_RNR           REGISTER(0xE000ED98u)
#define MPU_RBAR          REGISTER(0xE000ED9Cu)
#define MPU_RASR          REGISTER(0xE000EDA0u) // Armv7-M
#define MPU_RLAR          REGISTER(0xE000EDA0u) // Armv8-M
#define MPU_MAIR0         REGISTER(0xE000EDC0u)

#define GUARD_WORDS 16 // half of them are an MPU region of the smallest size

// The lowest word of the stack that the program may use.
static inline uint32_t *ember_cortexm_stack_floor(void) {
    return __ember_stack_start + GUARD_WORDS;
}

// Every exception without a handler of the application ends here.
void ember_cortexm_fault_entry(void);

// Handlers that an application may define.
void NMI_Handler(void);
void SVC_Handler(void);
void DebugMon_Handler(void);
void PendSV_Handler(void);
void SysTick_Handler(void);

#endif // EMBER_PORT_CORTEXM_CORE_H
