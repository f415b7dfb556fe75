// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time: a small model of a core whose frequency changes, which sleeps, loses
 * packets, and sends TSC, TMA, MTC, CYC and CBR as the manual says ("Tracing
 * Time and Timing Packets"); its true time must lie within the bounds that
 * the clock gives, and the clock must not go back, also from PSB to PSB and
 * where the 56 bits of TSC packets wrap. Then single rules. The numbers are
 * the same in each run. User space.
 */
#include <stdlib.h>

#include "../../kmod/decode/packet/clock.h"
#include "ktap.h"

#define EVENTS_MAX	60000
#define SCHEDULES	400
#define TSC_MASK	((1ULL << 56) - 1)
/* Not packets: something that records are made of; a PSB; an overflow. */
#define EVENT_RECORD	254
#define EVENT_PSB	255
#define EVENT_OVF	253

/**
 * struct event - what the clock sees, and when it was
 * @packet: packet, or EVENT_*
 * @time: its true TSC, all 64 bits
 */
struct event {
	struct kipt_packet packet;
	u64 time;
};

/**
 * struct core - the model
 * @num: TSC ticks per ART tick, numerator
 * @den: denominator
 * @mtc_freq: MTCFreq
 * @p1: maximum non-turbo ratio
 * @threshold: CycThresh, in cycles
 * @has_mtc: MTCEn
 * @has_cyc: CYCEn
 * @start: TSC when @t was 0
 * @phase: ART ticks then
 * @t: time since, in TSC ticks
 * @ratio: core:bus ratio, which is no whole number
 * @lie: CYCs count so many cycles for each
 * @cycles: core cycles since the start
 * @cycles_sent: of them, counted by CYCs
 * @mtc: number of the last MTC window
 * @lose: MTCs to come that get lost
 * @mtc_sent: an MTC was sent since the last were lost: more lost at once than its
 *	eight bits count come with an overflow or a TSC only
 * @event: what happened
 * @count: how much of it
 */
struct core {
	u32 num;
	u32 den;
	u32 mtc_freq;
	u32 p1;
	u64 threshold;
	bool has_mtc;
	bool has_cyc;
	u64 start;
	u64 phase;
	double t;
	double ratio;
	double lie;
	double cycles;
	u64 cycles_sent;
	u64 mtc;
	u32 lose;
	bool mtc_sent;
	struct event *event;
	u32 count;
};

/**
 * struct figures - what the schedules came to
 * @records: places where the clock was read
 * @bounded: of them, with a bound
 * @outside: true time was not within it
 * @back: time went back
 * @sound: of @bounded, with no overflow since the last TSC
 * @worst: greatest error of these
 * @error: sum of their errors
 * @bounds: how many of their bounds are below 1 << n
 */
struct figures {
	u64 records;
	u64 bounded;
	u64 outside;
	u64 back;
	u64 sound;
	u64 worst;
	u64 error;
	u64 bounds[33];
};

static u64 state = 1;

static u32 below(u32 bound)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u32)(state >> 33) % bound;
}

static u64 now_of(const struct core *core)
{
	return core->start + (u64)core->t;
}

static double art_of(const struct core *core)
{
	return (double)core->phase + core->t * core->den / core->num;
}

static void put(struct core *core, u8 type, u64 value, u32 aux)
{
	if (core->count == EVENTS_MAX)
		return;
	core->event[core->count++] = (struct event){
		.packet = { .type = type, .value = value, .aux = aux },
		.time = now_of(core),
	};
}

/* Before a packet that CYCs go with. */
static void put_cyc(struct core *core)
{
	u64 passed = (u64)core->cycles - core->cycles_sent;

	if (!core->has_cyc || !passed || passed < core->threshold)
		return;
	put(core, KIPT_PACKET_CYC, passed, 0);
	core->cycles_sent += passed;
}

static void put_mtc(struct core *core)
{
	if (core->lose) {
		core->lose--;
		return;
	}
	core->mtc_sent = true;
	put_cyc(core);
	put(core, KIPT_PACKET_MTC, (u8)core->mtc, 0);
	if (!below(50))
		put(core, KIPT_PACKET_MTC, (u8)core->mtc, 0);
}

