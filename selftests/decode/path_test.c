// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of paths: what is put there is found by its hash, however full the table
 * is; how many stay when there is no more room follows from how often they were taken;
 * those that stay keep all they have, and their hints lead where they led. User space.
 */
#include <stdlib.h>

#include "../../kmod/decode/path.h"
#include "ktap.h"

#define MAX	1000
#define SLOTS	2048
#define WORDS	4096

static struct kipt_path at[MAX];
static struct kipt_path_slot slots[SLOTS];
static u64 words[WORDS];
static struct kipt_paths paths;
static struct ktap ktap;

static void clear(u32 max)
{
	kipt_paths_init(&paths, at, max, slots, SLOTS, words, WORDS);
}

/* Path number n of a test: three kinds in turn, which n says all of. */
static struct kipt_path path_of(u32 n)
{
	struct kipt_path path = { .from = n << 8 | 0x0c, .to = n, .low = 0, .high = 64 };
	struct kipt_path_more *more;

	if (n % 3 == 1) {
		path.from = n << 8 | KIPT_PATH_TIP;
		path.ips[1] = 0x401000 + n;
	}
	if (n % 3 == 2) {
		path.shape = KIPT_SHAPE_MORE;
		path.ips[0] = paths.used;
		more = (void *)&words[paths.used];
		more->guards = 3;
		more->pushes = n % 2;
		more->ips[0] = 0x501000 + n;
		more->ips[2] = 0x502000 + n;
		more->ips[3] = 0x503000 + n;
		paths.used += 4 + n % 2;
	}
	return path;
}

static u64 key_of(u32 n)
{
	return n % 3 == 0 ? 0 : n % 3 == 1 ? 0x401000 + n : 0x501000 + n;
}

/* Number of the path that path_of() made of n, if all of it is there; 0: it is not. */
static u32 find(u32 n)
{
	u32 from = n << 8 | (n % 3 == 1 ? KIPT_PATH_TIP : 0x0c), guards;
	struct kipt_path_slot *slot = kipt_paths_first(&paths, kipt_path_hash(&paths, from, key_of(n)));
	const struct kipt_path *path;
	const u64 *ips;

	while (slot->number && slot->from != from)
		slot = kipt_paths_next(&paths, slot);
	path = &at[slot->number];
	if (!slot->number || path->from != from || path->to != n)
		return 0;
	ips = kipt_path_guards(&paths, path, &guards);
	if (n % 3 == 2 && (guards != 3 || ips[0] != 0x501000 + n || ips[2] != 0x502000 + n ||
			   (n % 2 && ips[3] != 0x503000 + n)))
		return 0;
	return slot->number;
}

/* Puts paths 1 to n - 1. */
static void fill(u32 n)
{
	struct kipt_path path;
	u32 i;

	clear(n);
	for (i = 1; i < n; i++) {
		path = path_of(i);
		kipt_paths_put(&paths, &path);
	}
}

static void test_put(void)
{
	struct kipt_path path;
	bool good = true;
	u32 i;

	fill(MAX);
	for (i = 1; i < MAX; i++)
		good &= find(i) == i;
	ktap_result(&ktap, good, "path.what_is_put_is_found");
	ktap_result(&ktap, !find(MAX) && !find(MAX + 1) && !find(MAX + 2),
		    "path.what_is_not_there_is_not_found");
	ktap_result(&ktap, !paths.full && paths.last == MAX - 1, "path.the_last_fits");
	path = path_of(MAX);
	kipt_paths_put(&paths, &path);
	ktap_result(&ktap, paths.full && paths.count == MAX && paths.last == MAX - 1,
		    "path.one_more_does_not");
}

int main(void)
{
	ktap_start();
	test_put();
	return ktap_end(&ktap);
}
