/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A log of changes to kernel text, a ring, looked up by page. A change has a
 * number, counted from 0. The text before change n is what is in memory with
 * all changes from n on taken back, newest first.
 *
 * Short changes come with the bytes that were there before. Of others only
 * the place is known: text there is unknown before them. The same holds for
 * all text before a change that was not seen, and for the text of a page
 * before the newest of its changes that fell out of the ring.
 *
 * One writer at a time. Readers need no lock: they copy an entry and look
 * afterwards whether it was overwritten meanwhile. Any context.
 */
#ifndef KIPT_PATCH_LOG_H
#define KIPT_PATCH_LOG_H

#include "../../uapi/linux/kipt_crash.h"
#include "../decode/port.h"

struct kipt_patch_log;

/**
 * kipt_patch_log_size() - memory a log needs
 * @entries: changes it holds, a power of two
 *
 * Return: bytes.
 */
size_t kipt_patch_log_size(u32 entries);

/**
 * kipt_patch_log_init() - make a log
 * @memory: kipt_patch_log_size() zeroed bytes
 * @entries: as there
 * @number: of the first change to come
 *
 * What came before @number is unknown.
 *
 * Return: the log, in @memory.
 */
struct kipt_patch_log *kipt_patch_log_init(void *memory, u32 entries,
					   u64 number);

/**
 * kipt_patch_log_add() - text is about to change
 * @log: the log
 * @tsc: when; not before the last one
 * @addr: first address
 * @len: bytes
 * @before: the bytes now, if @len is at most KIPT_CRASH_PATCH_BYTES; NULL: unknown
 *
 * It may take more than one number.
 */
void kipt_patch_log_add(struct kipt_patch_log *log, u64 tsc, u64 addr,
			u64 len, const u8 *before);

/**
 * kipt_patch_log_missed() - a change was not seen
 * @log: the log
 *
 * All text before the next number is unknown from here on. Called by the
 * writer.
 */
void kipt_patch_log_missed(struct kipt_patch_log *log);

/**
 * kipt_patch_log_count() - number of the next change
 * @log: the log
 */
u64 kipt_patch_log_count(const struct kipt_patch_log *log);

/**
 * kipt_patch_log_lost() - changes that are not in the log any more
 * @log: the log
 * @first: number to count from
 */
u64 kipt_patch_log_lost(const struct kipt_patch_log *log, u64 first);

/**
 * kipt_patch_log_at() - the first change made after a time
 * @log: the log
 * @first: number to start looking at
 * @end: number to end before
 * @tsc: the time
 *
 * Return: its number, or @end if all were made at or before @tsc. @first if
 * it is not known, as it is not in the log any more.
 */
u64 kipt_patch_log_at(const struct kipt_patch_log *log, u64 first, u64 end,
		      u64 tsc);

/**
 * kipt_patch_log_undo() - turn text as it is now into what it was
 * @log: the log
 * @first: take back changes from this number on
 * @ip: address of @buf[0]; [@ip, @ip + @len) lies in one page
 * @buf: text read from memory; changed in place
 * @len: bytes
 *
 * Return: false if it is not known what it was.
 */
bool kipt_patch_log_undo(const struct kipt_patch_log *log, u64 first, u64 ip,
			 u8 *buf, u32 len);

/**
 * kipt_patch_log_touches() - whether some changes are in an address range
 * @log: the log
 * @first: number of the first
 * @end: number after the last
 * @ip: first address
 * @len: bytes; the range may go on into the next page
 *
 * Return: true if one of them changed a byte in the range, or that is not
 * known.
 */
bool kipt_patch_log_touches(const struct kipt_patch_log *log, u64 first,
			    u64 end, u64 ip, u32 len);

/**
 * kipt_patch_log_chain() - what is looked through for the changes of a page
 * @log: the log
 * @ip: an address in the page
 *
 * Return: its number, less than the entries of the log; pages may share it.
 */
u32 kipt_patch_log_chain(const struct kipt_patch_log *log, u64 ip);

/**
 * kipt_patch_log_range() - where a change was
 * @log: the log
 * @number: of the change
 * @begin: first address
 * @end: last address + 1
 *
 * Return: false if it is not in the log any more.
 */
bool kipt_patch_log_range(const struct kipt_patch_log *log, u64 number,
			  u64 *begin, u64 *end);

/**
 * kipt_patch_log_where() - where a log is in memory, for who finds it in a dump
 * @log: the log
 * @logs: its members @patches, @patches_start and @patches_missed are filled
 */
void kipt_patch_log_where(const struct kipt_patch_log *log, struct kipt_crash_logs *logs);

#endif /* KIPT_PATCH_LOG_H */
