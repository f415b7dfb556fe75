// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: time from any packets that carry it, in any order. Eight
 * bytes say what the clock is given about the CPU, the rest are packets of
 * three to nine bytes. Between two resets time must not go back; an error must
 * be known only where there is a time.
 */
#include <stdlib.h>

#include "../../kmod/decode/packet/clock.h"

#define HEAD		8
#define NEAR		0x0123456789abcdefULL

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A packet as the reader could have given it. */
static struct kipt_packet packet_make(u8 what, u64 value)
{
	struct kipt_packet packet = { .value = value };

	switch (what % 8) {
	case 0:
		packet.type = KIPT_PACKET_TSC;
		packet.value &= (1ULL << 56) - 1;
		break;
	case 1:
		packet.type = KIPT_PACKET_TMA;
		packet.aux = (u32)(value >> 16) & 0x1ff;
		packet.value &= 0xffff;
		packet.flags = what & 0x80 ? KIPT_PF_BROKEN : 0;
		break;
	case 2:
	case 3:
		packet.type = KIPT_PACKET_MTC;
		packet.value &= 0xff;
		break;
	case 4:
		packet.type = KIPT_PACKET_CBR;
		packet.value &= 0xff;
		break;
	default:
		packet.type = KIPT_PACKET_CYC;
		packet.flags = what >= 0xf0 ? KIPT_PF_BROKEN : 0;
		break;
	}
	return packet;
}

/* Time does not go back, and all of when it may be is within the error. */
static void check(const struct kipt_clock *clock, u64 before)
{
	u64 high = clock->at.high < clock->limit ? clock->at.high : clock->limit;

	if (clock->now < before)
		abort();
	if (!clock->valid && clock->error != KIPT_CLOCK_UNKNOWN)
		abort();
	if (clock->error == KIPT_CLOCK_UNKNOWN || clock->at.low > clock->at.high)
		return;
	if (clock->now > clock->at.low && clock->now - clock->at.low > clock->error)
		abort();
	if (high > clock->now && high - clock->now > clock->error)
		abort();
}

static void step(struct kipt_clock *clock, u8 what, u64 value)
{
	struct kipt_packet packet;
	u64 before = clock->now;

	if (what == 0x7f) {
		kipt_clock_reset(clock);
	} else if (what == 0x7d) {
		kipt_clock_limit(clock, value);
		check(clock, before);
	} else if (what == 0x7e) {
		kipt_clock_lost(clock);
		check(clock, before);
	} else {
		packet = packet_make(what, value);
		kipt_clock_packet(clock, &packet);
		check(clock, before);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kipt_clock clock;
	u32 num, den, len;
	u64 value;
	size_t at;

	if (size < HEAD)
		return 0;
	/* Small ratios are what CPUs have; anything must do no harm. */
	num = data[0] & 1 ? data[1] : (u32)kipt_load_le(data, 4);
	den = data[0] & 1 ? data[4] : (u32)kipt_load_le(data + 4, 3);
	kipt_clock_init(&clock, num, den, data[0] >> 1 & 15, data[7],
			data[0] & 0x20 ? NEAR : 0);
	for (at = HEAD; at + 2 <= size; at += len) {
		len = 3 + (data[at] >> 3 & 1) * 6;
		if (len > size - at)
			len = (u32)(size - at);
		value = kipt_load_le(data + at + 1, len - 1);
		step(&clock, data[at], value);
	}
	return 0;
}
