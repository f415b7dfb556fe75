/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's types, for files of kmod/ that are compiled in user space. */
#ifndef KIPT_SHIM_TYPES_H
#define KIPT_SHIM_TYPES_H

#include_next <linux/types.h>

#include "../../../kmod/decode/port.h"

#endif /* KIPT_SHIM_TYPES_H */
