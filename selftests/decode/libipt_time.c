// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time against others: the TSC packets of a trace itself, which the estimates
 * before them must lead to; MTCs against CYCs, each of which must be within
 * what the other allows; and libipt, each of whose times at instructions must
 * be one that a timing packet gives here, within the bound that goes with it.
 * libipt looks ahead by some packets, so that which packet it is may differ.
 * User space, needs libipt.
 */
#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../kmod/decode/packet/clock.h"
#include "../../kmod/decode/packet/sync.h"
#include "image.h"

/* kselftest's status for a test that cannot be made. */
#define EXIT_SKIP	4
/* What libipt rounds. */
#define PEER_ROUNDING	4

/**
 * struct params - how the trace was recorded
 * @num: TSC ticks per ART tick, numerator
 * @den: denominator
 * @mtc_freq: MTCFreq
 * @p1: maximum non-turbo ratio
 */
struct params {
	u32 num;
	u32 den;
	u32 mtc_freq;
	u32 p1;
};

/**
 * struct estimate - what the clock said after a timing packet
 * @now: time
 * @error: its bound
 */
struct estimate {
	u64 now;
	u64 error;
};

/**
 * struct estimates - all of a trace
 * @at: they
 * @count: how many
 * @room: how many fit
 */
struct estimates {
	struct estimate *at;
	u64 count;
	u64 room;
};

/**
 * struct figures - what was compared
 * @tscs: TSC packets that were led to
 * @windows: MTCs that CYCs led to
 * @times: libipt's times
 * @equal: of them, equal to ours
 * @worst: greatest distance of one
 * @wrong: what was out of its bound
 */
struct figures {
	u64 tscs;
	u64 windows;
	u64 times;
	u64 equal;
	u64 worst;
	u64 wrong;
};

static void start_clock(struct kipt_clock *clock, const struct params *params)
{
	kipt_clock_init(clock, params->num, params->den,
			(u8)params->mtc_freq, (u8)params->p1, 0);
}

static void keep(struct estimates *estimates, const struct kipt_clock *clock)
{
	u64 room = estimates->room ? 2 * estimates->room : 1 << 16;

	if (estimates->count == estimates->room) {
		estimates->at = realloc(estimates->at,
					room * sizeof(*estimates->at));
		if (!estimates->at)
			exit(2);
		estimates->room = room;
	}
	estimates->at[estimates->count].now = clock->now;
	estimates->at[estimates->count++].error = clock->error;
}

static bool bounded(const struct kipt_clock *clock)
{
	return clock->valid && clock->error != KIPT_CLOCK_UNKNOWN;
}

/* @all did not start anew at the PSB: where it was must not be beyond TSC. */
static void check_tsc(const struct kipt_clock *all, u64 tsc,
		      struct figures *figures)
{
	if (!bounded(all))
		return;
	figures->tscs++;
	figures->wrong += all->at.low > tsc;
}

/* Where CYCs say an MTC is, and where MTCs do. */
static void check_mtc(const struct kipt_clock *mtc, const struct kipt_clock *cyc,
		      struct figures *figures)
{
	if (!bounded(mtc) || !bounded(cyc) || !mtc->counting || !cyc->anchor.cycles)
		return;
	figures->windows++;
	figures->wrong += mtc->at.high < cyc->at.low || mtc->at.low > cyc->at.high;
}

/**
 * struct clocks - four ways to see the packets
 * @plain: all packets, anew at each PSB: as the flow does
 * @all: all packets
 * @mtc: no CYC
 * @cyc: no TMA, so that MTCs are not used
 */
struct clocks {
	struct kipt_clock plain;
	struct kipt_clock all;
	struct kipt_clock mtc;
	struct kipt_clock cyc;
};

static void take_packet(struct clocks *clocks, const struct kipt_packet *packet,
			struct figures *figures)
{
	if (packet->type == KIPT_PACKET_TSC)
		check_tsc(&clocks->all, packet->value, figures);
	kipt_clock_packet(&clocks->plain, packet);
	kipt_clock_packet(&clocks->all, packet);
	if (packet->type != KIPT_PACKET_CYC)
		kipt_clock_packet(&clocks->mtc, packet);
	if (packet->type != KIPT_PACKET_TMA)
		kipt_clock_packet(&clocks->cyc, packet);
	if (packet->type == KIPT_PACKET_MTC)
		check_mtc(&clocks->mtc, &clocks->cyc, figures);
}

static void run_ours(const struct recording *recording,
		     const struct params *params, struct estimates *estimates,
		     struct figures *figures)
{
	struct kipt_packet packet;
	struct kipt_cursor cursor;
	struct clocks clocks;
	u64 psb;

	start_clock(&clocks.plain, params);
	start_clock(&clocks.all, params);
	start_clock(&clocks.mtc, params);
	start_clock(&clocks.cyc, params);
	psb = kipt_sync_next(recording->trace, recording->size, 0);
	kipt_cursor_init(&cursor, recording->trace + psb,
			 recording->size - psb);
	while (kipt_packet_next(&cursor, &packet) == KIPT_OK) {
		if (packet.type == KIPT_PACKET_PSB)
			kipt_clock_reset(&clocks.plain);
		if (packet.type == KIPT_PACKET_OVF) {
			kipt_clock_lost(&clocks.plain);
			kipt_clock_lost(&clocks.all);
			kipt_clock_lost(&clocks.mtc);
			kipt_clock_lost(&clocks.cyc);
		}
		if (!kipt_packet_is_time(packet.type))
			continue;
		take_packet(&clocks, &packet, figures);
		if (clocks.plain.valid)
			keep(estimates, &clocks.plain);
	}
}

