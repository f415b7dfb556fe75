/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's parameters of modules: what they are called is what a test sets
 * them by, "extern uint *const param_NAME".
 */
#ifndef KIPT_SHIM_MODULE_H
#define KIPT_SHIM_MODULE_H

#include <sys/types.h>

#define KBUILD_MODNAME	"kipt"
#define MODULE_PARM_DESC(name, text)
#define module_param(name, type, mode)	__typeof__(&(name)) const param_##name = &(name)

#endif /* KIPT_SHIM_MODULE_H */
