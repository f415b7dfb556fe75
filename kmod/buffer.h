/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory trace is written to: regions, the ToPA tables that name them,
 * and linear views of both. One buffer belongs to one CPU of one session;
 * readers hold references, so it may outlive the session. Process context.
 */
#ifndef KIPT_BUFFER_H
#define KIPT_BUFFER_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/types.h>

struct kipt_hw_position;
struct page;
struct vm_area_struct;

#define KIPT_BUFFER_SIZE_MIN	(64ULL << 10)
#define KIPT_BUFFER_SIZE_MAX	(1ULL << 30)

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
 * @regions: @nr_regions of them, by offset
 * @nr_regions: at least 1
 * @tables: @nr_tables pages of ToPA entries, chained in a circle
 * @nr_tables: at least 1
 * @order_min: of the smallest region
 * @order_max: of the largest region
 * @once: STOP and INT are set on the last region
 * @dirty: trace was written since the memory was last cleared
 * @view_lock: guards @view and @views
 * @view: all pages mapped twice in a row, or NULL
 * @views: who uses @view
 */
struct kipt_buffer {
	struct kref refs;
	u64 size;
	int node;
	struct kipt_region *regions;
	u32 nr_regions;
	u64 **tables;
	u32 nr_tables;
	u8 order_min;
	u8 order_max;
	bool once;
	bool dirty;
	struct mutex view_lock;
	void *view;
	u32 views;
};

/**
 * kipt_buffer_create() - allocate a buffer of the largest blocks there are
 * @size: bytes, a power of two from KIPT_BUFFER_SIZE_MIN to _MAX
 * @node: memory node of the CPU it is for
 * @once: make tracing stop at the end instead of going round
 *
 * Return: a buffer with one reference, all zero, or NULL without memory.
 */
struct kipt_buffer *kipt_buffer_create(u64 size, int node, bool once);

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
 * kipt_buffer_clear() - make all bytes zero again
 * @buffer: not written to by a CPU
 *
 * Zeros after the head tell that the ring did not wrap.
 */
void kipt_buffer_clear(struct kipt_buffer *buffer);

/**
 * kipt_buffer_table() - where a CPU is to start
 * @buffer: the buffer
 *
 * Return: physical address of the first ToPA table.
 */
u64 kipt_buffer_table(const struct kipt_buffer *buffer);

/**
 * kipt_buffer_head() - turn output registers into an offset
 * @buffer: what the CPU wrote to
 * @position: the registers, after tracing stopped
 * @head: offset of the next byte to be written, 0 to @size; @size itself
 *	only if the last region is full and has STOP
 *
 * Return: 0, or -EFAULT if the registers do not point into the buffer's
 * tables: someone else wrote them.
 */
int kipt_buffer_head(const struct kipt_buffer *buffer,
		     const struct kipt_hw_position *position, u64 *head);

/**
 * kipt_buffer_wrapped() - whether a ring was written round
 * @buffer: cleared before tracing began
 * @head: as kipt_buffer_head() says
 *
 * Return: true if older trace stands from @head on.
 */
bool kipt_buffer_wrapped(const struct kipt_buffer *buffer, u64 head);

/**
 * kipt_buffer_view() - map a buffer for reading, twice in a row
 * @buffer: the caller has a reference
 *
 * So [head, head + size) is contiguous.
 *
 * Return: the address, or NULL without
 * memory. Give it back with kipt_buffer_unview().
 */
const u8 *kipt_buffer_view(struct kipt_buffer *buffer);

/**
 * kipt_buffer_unview() - give a view back
 * @buffer: kipt_buffer_view() succeeded on it
 */
void kipt_buffer_unview(struct kipt_buffer *buffer);

/**
 * kipt_buffer_map_user() - map a buffer into a process
 * @buffer: referenced by the file that is mapped
 * @vma: read-only; its offset and size lie in the buffer
 *
 * Return: 0; -EINVAL out of range; or what remap_pfn_range() says.
 */
int kipt_buffer_map_user(struct kipt_buffer *buffer,
			 struct vm_area_struct *vma);

#endif /* KIPT_BUFFER_H */
