/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory trace is written to: regions, the ToPA tables that name them,
 * and linear views of both. One buffer belongs to one CPU of one session;
 * readers hold references, so it may outlive the session. Process context.
 */
#ifndef KIPT_BUFFER_H
#define KIPT_BUFFER_H

#include <linux/kref.h>
#include <linux/types.h>

struct kipt_hw_position;
struct page;
struct vm_area_struct;

/* Random bytes at the end of a ring, which a lap overwrites. */
#define KIPT_BUFFER_COOKIE	64

/**
 * struct kipt_region - one block of memory, one ToPA entry
 * @page: its first page
 * @begin: offset of its first byte in the buffer
 * @order: it has PAGE_SIZE << @order bytes
 */
struct kipt_region {
	struct page *page;
	u64 begin;
	u8 order;
};

/**
 * struct kipt_buffer - regions and their tables
 * @refs: who uses it
 * @size: bytes; the sum of the regions
 * @node: where its memory was asked for
 * @grown: bytes allocated so far; @size when the buffer is whole
 * @charged: bytes of regions and tables, taken from the module's limit
 * @regions: @nr_regions of them, by offset
 * @nr_regions: at least 1 when the buffer is whole
 * @room: how many @regions has memory for
 * @tables: @nr_tables pages of ToPA entries, chained in a circle
 * @nr_tables: at least 1 when the buffer is whole
 * @order: of the next block to try
 * @order_min: of the smallest region
 * @order_max: of the largest region
 * @once: STOP and INT are set on the last region
 * @cookie: what the end of the ring held at the last start
 * @view: all pages mapped twice in a row, or NULL
 */
struct kipt_buffer {
	struct kref refs;
	u64 size;
	int node;
	u64 grown;
	u64 charged;
	struct kipt_region *regions;
	u32 nr_regions;
	u32 room;
	u64 **tables;
	u32 nr_tables;
	u8 order;
	u8 order_min;
	u8 order_max;
	bool once;
	u8 cookie[KIPT_BUFFER_COOKIE];
	void *view;
};

/**
 * kipt_buffer_create() - make a buffer that has no memory yet
 * @size: bytes, a power of two from KIPT_SIZE_MIN to KIPT_SIZE_MAX
 * @node: memory node of the CPU it is for
 * @once: make tracing stop at the end instead of going round
 *
 * Quick. Context: may sleep.
 *
 * Return: a buffer with one reference, or NULL without memory.
 */
struct kipt_buffer *kipt_buffer_create(u64 size, int node, bool once);

/**
 * kipt_buffer_grow() - allocate a part of a buffer, zeroed
 * @buffer: not whole yet; used by nobody else
 * @bytes: about how much; at least one block is allocated
 *
 * Takes the largest blocks there are. All memory is charged: to the module's
 * limit by kipt_memory_charge(), and to the memory cgroup of the caller. The
 * last call makes the ToPA tables.
 *
 * Context: may sleep; takes a millisecond per MiB or so.
 *
 * Return:
 * 1: the buffer is whole; see @buffer->nr_regions for how many blocks it is.
 * 0: call again.
 * -EINTR: the caller is being killed.
 * -ENOMEM: no memory, or the limit of the module is reached.
 * After an error, drop the buffer.
 */
int kipt_buffer_grow(struct kipt_buffer *buffer, u64 bytes);

/**
 * kipt_buffer_get() - take a reference
 * @buffer: the caller has one already
 *
 * Return: @buffer.
 */
struct kipt_buffer *kipt_buffer_get(struct kipt_buffer *buffer);

/**
 * kipt_buffer_put() - drop a reference; the last one frees the memory
 * @buffer: may be NULL
 */
void kipt_buffer_put(struct kipt_buffer *buffer);

/**
 * kipt_buffer_mark() - put a new cookie at the end, before a start
 * @buffer: whole; not written to by a CPU
 *
 * Context: process.
 */
void kipt_buffer_mark(struct kipt_buffer *buffer);

/**
 * kipt_buffer_table() - where a CPU is to start
 * @buffer: the buffer
 *
 * Return: physical address of the first ToPA table.
 */
u64 kipt_buffer_table(const struct kipt_buffer *buffer);

/**
 * kipt_buffer_measure() - turn output registers into positions
 * @buffer: marked before tracing began
 * @position: the registers, after tracing stopped
 * @head: bytes written, to the end; see struct kipt_trace_result
 * @tail: the oldest byte that is there, counted like @head
 *
 * Quick, whatever the size. Context: any, also NMI.
 *
 * Return: 0, or -EFAULT if the registers do not point into the buffer's
 * tables: someone else wrote them.
 */
int kipt_buffer_measure(const struct kipt_buffer *buffer,
			const struct kipt_hw_position *position, u64 *head,
			u64 *tail);

/**
 * kipt_buffer_copy() - copy a part of a ring
 * @buffer: whole; no CPU writes to it
 * @from: first byte, counted as by kipt_buffer_measure()
 * @to: after the last one
 * @bytes: where to; the first byte comes first
 *
 * Context: any.
 */
void kipt_buffer_copy(const struct kipt_buffer *buffer, u64 from, u64 to,
		      u8 *bytes);

/**
 * kipt_buffer_view() - map a buffer for reading, twice in a row
 * @buffer: the caller has a reference
 *
 * So [head, head + size) is contiguous. It stays mapped as long as the buffer is there, which
 * takes another 16 bytes for each page.
 *
 * Context: may sleep; one caller at a time.
 *
 * Return: the address, or NULL without memory.
 */
const u8 *kipt_buffer_view(struct kipt_buffer *buffer);

/**
 * kipt_buffer_map_user() - map a buffer into a process
 * @buffer: referenced by the file that is mapped
 * @vma: of page frames (VM_PFNMAP), never writable
 *
 * Return: 0; -EINVAL if its offset and size do not lie in the buffer; -ENOMEM;
 * -EINTR if the task is being killed.
 */
int kipt_buffer_map_user(struct kipt_buffer *buffer,
			 struct vm_area_struct *vma);

#endif /* KIPT_BUFFER_H */
