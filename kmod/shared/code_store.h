/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code pages of address spaces that ended, as they were at the end, in a
 * bounded number of bytes. Equal pages are held once. When there is no room
 * the oldest are dropped, whoever they belong to.
 *
 * Pure: knows numbers of address spaces and bytes, no kernel. The caller gives
 * the memory and serialises all calls, but those that look up may run side by
 * side.
 */
#ifndef KIPT_CODE_STORE_H
#define KIPT_CODE_STORE_H

#include "../decode/port.h"

#define KIPT_CODE_PAGE		4096U

struct kipt_code_store;

/**
 * kipt_code_store_size() - memory for the bookkeeping of a store
 * @bytes: of pages the store may hold
 *
 * Return: bytes, some per cent of @bytes.
 */
size_t kipt_code_store_size(u64 bytes);

/**
 * kipt_code_store_init() - make an empty store
 * @memory: kipt_code_store_size() zeroed bytes, 8-byte aligned
 * @bytes: the bound on pages, as for kipt_code_store_size()
 * @seed: whoever maps pages cannot guess it
 *
 * Return: the store, in @memory; it has no page until it grows.
 */
struct kipt_code_store *kipt_code_store_init(void *memory, u64 bytes,
					     u64 seed);

/**
 * kipt_code_store_wants() - whether more memory would keep more
 * @store: the store
 *
 * Return: true if each page it has is in use and the bound is not reached.
 */
bool kipt_code_store_wants(const struct kipt_code_store *store);

/**
 * kipt_code_store_grow() - give a store a page
 * @store: it wants them
 * @memory: KIPT_CODE_PAGE bytes; the caller's, see
 *	kipt_code_store_shrink()
 */
void kipt_code_store_grow(struct kipt_code_store *store, void *memory);

/**
 * kipt_code_store_shrink() - take a page back
 * @store: empty, see kipt_code_store_clear()
 *
 * Return: what kipt_code_store_grow() gave last, or NULL if there is no more.
 */
void *kipt_code_store_shrink(struct kipt_code_store *store);

/**
 * kipt_code_store_clear() - forget all pages and figures, keep the memory
 * @store: the store
 */
void kipt_code_store_clear(struct kipt_code_store *store);

/**
 * kipt_code_store_put() - keep a page
 * @store: the store
 * @id: number of the address space, not 0
 * @addr: of the page
 * @hash: of @data, which whoever wrote that cannot guess
 * @data: KIPT_CODE_PAGE bytes
 *
 * Return: false if there is no room, though everything else was dropped.
 */
bool kipt_code_store_put(struct kipt_code_store *store, u64 id, u64 addr,
			 u64 hash, const u8 *data);

/**
 * kipt_code_store_get() - read kept code
 * @store: the store
 * @id: number of the address space
 * @ip: address; [@ip, @ip + @len) lies in one page
 * @buf: where to
 * @len: bytes
 *
 * Return: false if that page is not there.
 */
bool kipt_code_store_get(const struct kipt_code_store *store, u64 id, u64 ip,
			 u8 *buf, u32 len);

/**
 * kipt_code_store_bytes() - bytes of pages in use
 * @store: the store
 */
u64 kipt_code_store_bytes(const struct kipt_code_store *store);

/**
 * kipt_code_store_dropped() - bytes of address spaces' code that were dropped
 * @store: the store
 *
 * A page that several address spaces had counts once for each.
 */
u64 kipt_code_store_dropped(const struct kipt_code_store *store);

#endif /* KIPT_CODE_STORE_H */
