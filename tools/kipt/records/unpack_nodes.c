// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walking the nodes that packed records define, see unpack_nodes.h. A node that is not
 * defined has kind 0, and control never gets there.
 */
#include <stdlib.h>
#include <string.h>

#include "../cli/list_room.h"
#include "unpack_nodes.h"

/* More than any decoder has memory for; a place is less. */
#define NODES_MAX	(1U << 27)
/* Where there is no node. */
#define NO_PLACE	(~0U)

/**
 * struct unpack_node - a node
 * @ip: its first address
 * @last: address of its last instruction
 * @next: places of nodes, by enum kipt_link_kind; NO_PLACE: it is not said
 * @flags: of the NODE record
 * @kind: enum kipt_node_kind; 0: it is not defined
 */
struct unpack_node {
	u64 ip;
	u64 last;
	u32 next[2];
	u16 flags;
	u8 kind;
};

void unpack_nodes_free(struct unpack_nodes *nodes)
{
	lookup_free(&nodes->places);
	free(nodes->at);
}

/* The place of a node that a step goes to. */
static u32 find(const struct unpack_nodes *nodes, u64 number)
{
	const size_t *place = lookup_get(&nodes->places, number);

	return place ? (u32)*place : NO_PLACE;
}

/* The place of a node, which may be defined later; NO_PLACE after a sentence. Memory is in
 * proportion to the records.
 */
static u32 name(struct unpack_nodes *nodes, u64 number)
{
	u32 place = find(nodes, number);
	struct unpack_node *at;

	if (place != NO_PLACE)
		return place;
	if (nodes->count == NODES_MAX) {
		unpack_broken("there are too many nodes");
		return NO_PLACE;
	}
	at = list_room(nodes->at, nodes->count, sizeof(*at));
	if (at)
		nodes->at = at;
	if (!at || !lookup_add(&nodes->places, number, nodes->count)) {
		unpack_no_memory();
		return NO_PLACE;
	}
	at[nodes->count] = (struct unpack_node){ 0 };
	return nodes->count++;
}

static bool node_take(struct unpack_nodes *nodes, const struct kipt_record *r)
{
	u32 place;

	if (!r->kind || r->kind > KIPT_NODE_SLOW)
		return unpack_broken("a node is of no kind that there is");
	place = name(nodes, r->aux);
	if (place == NO_PLACE)
		return false;
	nodes->at[place] = (struct unpack_node){
		.ip = r->value,
		.last = r->ip,
		.next = { NO_PLACE, NO_PLACE },
		.flags = r->flags,
		.kind = r->kind,
	};
	return true;
}

static bool link_take(struct unpack_nodes *nodes, const struct kipt_record *r)
{
	u32 from, to = name(nodes, r->value);

	if (to == NO_PLACE)
		return false;
	switch (r->kind) {
	case KIPT_LINK_FALL_THROUGH:
	case KIPT_LINK_TARGET:
		from = find(nodes, r->aux);
		if (from == NO_PLACE || !nodes->at[from].kind)
			return unpack_broken("a link is of a node that is not defined");
		nodes->at[from].next[r->kind] = to;
		return true;
	case KIPT_LINK_RETURN:
		if (r->aux >= KIPT_WALK_SLOTS)
			return unpack_broken("a return address has a slot that is too large");
		nodes->returns[r->aux] = to + 1;
		return true;
	default:
		return unpack_broken("a link is of no kind that there is");
	}
}

/* Leaves the current node for node @to, with a BRANCH record if @emits and it makes one. */
static inline bool leave(struct unpack_nodes *nodes, struct unpack_out *out, u32 to, bool emits,
			 u16 flags)
{
	const struct unpack_node *node = &nodes->at[nodes->here];
	struct kipt_record *branch;
	u64 insns = kipt_node_insns(node->flags) + out->left;

	if (to >= nodes->count || !nodes->at[to].kind)
		return unpack_broken("control goes to a node that is not defined");
	if (node->flags & KIPT_NODE_PUSHES)
		nodes->returns[nodes->slot++ % KIPT_WALK_SLOTS] =
			node->next[KIPT_LINK_FALL_THROUGH] + 1;
	nodes->here = to;
	out->left = insns;
	if (!emits || !kipt_node_branch(node->flags))
		return true;
	if (out->used == UNPACK_BUFFER && !unpack_flush(out))
		return false;
	branch = &out->buffer[out->used++];
	branch->type = KIPT_RECORD_BRANCH;
	branch->kind = kipt_node_branch(node->flags);
	branch->flags = flags;
	branch->aux = insns_add(0, insns);
	branch->ip = node->last;
	branch->value = nodes->at[to].ip;
	out->left = 0;
	return true;
}

/* Leaves nodes that use no outcome and no target, up to node @to if that comes first. Returns
 * the kind of the node that was reached; 0: false is to be returned.
 */