static void pass(struct core *core, double ticks, bool asleep)
{
	core->t += ticks;
	if (!asleep)
		core->cycles += ticks * core->ratio / core->p1 * core->lie;
}

/* Lets time pass, and sends the MTCs that come due meanwhile. */
static void run(struct core *core, double ticks, bool mute, bool asleep)
{
	double end = core->t + ticks, edge;

	while (core->has_mtc) {
		edge = ((double)((core->mtc + 1) << core->mtc_freq) -
			(double)core->phase) * core->num / core->den;
		if (edge > end)
			break;
		core->mtc++;
		pass(core, edge > core->t ? edge - core->t : 0, asleep);
		if (!mute)
			put_mtc(core);
	}
	pass(core, end - core->t, asleep);
}

static void put_tsc(struct core *core)
{
	u64 art = (u64)art_of(core);
	double edge = ((double)art - (double)core->phase) *
			   core->num / core->den;

	put_cyc(core);
	put(core, KIPT_PACKET_TSC, now_of(core) & TSC_MASK, 0);
	if (core->has_mtc) {
		put(core, KIPT_PACKET_TMA, art & 0xffff,
		    (u32)(core->t - edge));
		core->lose = 0;
		core->mtc_sent = core->mtc_freq <= 8;
	}
}

static void put_cbr(struct core *core)
{
	put(core, KIPT_PACKET_CBR, (u64)(core->ratio + 0.5), 0);
}

static void put_psb(struct core *core)
{
	put(core, EVENT_PSB, 0, 0);
	put_tsc(core);
	put_cbr(core);
}

/* To another frequency, with its packets or without; TSC and TMA come with it if clocks stopped. */
static void change_ratio(struct core *core, bool sent)
{
	core->ratio = 4 + below(60) + ((int)below(900) - 450) / 1000.0;
	if (!sent)
		return;
	if (below(2))
		put_tsc(core);
	put_cbr(core);
}

/* Nothing is sent while it lasts; CYCs count from its end. */
static void overflow(struct core *core)
{
	if (!below(3))
		change_ratio(core, false);
	run(core, below(3) ? below(5000) : below(5000000), true, false);
	core->cycles_sent = (u64)core->cycles;
	put(core, EVENT_OVF, 0, 0);
}

static void sleep_deeply(struct core *core)
{
	run(core, below(10000000), true, true);
	put_tsc(core);
	put_cbr(core);
}

static void lose_mtcs(struct core *core)
{
	core->lose = below(200);
	core->mtc_sent = false;
}

static void step(struct core *core)
{
	u32 what = below(1000);

	run(core, below(4) ? below(300) : below(30000), false, false);
	if (what < 4)
		put_psb(core);
	else if (what < 10)
		change_ratio(core, true);
	else if (what < 12)
		overflow(core);
	else if (what < 14)
		sleep_deeply(core);
	else if (what < 20 && core->mtc_sent)
		lose_mtcs(core);
	if (what % 3)
		put_cyc(core);
	put(core, EVENT_RECORD, 0, 0);
}

static void make_schedule(struct core *core, u32 number)
{
	struct event *event = core->event;
	u32 i;

	memset(core, 0, sizeof(*core));
	core->event = event;
	core->num = 40 + below(400);
	core->den = 1 + below(4);
	core->mtc_freq = below(12);
	core->p1 = 8 + below(40);
	core->threshold = below(2) ? 1 : 1U << below(13);
	core->lie = number % 4 != 3 ? 1 : number % 8 == 3 ? 0.02 : 3;
	core->has_mtc = number % 4 != 1;
	core->has_cyc = number % 4 != 2;
	core->start = ((u64)below(1 << 30) << 30) + below(1 << 30);
	if (number % 5 == 0)
		core->start = ((u64)(1 + below(3)) << 56) - below(1 << 24);
	core->phase = ((u64)below(1 << 30) << 8) + below(256);
	core->mtc = core->phase >> core->mtc_freq;
	change_ratio(core, false);
	put_psb(core);
	for (i = 0; i < 4000; i++)
		step(core);
}

/* The TSC of the PSB+ after event @i. */
static bool next_psb_tsc(const struct core *core, u32 i, u64 *tsc)
{
	for (i++; i < core->count; i++) {
		if (core->event[i].packet.type == EVENT_PSB)
			break;
	}
	for (; i < core->count; i++) {
		*tsc = core->event[i].packet.value;
		if (core->event[i].packet.type == KIPT_PACKET_TSC)
			return true;
	}
	return false;
}

