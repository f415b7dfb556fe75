/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/kipt: the raw trace bytes of a session's CPU. Open, attach to one CPU
 * of one session, then mmap (read only) or poll. Needs CAP_PERFMON or
 * CAP_SYS_ADMIN at open.
 */
#ifndef _UAPI_LINUX_KIPT_RAW_H
#define _UAPI_LINUX_KIPT_RAW_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * struct kipt_raw_attach - choose the buffer this file shows
 * @session: id of a session
 * @cpu: one of its CPUs
 */
struct kipt_raw_attach {
	__u32 session;
	__u32 cpu;
};

/**
 * struct kipt_raw_position - what the buffer holds
 * @size: bytes of the buffer; mmap offset 0 to @size
 * @head: offset of the next byte to be written; the oldest byte when
 *	@wrapped
 * @wrapped: 1 if all of the buffer holds trace, oldest at @head; else trace
 *	is [0, @head)
 * @state: enum kipt_state of the session; the others are exact only when it
 *	is stopped
 * @generation: counts starts; a change means the bytes are of another run
 */
struct kipt_raw_position {
	__u64 size;
	__u64 head;
	__u32 wrapped;
	__u32 state;
	__u64 generation;
};

/* ATTACH: ENOENT no such session; ENXIO the session has no such CPU; EBUSY
 * this file is attached already. POSITION: EINVAL not attached; ESTALE the
 * session is gone (mappings stay readable until unmapped).
 */
#define KIPT_RAW_ATTACH		_IOW('k', 0x70, struct kipt_raw_attach)
#define KIPT_RAW_POSITION	_IOR('k', 0x71, struct kipt_raw_position)

#endif /* _UAPI_LINUX_KIPT_RAW_H */
