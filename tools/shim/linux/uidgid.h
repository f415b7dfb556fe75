/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's user ids, in user space. */
#ifndef KIPT_SHIM_UIDGID_H
#define KIPT_SHIM_UIDGID_H

#include <linux/types.h>

typedef struct {
	u32 val;
} kuid_t;

static inline u32 __kuid_val(kuid_t uid)
{
	return uid.val;
}

#endif /* KIPT_SHIM_UIDGID_H */
