/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/kipt: the raw trace bytes of a session's CPU. Open, attach to one CPU
 * of one session, then mmap (read only) or poll. The mode of the device file
 * lets everybody open it; open, each ioctl and mmap then need CAP_PERFMON or
 * CAP_SYS_ADMIN in the initial user namespace and no lockdown, and the session
 * must be made by the same effective user id, unless the caller has
 * CAP_SYS_ADMIN.
 *
 * A file that is attached keeps the buffer, and its memory stays charged,
 * until the file is closed and all mappings are gone.
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
 * @bytes: in: bytes of this struct the caller knows; out: of these, how many
 *	the kernel filled in. New members come at the end, and the rest of what
 *	the caller offers becomes zero
 * @state: enum kipt_state of the trace of this CPU; the others are exact only
 *	while it does not run
 * @head: place of the next byte: of a buffer that is filled once the bytes of this
 *	run; of a ring its offset in the buffer, and @size more once the ring was
 *	written round, however often
 * @tail: place of the oldest byte there is; @head - @tail <= @size
 * @size: bytes of the buffer; place p is at p % @size of the mapping
 * @lost: @tail: not 0 if bytes of this run were overwritten, of a ring less than
 *	one round of them
 * @generation: counts starts; a change means the bytes are of another run
 * @cause: enum kipt_stop_cause of the end of this run, or 0
 * @reserved: zero
 */
struct kipt_raw_position {
	__u32 bytes;
	__u32 state;
	__u64 head;
	__u64 tail;
	__u64 size;
	__u64 lost;
	__u64 generation;
	__u32 cause;
	__u32 reserved;
};

/**
 * struct kipt_raw_lend - let perf have Intel PT of all armed sessions
 * @seconds: until they take it back, at most KIPT_RAW_LEND_MAX; 0: when the file is
 *	closed
 * @reserved: zero
 */
struct kipt_raw_lend {
	__u32 seconds;
	__u32 reserved;
};

#define KIPT_RAW_LEND_MAX	604800

/**
 * struct kipt_raw_space - the code of a process for a time
 * @tgid: process, by its number in the initial PID namespace
 * @flags: KIPT_RAW_SPACE_NEW: it begins with a fork or an exec. Without, something
 *	else came to be where code of the space before, of the same process, was
 * @from: TSC from which on it holds, until the next one of the process; 0: from the
 *	begin on
 * @first: number of its first range; several may have the same
 * @count: how many it has, in order of their addresses
 */
struct kipt_raw_space {
	__u32 tgid;
	__u32 flags;
	__u64 from;
	__u32 first;
	__u32 count;
};

#define KIPT_RAW_SPACE_NEW	1

/**
 * struct kipt_raw_range - where a file was mapped
 * @begin: first address
 * @end: last address + 1, at most KIPT_RAW_USER_END
 * @offset: in the file, of @begin; as those, a multiple of 4096
 * @file: what KIPT_RAW_FILE returned; KIPT_RAW_VDSO: the vDSO, of which the kernel
 *	knows which one the process has; or KIPT_RAW_NO_FILE: memory of no file, or of
 *	one that cannot be had
 * @reserved: zero
 */
struct kipt_raw_range {
	__u64 begin;
	__u64 end;
	__u64 offset;
	__u32 file;
	__u32 reserved;
};

/* User code ends before this address. */
#define KIPT_RAW_USER_END	(1ULL << 56)

#define KIPT_RAW_NO_FILE	0xffffffffU
#define KIPT_RAW_VDSO		0xfffffffeU

/**
 * struct kipt_raw_images - where code of processes is to be read
 * @spaces: address of an array of struct kipt_raw_space, by @tgid, then by @from
 * @ranges: address of an array of struct kipt_raw_range
 * @nr_spaces: how many, 1 to KIPT_RAW_SPACES_MAX; KIPT_RAW_CHANGES_MAX of them at most
 *	neither are the first of their process nor have KIPT_RAW_SPACE_NEW
 * @nr_ranges: how many, 1 to KIPT_RAW_RANGES_MAX
 */
struct kipt_raw_images {
	__u64 spaces;
	__u64 ranges;
	__u32 nr_spaces;
	__u32 nr_ranges;
};

#define KIPT_RAW_FILES_MAX	65536
#define KIPT_RAW_SPACES_MAX	1048576
#define KIPT_RAW_RANGES_MAX	1048576
#define KIPT_RAW_CHANGES_MAX	65536

/* The first version of the struct ends here. */
#define KIPT_RAW_POSITION_BYTES	56

/*
 * The number of POSITION does not contain the size of the struct, which may
 * grow. All: EPERM. ATTACH: ENOENT no such session; ENXIO the session has no
 * such CPU; EBUSY this file is attached already, or session-new is not done.
 * POSITION: EINVAL not attached, or @bytes less than
 * KIPT_RAW_POSITION_BYTES; ESTALE the session is gone (mappings stay readable
 * until unmapped). LEND: armed sessions stop until the file is closed, by whomever,
 * or the time is over; EPERM also who may not delete each of them; ENOENT no session
 * is armed; EBUSY it is lent already; EINVAL @seconds is too large, or @reserved
 * not zero; ETIMEDOUT a CPU does not answer, nothing is lent.
 *
 * FILE takes a file of which code is to be read, by its descriptor, for the next
 * IMAGES of this file; returns its number, from 0 on. EINVAL not attached, or it is
 * no regular file, is of FUSE, whose server may never answer, or made by the kernel
 * when it is read; EBADF it is not open for reading; E2BIG there are
 * KIPT_RAW_FILES_MAX; ENOMEM; EOPNOTSUPP the module was built without its decoder.
 * IMAGES gives the session what the fetches to come use, in place of what it had; it
 * loses it when it starts again or is deleted; until then the files stay open, in no
 * process, and their file systems in use. What a range covers is read from its file, unless its
 * process, which still runs, wrote over it; all else from memory of the processes that
 * still run. EINVAL not attached, or a member is not as said above; E2BIG too many;
 * EBUSY a fetch is under way, or the session is not stopped; ESTALE it is gone; ENOMEM;
 * EOPNOTSUPP as FILE. Whatever IMAGES returns, the files are not this file's any more.
 */
#define KIPT_RAW_ATTACH		_IOW('k', 0x70, struct kipt_raw_attach)
#define KIPT_RAW_POSITION	_IO('k', 0x72)
#define KIPT_RAW_LEND		_IOW('k', 0x73, struct kipt_raw_lend)
#define KIPT_RAW_FILE		_IOW('k', 0x74, __s32)
#define KIPT_RAW_IMAGES		_IOW('k', 0x75, struct kipt_raw_images)

#endif /* _UAPI_LINUX_KIPT_RAW_H */
