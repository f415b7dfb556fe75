/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Symbols on their way from a process that reads files (child_process.h): many messages
 * each have some of them.
 */
#ifndef KIPT_SYMBOL_MESSAGE_H
#define KIPT_SYMBOL_MESSAGE_H

#include "../cli/child_process.h"
#include "../symbols/symbols.h"

/**
 * symbols_put() - fill an answer
 * @message: symbols from number @begin on are put after its bytes, as many as fit; its
 *	@end becomes the number after the last
 * @symbols: all of them
 */
void symbols_put(struct helper_message *message, const struct symbols *symbols);

/**
 * symbols_take() - take those of an answer
 * @symbols: table that they are added to; not searched yet
 * @answer: nothing of it is believed
 * @at: where they begin in its bytes
 *
 * Return: true; false: there are none, they make no sense or are too many, or there is no
 * memory.
 */
bool symbols_take(struct symbols *symbols, const struct helper_message *answer, u32 at);

#endif /* KIPT_SYMBOL_MESSAGE_H */