static inline u32 pass(struct unpack_nodes *nodes, struct unpack_out *out, u32 to)
{
	const struct unpack_node *node;
	u32 n;

	for (n = 0; n <= KIPT_WALK_REACH; n++) {
		node = &nodes->at[nodes->here];
		if (nodes->here == to)
			return node->kind;
		switch (node->kind) {
		case KIPT_NODE_CALL:
		case KIPT_NODE_JUMP:
			if (!leave(nodes, out, node->next[KIPT_LINK_TARGET], true, 0))
				return 0;
			break;
		case KIPT_NODE_ON:
			if (!leave(nodes, out, node->next[KIPT_LINK_FALL_THROUGH], false, 0))
				return 0;
			break;
		default:
			return node->kind;
		}
	}
	return unpack_broken("control goes by too many nodes that use no packet");
}

static bool outcomes_take(struct unpack_nodes *nodes, struct unpack_out *out, u8 byte)
{
	int bit = 30 - __builtin_clz(byte);
	u32 taken, kind;

	for (; bit > 0; bit--) {
		taken = byte >> bit & 1;
		kind = nodes->at[nodes->here].kind;
		if (kind != KIPT_NODE_COND)
			kind = pass(nodes, out, NO_PLACE);
		if (kind == KIPT_NODE_COND) {
			if (!leave(nodes, out, nodes->at[nodes->here].next[taken], taken, 0))
				return false;
		} else if (kind == KIPT_NODE_RET && taken) {
			if (!leave(nodes, out, nodes->returns[--nodes->slot % KIPT_WALK_SLOTS] - 1,
				   true, KIPT_RF_COMPRESSED))
				return false;
		} else {
			return kind && unpack_broken("an outcome is where none can be");
		}
	}
	return true;
}

static bool target_take(struct unpack_nodes *nodes, struct unpack_out *out, u32 to)
{
	u32 kind = pass(nodes, out, NO_PLACE);

	if (kind == KIPT_NODE_RET)
		nodes->slot--;
	else if (kind != KIPT_NODE_TARGET)
		return kind && unpack_broken("a target is where none can be");
	return leave(nodes, out, to, true, 0);
}

static bool upto_take(struct unpack_nodes *nodes, struct unpack_out *out, u32 to)
{
	return pass(nodes, out, to) &&
	       (nodes->here == to || unpack_broken("control does not come to a node"));
}

static bool start_take(struct unpack_nodes *nodes, struct unpack_out *out, u32 here, u32 slot,
		       u32 insns)
{
	if (here >= nodes->count || !nodes->at[here].kind)
		return unpack_broken("control is at a node that is not defined");
	nodes->started = true;
	nodes->here = here;
	nodes->slot = slot;
	out->left += insns;
	return true;
}

static u32 number_at(const u8 *bytes)
{
	u32 number;

	memcpy(&number, bytes, sizeof(number));
	return number;
}

static u32 near_at(const u8 *bytes)
{
	u16 number;

	memcpy(&number, bytes, sizeof(number));
	return number;
}

/* @item: all of it is there */
static bool item_take(struct unpack_nodes *nodes, struct unpack_out *out, const u8 *item)
{
	if (*item == KIPT_WALK_START)
		return start_take(nodes, out, find(nodes, number_at(item + 1)), item[5],
				  number_at(item + 6));
	if (!nodes->started)
		return unpack_broken("nothing says where control is");
	switch (*item) {
	case KIPT_WALK_TARGET:
		return target_take(nodes, out, find(nodes, number_at(item + 1)));
	case KIPT_WALK_NEAR:
		return target_take(nodes, out, find(nodes, near_at(item + 1)));
	case KIPT_WALK_UPTO:
		return upto_take(nodes, out, find(nodes, number_at(item + 1)));
	default:
		return outcomes_take(nodes, out, *item);
	}
}

static bool walk_take(struct unpack_nodes *nodes, struct unpack_out *out,
		      const struct kipt_record *r)
{
	const u8 *bytes = kipt_record_walk(r);
	u32 at, size;

	if (r->kind > KIPT_RECORD_WALK_MAX)
		return unpack_broken("a record has too many steps");
	for (at = 0; at < r->kind; at += size) {
		size = kipt_walk_size(bytes[at]);
		if (!size || size > r->kind - at)
			return unpack_broken("an item is of no kind that there is, or cut");
		if (!item_take(nodes, out, bytes + at))
			return false;
	}
	return true;
}

bool unpack_nodes_take(struct unpack_nodes *nodes, struct unpack_out *out,
		       const struct kipt_record *r)
{
	switch (r->type) {
	case KIPT_RECORD_NODE:
		return node_take(nodes, r);
	case KIPT_RECORD_LINK:
		return link_take(nodes, r);
	default:
		return walk_take(nodes, out, r);
	}
}
