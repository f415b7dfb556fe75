/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many different blocks a trace goes to: a set of addresses in address
 * spaces. User space.
 */
#ifndef BENCH_PLACES_H
#define BENCH_PLACES_H

#include "../../kmod/decode/port.h"

/**
 * struct bench_places - the set
 * @hashes: of its members, by open addressing; 0: the place is free
 * @room: places, a power of two, or 0
 * @count: members
 */
struct bench_places {
	u64 *hashes;
	u64 room;
	u64 count;
};

/**
 * bench_places_add() - a member, if it is none yet
 * @places: all 0 at first
 * @space: address space; not looked at for addresses of the kernel
 * @ip: address
 *
 * Ends the program without memory.
 */
void bench_places_add(struct bench_places *places, u64 space, u64 ip);

/**
 * bench_places_uninit() - free it
 * @places: the set
 */
void bench_places_uninit(struct bench_places *places);

#endif /* BENCH_PLACES_H */
