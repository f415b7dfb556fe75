/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * NODE, LINK and WALK records of one dictionary, see uapi/linux/kipt_record.h.
 */
#ifndef KIPT_UNPACK_NODES_H
#define KIPT_UNPACK_NODES_H

#include "../cli/lookup.h"
#include "unpack_out.h"

struct unpack_node;

/**
 * struct unpack_nodes - the nodes, and where control is in them; all 0: there are none
 * @places: places in @at by number
 * @at: nodes that records named, in the order in which they came
 * @count: how many
 * @started: there was a START item
 * @here: place of the node where control is
 * @slot: of the next return address, modulo KIPT_WALK_SLOTS
 * @returns: places of the nodes that return addresses are of, + 1; 0: none is known
 */
struct unpack_nodes {
	struct lookup places;
	struct unpack_node *at;
	u32 count;
	bool started;
	u32 here;
	u32 slot;
	u32 returns[KIPT_WALK_SLOTS];
};

/**
 * unpack_nodes_free() - free what they hold
 * @nodes: is not used any more
 */
void unpack_nodes_free(struct unpack_nodes *nodes);

/**
 * unpack_nodes_take() - take what defines nodes, or walk them
 * @nodes: of the dictionary
 * @out: gets the branches
 * @r: a NODE, LINK or WALK record
 *
 * Return: true, or false after a sentence, or if nobody wants any more.
 */
bool unpack_nodes_take(struct unpack_nodes *nodes, struct unpack_out *out,
		       const struct kipt_record *r);

#endif /* KIPT_UNPACK_NODES_H */
