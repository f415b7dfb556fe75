/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time and branches of each stack of calls, for flame graphs: a tree, in which a call of
 * the same function from the same stack is one node, however often it came.
 */
#ifndef KIPT_FOLDED_H
#define KIPT_FOLDED_H

#include "../cli/lookup.h"

/* The node above all others, of no process. */
#define FOLDED_ROOT	0U

/**
 * struct folded_node - a stack
 * @parent: the stack without its last call
 * @symbol: index in the profile of what was called last; of a child of FOLDED_ROOT
 *	the process
 * @ticks: that passed while it was the stack
 * @branches: that it made then
 */
struct folded_node {
	u32 parent;
	u32 symbol;
	u64 ticks;
	u64 branches;
};

/**
 * struct folded - the tree
 * @nodes: parents before their children
 * @count: how many
 * @full: there were more, which count for their parents
 */
struct folded {
	struct folded_node *nodes;
	u32 count;
	bool full;
	/* private: */
	struct lookup child_of;
};

/**
 * folded_create() - a tree that has its root
 *
 * Return: the caller's until folded_destroy(); NULL without memory.
 */
struct folded *folded_create(void);

/**
 * folded_destroy() - free it
 * @folded: may be NULL
 */
void folded_destroy(struct folded *folded);

/**
 * folded_child() - the stack with one call more
 * @folded: the tree
 * @parent: a stack
 * @symbol: what is called
 *
 * Return: its index; @parent if there is no room for it.
 */
u32 folded_child(struct folded *folded, u32 parent, u32 symbol);

#endif /* KIPT_FOLDED_H */
