// SPDX-License-Identifier: GPL-2.0-only
/*
 * The server of docs/tutorial.md: it answers requests for keys from a table, which it
 * doubles when it is three quarters full. Without a library, so that the program and its
 * recording are small.
 */

#define REQUESTS	600
#define KEYS		500
#ifndef SIZE_FIRST
#define SIZE_FIRST	64
#endif
#define SIZE_MAX	1024

struct entry {
	unsigned int key;
	unsigned int answer;
};

struct table {
	struct entry *entries;
	unsigned int size;
	unsigned int used;
};

static struct entry room[2][SIZE_MAX];
static struct table table = { room[0], SIZE_FIRST, 0 };

__attribute__((noinline)) static unsigned int hash(unsigned int key)
{
	key = (key ^ key >> 15) * 0x2c1b3c6d;
	return key ^ key >> 12;
}

__attribute__((noinline)) static struct entry *table_find(struct table *in, unsigned int key)
{
	unsigned int at = hash(key) % in->size;

	while (in->entries[at].key && in->entries[at].key != key)
		at = (at + 1) % in->size;
	return &in->entries[at];
}

__attribute__((noinline)) static void table_grow(void)
{
	struct table larger = { room[table.entries == room[0]], table.size * 2, table.used };
	unsigned int i;

	for (i = 0; i < table.size; i++) {
		if (table.entries[i].key)
			*table_find(&larger, table.entries[i].key) = table.entries[i];
	}
	table = larger;
	for (i = 0; i < SIZE_MAX; i++)
		room[table.entries == room[0]][i].key = 0;
}

__attribute__((noinline)) static unsigned int answer_make(unsigned int key)
{
	unsigned int answer = key, i;

	for (i = 0; i < 3; i++)
		answer = hash(answer + i);
	return answer;
}

__attribute__((noinline)) static unsigned int request_handle(unsigned int key)
{
	struct entry *entry = table_find(&table, key);

	if (entry->key)
		return entry->answer;
	if (table.used >= table.size / 4 * 3) {
		table_grow();
		entry = table_find(&table, key);
	}
	entry->key = key;
	entry->answer = answer_make(key);
	table.used++;
	return entry->answer;
}

/* The kernel gives a page of memory at the first write to it, which takes a while. */
__attribute__((noinline)) static void pages_touch(void)
{
	volatile struct entry *entry = room[0];
	unsigned int i;

	for (i = 0; i < 2 * SIZE_MAX; i += 4096 / sizeof(*entry))
		entry[i].key = 0;
}

void _start(void);

/* Enters with the stack of a process, not of a function. */
__attribute__((force_align_arg_pointer)) void _start(void)
{
	unsigned int seed = 1, sum = 0, i;

	pages_touch();
	for (i = 0; i < REQUESTS; i++) {
		seed = seed * 1103515245 + 12345;
		sum += request_handle((seed >> 16) % KEYS + 1);
	}
	__asm__ volatile("syscall" : : "a"(60), "D"(sum == 0) : "rcx", "r11", "memory");
	for (;;)
		;
}
