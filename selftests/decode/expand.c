// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packed records to plain ones, see expand.h. A node is known by the places of its NODE
 * and LINK records in the stream. User space.
 */
#include <stdlib.h>

#include "expand.h"

/* More nodes or dictionaries than any decoder has memory for. */
#define NUMBERS_MAX	(1U << 24)

/**
 * struct node - where a node is defined
 * @at: place of its NODE record + 1; 0: it is not
 * @links: places of its LINK records + 1, by kind
 */
struct node {
	u64 at;
	u64 links[2];
};

/**
 * struct dictionary - the nodes of one numbering, and where control is in them
 * @nodes: by number
 * @room: of @nodes
 * @here: number of the node
 * @started: there was a START item
 * @slot: of the next return address
 * @returns: numbers of nodes
 */
struct dictionary {
	struct node *nodes;
	u32 room;
	u32 here;
	bool started;
	u32 slot;
	u32 returns[KIPT_WALK_SLOTS];
};

/**
 * struct expansion - what is known so far
 * @packed: the input
 * @count: its records
 * @plain: the output
 * @room: of @plain
 * @made: plain records
 * @left: instructions that no record has counted
 * @dictionaries: all that were spoken of
 * @nr_dictionaries: how many
 * @current: the one that numbers belong to
 * @wrong: the rule that was broken
 */
struct expansion {
	const struct kipt_record *packed;
	u64 count;
	struct kipt_record *plain;
	u64 room;
	u64 made;
	u64 left;
	struct dictionary *dictionaries;
	u32 nr_dictionaries;
	u32 current;
	const char *wrong;
};

static void *grow(void *array, u32 *room, u32 number, size_t size)
{
	u32 more = *room;

	if (number < *room)
		return array;
	while (more <= number)
		more = more ? more * 2 : 64;
	array = realloc(array, more * size);
	if (!array)
		exit(2);
	memset((u8 *)array + *room * size, 0, (more - *room) * size);
	*room = more;
	return array;
}

/* Where decoding starts from scratch nothing is counted (KIPT_SYNC_START). */
static void put(struct expansion *e, const struct kipt_record *record)
{
	struct kipt_record copy = *record;
	u64 sum = record->aux + e->left;

	switch (record->type) {
	case KIPT_RECORD_SYNC:
		if (record->kind == KIPT_SYNC_START)
			sum = 0;
		fallthrough;
	case KIPT_RECORD_BRANCH:
	case KIPT_RECORD_DISABLE:
		copy.aux = sum < 0xffffffffU ? (u32)sum : 0xffffffffU;
		fallthrough;
	case KIPT_RECORD_ENABLE:
	case KIPT_RECORD_GAP:
		e->left = 0;
		break;
	default:
		break;
	}
	if (e->made < e->room)
		e->plain[e->made] = copy;
	e->made++;
}

static struct dictionary *dictionary_of(struct expansion *e)
{
	e->dictionaries = grow(e->dictionaries, &e->nr_dictionaries, e->current,
			       sizeof(*e->dictionaries));
	return &e->dictionaries[e->current];
}

static struct node *node_of(struct expansion *e, u64 number)
{
	struct dictionary *d = dictionary_of(e);

	d->nodes = grow(d->nodes, &d->room, (u32)number, sizeof(*d->nodes));
	return &d->nodes[number];
}

static const struct kipt_record *definition(struct expansion *e, u32 number)
{
	static const struct kipt_record none = { .kind = KIPT_NODE_SLOW };
	struct node *node;

	if (number >= NUMBERS_MAX) {
		e->wrong = "a node's number is far too large";
		return &none;
	}
	node = node_of(e, number);
	if (!node->at)
		e->wrong = "control goes to a node that is not defined";
	return node->at ? &e->packed[node->at - 1] : &none;
}

static void take_node(struct expansion *e, u64 at)
{
	const struct kipt_record *record = &e->packed[at];

	if (record->aux >= NUMBERS_MAX)
		e->wrong = "a node's number is far too large";
	else
		*node_of(e, record->aux) = (struct node){ .at = at + 1 };
}

static void take_link(struct expansion *e, u64 at)
{
	const struct kipt_record *link = &e->packed[at];

	if (link->aux >= NUMBERS_MAX || link->kind > KIPT_LINK_RETURN)
		e->wrong = "a link's number or kind is too large";
	else if (link->kind != KIPT_LINK_RETURN)
		node_of(e, link->aux)->links[link->kind] = at + 1;
	else if (link->aux < KIPT_WALK_SLOTS)
		dictionary_of(e)->returns[link->aux] = (u32)link->value;
	else
		e->wrong = "a return address has no such slot";
}

static u32 link_of(struct expansion *e, u32 which)
{
	struct node *node = node_of(e, dictionary_of(e)->here);

	if (!node->links[which]) {
		e->wrong = "there is no such link";
		return 0;
	}
	return (u32)e->packed[node->links[which] - 1].value;
}

/* Leaves the current node for another; @shows: its branch has a record. */
static void leave(struct expansion *e, u32 to, bool shows, u16 flags)
{
	struct dictionary *d = dictionary_of(e);
	const struct kipt_record *node = definition(e, d->here);
	struct kipt_record branch = {
		.type = KIPT_RECORD_BRANCH,
		.kind = kipt_node_branch(node->flags),
		.flags = flags,
		.ip = node->ip,
		.value = definition(e, to)->value,
	};

	e->left += kipt_node_insns(node->flags);
	if (node->flags & KIPT_NODE_PUSHES)
		d->returns[d->slot++ % KIPT_WALK_SLOTS] = link_of(e, KIPT_LINK_FALL_THROUGH);
	if (shows && branch.kind)
		put(e, &branch);
	d->here = to;
}

