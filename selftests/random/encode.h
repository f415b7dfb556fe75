/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A CPU's packet generator: outcomes and addresses to bytes, with every
 * choice the architecture leaves to the CPU made at random. Written from the
 * manual (Intel SDM Vol. 3C, "Trace Packets and Data Types"); it shares
 * nothing with the decoder or with the test CPU. Which packets are due is
 * walk.c's. User space.
 */
#ifndef KIPT_SELFTESTS_RANDOM_ENCODE_H
#define KIPT_SELFTESTS_RANDOM_ENCODE_H

#include "rng.h"

#define ENCODE_BYTES	65536
#define ENCODE_CALLS	64
#define ENCODE_TIPS	8
#define ENCODE_MARKS	512

/* First bytes without IPBytes. */
enum ip_packet {
	IP_PACKET_PGD = 0x01,
	IP_PACKET_TIP = 0x0d,
	IP_PACKET_PGE = 0x11,
	IP_PACKET_FUP = 0x1d,
};

/**
 * struct encode_rules - choices of the CPU for one whole trace
 * @defer: TIPs may be held back
 * @long_tnt: TNT packets may have 47 outcomes
 * @shortest: IPs are always compressed as far as they can be
 * @full_at_psb: but not against the 0 that PSB sets LastIP to
 */
struct encode_rules {
	bool defer;
	bool long_tnt;
	bool shortest;
	bool full_at_psb;
};

/**
 * struct encode_mark - a packet that control flow depends on: TNT or TIP
 * @start: offset of its first byte
 * @end: offset after its last one
 * @flip: offset of a byte whose bit 1 is an outcome or part of an address
 */
struct encode_mark {
	u32 start;
	u32 end;
	u32 flip;
};

/**
 * struct encode - one CPU's generator
 * @rng: random numbers
 * @rules: choices
 * @size: bytes in @bytes
 * @packets: packets made
 * @last_ip: IP compression
 * @full_next: the next IP must not be compressed against @last_ip
 * @outcomes: buffered, the youngest in bit 0
 * @nr_outcomes: how many, 0..47
 * @room: how many outcomes the TNT in the making takes, 6 or 47
 * @tips: held back
 * @nr_tips: how many
 * @calls: return addresses, a ring
 * @top: index of the next push, modulo the size
 * @depth: entries in @calls
 * @deep: a CALL was forgotten because there were too many
 * @psbs: PSBs made
 * @at_psb: no IP was sent since the last PSB
 * @short_at_psb: the first IP after a PSB was sent compressed
 * @deferred: a TIP was held back past an outcome
 * @marks: packets that must not change
 * @nr_marks: how many
 * @bytes: the trace
 */
struct encode {
	struct rng *rng;
	struct encode_rules rules;
	u32 size;
	u32 packets;
	u64 last_ip;
	bool full_next;
	u64 outcomes;
	u32 nr_outcomes;
	u32 room;
	u64 tips[ENCODE_TIPS];
	u32 nr_tips;
	u64 calls[ENCODE_CALLS];
	u32 top;
	u32 depth;
	bool deep;
	u32 psbs;
	bool at_psb;
	bool short_at_psb;
	bool deferred;
	struct encode_mark marks[ENCODE_MARKS];
	u32 nr_marks;
	u8 bytes[ENCODE_BYTES];
};

/**
 * encode_init() - an empty trace
 * @encode: the generator
 * @rng: random numbers, used as long as the generator is
 * @rules: choices
 */
void encode_init(struct encode *encode, struct rng *rng,
		 const struct encode_rules *rules);

/**
 * encode_flush() - write the outcomes and TIPs that wait
 * @encode: the generator
 */
void encode_flush(struct encode *encode);

/**
 * encode_outcome() - a conditional branch, or a compressed RET
 * @encode: the generator
 * @taken: the outcome
 */
void encode_outcome(struct encode *encode, bool taken);

/**
 * encode_tip() - a TIP that may be held back
 * @encode: the generator
 * @ip: target
 */
void encode_tip(struct encode *encode, u64 ip);

/**
 * encode_ip() - TIP, TIP.PGE, TIP.PGD or FUP, now
 * @encode: the generator
 * @packet: enum ip_packet
 * @ip: payload
 */
void encode_ip(struct encode *encode, u8 packet, u64 ip);

/**
 * encode_pgd() - TIP.PGD without payload
 * @encode: the generator
 */
void encode_pgd(struct encode *encode);

/**
 * encode_raw() - any other packet, now
 * @encode: the generator
 * @len: its bytes
 * @head: its first bytes, the first one in the lowest bits
 * @head_len: how many
 * @payload: the rest, little endian, at most 8 bytes
 *
 * What is longer than the two is filled with 0.
 */
void encode_raw(struct encode *encode, u32 len, u32 head, u32 head_len,
		u64 payload);

/**
 * encode_cyc() - CYC
 * @encode: the generator
 * @count: cycles
 */
void encode_cyc(struct encode *encode, u64 count);

/**
 * encode_psb() - PSB, and what it makes the CPU forget
 * @encode: the generator
 */
void encode_psb(struct encode *encode);

/**
 * encode_call() - a near CALL was executed while packets are on
 * @encode: the generator
 * @ip: address after it
 */
void encode_call(struct encode *encode, u64 ip);

/**
 * encode_ret() - a near RET was executed while packets are on
 * @encode: the generator
 * @target: where it went
 *
 * Return: true if it is compressed.
 */
bool encode_ret(struct encode *encode, u64 target);

/**
 * encode_forget_calls() - packets are off, or were lost
 * @encode: the generator
 */
void encode_forget_calls(struct encode *encode);

#endif /* KIPT_SELFTESTS_RANDOM_ENCODE_H */