static void judge(struct figures *figures, const struct kipt_clock *clock,
		  u64 truth, u64 before)
{
	u64 error = clock->now > truth ? clock->now - truth :
					 truth - clock->now;
	u32 i;

	figures->records++;
	figures->back += clock->now < before;
	if (clock->error == KIPT_CLOCK_UNKNOWN)
		return;
	figures->bounded++;
	figures->outside += error > clock->error;
	if (clock->lost)
		return;
	figures->sound++;
	figures->worst = error > figures->worst ? error : figures->worst;
	figures->error += error;
	for (i = 0; i < 33; i++)
		figures->bounds[i] += clock->error < 1ULL << i;
}

static void check_schedule(const struct core *core, struct figures *figures,
			   u32 skew)
{
	struct kipt_clock clock;
	bool in_psb = false, was_in_psb;
	u64 truth = 0, before = 0, tsc;
	const struct event *event;
	u32 i;

	kipt_clock_init(&clock, core->num + skew, core->den,
			(u8)core->mtc_freq, (u8)core->p1,
			core->start + (1ULL << 40));
	for (i = 0; i < core->count; i++) {
		event = &core->event[i];
		if (event->packet.type == EVENT_RECORD) {
			judge(figures, &clock, truth, before);
			before = clock.now;
		} else if (event->packet.type == EVENT_OVF) {
			kipt_clock_lost(&clock);
		} else if (event->packet.type == EVENT_PSB) {
			kipt_clock_reset(&clock);
			in_psb = true;
		} else {
			was_in_psb = in_psb;
			kipt_clock_packet(&clock, &event->packet);
			if (event->packet.type != KIPT_PACKET_TMA &&
			    event->packet.type != KIPT_PACKET_CBR)
				truth = event->time;
			in_psb &= event->packet.type != KIPT_PACKET_TSC;
			if (was_in_psb && !in_psb &&
			    next_psb_tsc(core, i, &tsc))
				kipt_clock_limit(&clock, tsc);
		}
	}
}

/* So many ticks are more than half of the bounds are. */
static u64 half_below(const struct figures *figures)
{
	u32 i = 0;

	while (i < 32 && figures->bounds[i] * 2 < figures->sound)
		i++;
	return 1ULL << i;
}

static void schedules(struct ktap *ktap, struct core *core, u32 kind,
		      const char *name)
{
	struct figures figures = { 0 }, control = { 0 };
	u32 i;

	for (i = kind; i < SCHEDULES; i += 4) {
		make_schedule(core, i);
		check_schedule(core, &figures, 0);
		check_schedule(core, &control, 1);
	}
	printf("# %s: %llu estimates, %llu with a bound, %llu outside of it; without overflow error mean %llu worst %llu ticks, half of the bounds below %llu\n",
	       name, (unsigned long long)figures.records,
	       (unsigned long long)figures.bounded,
	       (unsigned long long)figures.outside,
	       (unsigned long long)(figures.error / figures.sound),
	       (unsigned long long)figures.worst,
	       (unsigned long long)half_below(&figures));
	ktap_result(ktap, !figures.outside, "time within its bound: %s", name);
	ktap_result(ktap, !figures.back, "time does not go back: %s", name);
	ktap_result(ktap, figures.bounded * 10 > figures.records * 9,
		    "time is nearly always bounded: %s", name);
	/* The control: a clock with another crystal must be outside. */
	if (kind != 1)
		ktap_result(ktap, control.outside > 0,
			    "time by a wrong crystal is out of its bound: %s",
			    name);
}

int main(void)
{
	static const char *const names[4] = {
		"MTC and CYC", "CYC only", "MTC only",
		"MTC, and CYC at another ratio than CBR's",
	};
	struct ktap ktap = { 0 };
	struct core core = { 0 };
	u32 kind;

	core.event = malloc(EVENTS_MAX * sizeof(*core.event));
	if (!core.event)
		return 2;
	ktap_start();
	for (kind = 0; kind < 4; kind++)
		schedules(&ktap, &core, kind, names[kind]);
	free(core.event);
	return ktap_end(&ktap);
}
