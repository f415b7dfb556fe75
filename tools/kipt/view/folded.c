// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tree of stacks, see folded.h.
 */
#include <stdlib.h>

#include "../cli/list_room.h"
#include "folded.h"

#define NODES_MAX	(1U << 20)

struct folded *folded_create(void)
{
	struct folded *folded = calloc(1, sizeof(*folded));

	if (!folded)
		return NULL;
	folded->nodes = list_room(NULL, 0, sizeof(*folded->nodes));
	if (!folded->nodes) {
		free(folded);
		return NULL;
	}
	folded->nodes[folded->count++] = (struct folded_node){ 0 };
	return folded;
}

void folded_destroy(struct folded *folded)
{
	if (!folded)
		return;
	lookup_free(&folded->child_of);
	free(folded->nodes);
	free(folded);
}

u32 folded_child(struct folded *folded, u32 parent, u32 symbol)
{
	u64 key = (u64)parent << 32 | symbol;
	size_t *found = lookup_get(&folded->child_of, key);
	struct folded_node *nodes = NULL;

	if (found)
		return *found;
	if (folded->count < NODES_MAX)
		nodes = list_room(folded->nodes, folded->count, sizeof(*nodes));
	if (nodes)
		folded->nodes = nodes;
	if (!nodes || !lookup_add(&folded->child_of, key, folded->count)) {
		folded->full = true;
		return parent;
	}
	nodes[folded->count] = (struct folded_node){
		.parent = parent, .symbol = symbol,
	};
	return folded->count++;
}