/* A node that needs no packet is left. */
static bool pass(struct expansion *e)
{
	switch (definition(e, dictionary_of(e)->here)->kind) {
	case KIPT_NODE_CALL:
	case KIPT_NODE_JUMP:
		leave(e, link_of(e, KIPT_LINK_TARGET), true, 0);
		return true;
	case KIPT_NODE_ON:
		leave(e, link_of(e, KIPT_LINK_FALL_THROUGH), false, 0);
		return true;
	default:
		return false;
	}
}

static void pass_all(struct expansion *e)
{
	u32 n;

	for (n = 0; !e->wrong && pass(e); n++) {
		if (n > KIPT_WALK_REACH)
			e->wrong = "no node on the way uses a packet";
	}
}

static void use_outcome(struct expansion *e, bool taken)
{
	struct dictionary *d;

	pass_all(e);
	if (e->wrong)
		return;
	d = dictionary_of(e);
	switch (definition(e, d->here)->kind) {
	case KIPT_NODE_COND:
		leave(e, link_of(e, taken), taken, 0);
		return;
	case KIPT_NODE_RET:
		if (taken) {
			leave(e, d->returns[--d->slot % KIPT_WALK_SLOTS], true,
			      KIPT_RF_COMPRESSED);
			return;
		}
		fallthrough;
	default:
		e->wrong = "an outcome is where none can be";
	}
}

static void use_target(struct expansion *e, u32 to)
{
	struct dictionary *d;
	u32 kind;

	pass_all(e);
	if (e->wrong)
		return;
	d = dictionary_of(e);
	kind = definition(e, d->here)->kind;
	if (kind == KIPT_NODE_RET)
		d->slot--;
	if (kind == KIPT_NODE_RET || kind == KIPT_NODE_TARGET)
		leave(e, to, true, 0);
	else
		e->wrong = "a target is where none can be";
}

static void go_up_to(struct expansion *e, u32 to)
{
	u32 n;

	for (n = 0; !e->wrong && dictionary_of(e)->here != to; n++) {
		if (n > KIPT_WALK_REACH || !pass(e))
			e->wrong = "a node is not reached";
	}
}

static u32 number_at(const u8 *bytes)
{
	u32 number;

	memcpy(&number, bytes, sizeof(number));
	return number;
}

/* Returns the bytes of the item at @bytes, of which there are @left. */
static u32 take_item(struct expansion *e, const u8 *bytes, u32 left)
{
	u32 size = kipt_walk_size(*bytes);
	struct dictionary *d = dictionary_of(e);
	int bit;

	if (!size || size > left) {
		e->wrong = "an item makes no sense";
	} else if (*bytes == KIPT_WALK_START) {
		d->started = true;
		d->here = number_at(bytes + 1);
		d->slot = bytes[5] + KIPT_WALK_SLOTS;
		e->left += number_at(bytes + 6);
	} else if (!d->started) {
		e->wrong = "nothing says where control is";
	} else if (*bytes == KIPT_WALK_TARGET) {
		use_target(e, number_at(bytes + 1));
	} else if (*bytes == KIPT_WALK_NEAR) {
		use_target(e, bytes[1] | (u32)bytes[2] << 8);
	} else if (*bytes == KIPT_WALK_UPTO) {
		go_up_to(e, number_at(bytes + 1));
	} else {
		for (bit = 30 - __builtin_clz(*bytes); bit > 0 && !e->wrong; bit--)
			use_outcome(e, *bytes >> bit & 1);
	}
	return size;
}

static void take_walk(struct expansion *e, const struct kipt_record *record)
{
	const u8 *bytes = kipt_record_walk(record);
	u32 at = 0;

	if (record->kind > KIPT_RECORD_WALK_MAX)
		e->wrong = "a WALK record has too many bytes";
	while (!e->wrong && at < record->kind)
		at += take_item(e, bytes + at, record->kind - at);
}

u64 expand(const struct kipt_record *packed, u64 count,
	   struct kipt_record *plain, u64 room, const char **wrong)
{
	struct expansion e = { .packed = packed, .count = count,
			       .plain = plain, .room = room };
	u64 at;
	u32 i;

	for (at = 0; at < count && !e.wrong; at++) {
		if (packed[at].type == KIPT_RECORD_NODE)
			take_node(&e, at);
		else if (packed[at].type == KIPT_RECORD_LINK)
			take_link(&e, at);
		else if (packed[at].type == KIPT_RECORD_WALK)
			take_walk(&e, &packed[at]);
		else if (packed[at].type != KIPT_RECORD_DICTIONARY)
			put(&e, &packed[at]);
		else if (packed[at].aux < NUMBERS_MAX)
			e.current = packed[at].aux;
		else
			e.wrong = "a dictionary's number is far too large";
	}
	for (i = 0; i < e.nr_dictionaries; i++)
		free(e.dictionaries[i].nodes);
	free(e.dictionaries);
	*wrong = e.wrong;
	return e.made;
}
