/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The graph: blocks of code and the links between them, by which packets are followed
 * without looking for each block. Runs where the callbacks may.
 *
 * It rests on a theorem: if nothing is pending, tracing is on and the flow is at a node's
 * address, then following links by outcomes and return addresses goes where the slow path
 * goes, block by block. Each clause has its check:
 *
 *  nothing is pending	kipt_flow_nothing_pending(), before nodes are followed; following
 *			leaves nothing pending but outcomes, with which it ends
 *  the address		a node is a block: address, address space and mode; a link leads
 *			to the same space and mode. Where either changes, the node is
 *			found by its address (enter(), find_node())
 *  a link		was made from the block's own target, or the address after it
 *			(kipt_graph_link()), and is gone when code is forgotten
 *			(kipt_graph_forget()) or numbers are given anew
 *  a return address	a CALL of the graph pushes a link in its place, the slow path an
 *			address and no link; kipt_settle_returns() turns links into
 *			addresses before nodes are dropped
 *  patched code	where a block, or what it leads to before a packet is used, was
 *			patched once (KIPT_PATCHED), no node goes on into it and no link
 *			keeps its kind: each time the flow gets there kipt_graph_node()
 *			looks whether a packet is used soon, and forgetting the patched
 *			block again makes nothing else wrong
 *  all else that a	makes the block KIPT_NODE_SLOW: a branch into the other half of the
 *  block may do	addresses, a 16-bit RET, and what leads to more than
 *			KIPT_NODE_REACH blocks before a packet is used, or to code that
 *			cannot be read
 *
 * So the slow path reports every gap; following ends before what it cannot
 * do, amid the outcomes of a packet if need be, and the slow path goes on from there.
 */
#ifndef KIPT_DECODE_GRAPH_H
#define KIPT_DECODE_GRAPH_H

#include "../state/flow_state.h"
#include "../packet/last_ip.h"

/* A block has an enum kipt_node_kind (uapi/linux/kipt_record.h) for what it does by itself
 * (kipt_block.kind), one for the node that starts with it (kipt_block.node), and each link has
 * one in its low bits (KIPT_LINK_KIND). They mean:
 *
 *  KIPT_NODE_	a block			the node that starts there	a link there
 *  UNKNOWN	nobody needed it yet	not built			not built, or patched:
 *								ask kipt_graph_node()
 *  ON		uses no packet and is	leads to another: it is long	as the node
 *		no CALL			enough, the next block is
 *					patched, far, or has no number
 *  JUMP	no block is		ends in a direct JMP that	as the node
 *					has a record
 *  CALL, COND,	ends in such a branch	its last block is		as the node
 *  RET, TARGET
 *  SLOW	only the slow path can	the block is			as the node, or code is
 *								missing, or memory
 *
 * A link that is KIPT_NODE_SLOW only because code or memory was missing is not stored, since the
 * code may be there the next time.
 */
#define KIPT_NODE_UNKNOWN	0U	/* not built */

/*
 * KIPT_FLOW_PROVE: packets are used by the graph one by one, and what each
 * does is compared with the slow path at once.
 */
#ifdef KIPT_FLOW_PROVE
#define KIPT_PROVES	true
#else
#define KIPT_PROVES	false
#endif

/**
 * kipt_graph_run() - follow the flow by links as far as they lead
 * @flow: nothing is pending, its config allows the graph; the cursor is advanced, maybe not at all
 *
 * Return: true if the packet at the cursor is for the slow path; false if packets were
 * used, or the run halts here: ask again.
 */
bool kipt_graph_run(struct kipt_flow *flow);

/**
 * kipt_prove_graph_begin() - a packet may be used next (selftests/decode/graph_prove.c)
 * @flow: as that of kipt_graph_run()
 */
void kipt_prove_graph_begin(struct kipt_flow *flow);

/**
 * kipt_prove_graph_end() - hold what was used since then against the slow path; ends the
 * program if they differ
 * @flow: unchanged
 * @left: outcomes of the packet that the slow path used
 */
void kipt_prove_graph_end(struct kipt_flow *flow, u32 left);

/**
 * kipt_graph_node() - a link to the node of a block, built if it is not yet
 * @flow: the flow
 * @number: of the block it starts with, not KIPT_BLOCK_NONE
 *
 * Return: a link to it, of kind KIPT_NODE_SLOW if its code, or that up to the next use of
 * a packet, cannot be read; of a node that is patched (whatever its NODE record says) also if that
 * was not read again yet, or is too far. Never of KIPT_NODE_UNKNOWN.
 */
u32 kipt_graph_node(struct kipt_flow *flow, u32 number);

/**
 * kipt_graph_link() - make a link of a node
 * @flow: the flow
 * @number: of a node that was built
 * @which: 1: to the target of its branch; 0: past it
 *
 * Return: the link; 0: there is no room for its block, and flow->at.ip is its address.
 */
u32 kipt_graph_link(struct kipt_flow *flow, u32 number, u32 which);

/**
 * kipt_graph_forget() - drop nodes whose code is gone, and what led to their code or nodes
 * @flow: the flow, not in a run; what its nodes counted was given away
 * @all: drop all nodes
 *
 * Blocks keep their numbers.
 */
void kipt_graph_forget(struct kipt_flow *flow, bool all);

#endif /* KIPT_DECODE_GRAPH_H */