static int by_now(const void *a, const void *b)
{
	const struct estimate *l = a, *r = b;

	return l->now < r->now ? -1 : l->now > r->now;
}

static u64 distance(u64 a, u64 b)
{
	return a < b ? b - a : a - b;
}

/* The first estimate that is not before @time. */
static u64 first_from(const struct estimates *estimates, u64 time)
{
	u64 low = 0, high = estimates->count, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (estimates->at[middle].now < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* libipt's time must be within the bound of the estimate before or after it. */
static void check_time(const struct estimates *estimates, u64 time,
		       struct figures *figures)
{
	u64 at = first_from(estimates, time), far, least = ~0ULL, i;
	bool good = false;

	for (i = at ? at - 1 : 0; i <= at && i < estimates->count; i++) {
		far = distance(estimates->at[i].now, time);
		least = far < least ? far : least;
		good |= far <= estimates->at[i].error + PEER_ROUNDING;
	}
	figures->times++;
	figures->equal += !least;
	if (least > figures->worst)
		figures->worst = least;
	figures->wrong += !good;
}

static int peer_read(uint8_t *buffer, size_t size, const struct pt_asid *asid,
		     uint64_t ip, void *context)
{
	u32 got = image_read(context, 0, ip, buffer, (u32)size);

	(void)asid;
	return got ? (int)got : -pte_nomap;
}

static void peer_stretch(struct pt_insn_decoder *decoder, int status,
			 const struct estimates *estimates,
			 struct figures *figures)
{
	struct pt_event event;
	struct pt_insn insn;
	uint64_t time, last = 0;

	while (status >= 0) {
		if (status & pts_event_pending) {
			status = pt_insn_event(decoder, &event, sizeof(event));
			continue;
		}
		status = pt_insn_next(decoder, &insn, sizeof(insn));
		if (status < 0 ||
		    pt_insn_time(decoder, &time, NULL, NULL) < 0)
			continue;
		if (time != last)
			check_time(estimates, time, figures);
		last = time;
	}
}

static bool run_peer(struct recording *recording, const struct params *params,
		     const struct estimates *estimates,
		     struct figures *figures)
{
	struct pt_image *image = pt_image_alloc("recording");
	struct pt_insn_decoder *decoder;
	struct pt_config config;
	int status;

	memset(&config, 0, sizeof(config));
	config.size = sizeof(config);
	config.begin = recording->trace;
	config.end = recording->trace + recording->size;
	config.cpuid_0x15_eax = params->den;
	config.cpuid_0x15_ebx = params->num;
	config.mtc_freq = (uint8_t)params->mtc_freq;
	config.nom_freq = (uint8_t)params->p1;
	decoder = pt_insn_alloc_decoder(&config);
	if (!image || !decoder)
		return false;
	pt_image_set_callback(image, peer_read, &recording->image);
	pt_insn_set_image(decoder, image);
	while ((status = pt_insn_sync_forward(decoder)) >= 0)
		peer_stretch(decoder, status, estimates, figures);
	pt_insn_free_decoder(decoder);
	pt_image_free(image);
	return true;
}

static int judge(const char *name, const struct figures *figures)
{
	printf("%s: %llu TSC packets led to, %llu MTCs by CYCs; libipt: %llu times, %llu equal, farthest %llu ticks; %llu out of bounds\n",
	       name, (unsigned long long)figures->tscs,
	       (unsigned long long)figures->windows,
	       (unsigned long long)figures->times,
	       (unsigned long long)figures->equal,
	       (unsigned long long)figures->worst,
	       (unsigned long long)figures->wrong);
	if (!figures->times)
		return 1;
	return figures->wrong > 0;
}

static int usage(const char *self, int status)
{
	fprintf(status ? stderr : stdout,
		"usage: %s DIR NAME NUM/DEN MTCFREQ P1 [BYTES]\n"
		"Holds the time estimated in the first BYTES of DIR/NAME.pt against its TSC\n"
		"packets, MTCs against CYCs, and all of it against libipt.\n",
		self);
	return status;
}

int main(int argc, char **argv)
{
	struct estimates estimates = { 0 };
	struct figures figures = { 0 };
	struct recording recording;
	struct params params;
	u64 bytes;

	if (argc == 2 && !strcmp(argv[1], "--help"))
		return usage(argv[0], 0);
	if (argc < 6 || sscanf(argv[3], "%u/%u", &params.num, &params.den) != 2)
		return usage(argv[0], 2);
	params.mtc_freq = (u32)strtoul(argv[4], NULL, 0);
	params.p1 = (u32)strtoul(argv[5], NULL, 0);
	bytes = argc > 6 ? strtoull(argv[6], NULL, 0) : ~0ULL;
	if (!recording_load(&recording, argv[1], argv[2]))
		return EXIT_SKIP;
	if (bytes < recording.size)
		recording.size = bytes;
	run_ours(&recording, &params, &estimates, &figures);
	if (!estimates.count)
		return 1;
	qsort(estimates.at, estimates.count, sizeof(*estimates.at), by_now);
	if (!run_peer(&recording, &params, &estimates, &figures))
		return 1;
	recording_free(&recording);
	free(estimates.at);
	return judge(argv[2], &figures);
}
