// SPDX-License-Identifier: GPL-2.0-only
/*
 * The same trace through libipt's instruction decoder and through ours: both
 * must name the same instructions in the same order. Where the trace itself
 * ends, libipt goes on to the next instruction that would need a packet; we
 * stop at the last one that the trace proves. User space, needs libipt.
 */
#include <errno.h>
#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>

#include "arena.h"
#include "image.h"

/* libipt may run on at the end of the trace by so many instructions. */
#define TAIL_MAX	4096
/* kselftest's status for a test that cannot be made. */
#define EXIT_SKIP	4

/**
 * struct ips - instruction addresses in execution order
 * @ip: the addresses
 * @count: how many
 * @room: how many fit
 * @errors: resynchronisations, or gaps
 */
struct ips {
	u64 *ip;
	u64 count;
	u64 room;
	u64 errors;
};

/* FNV-1a over the addresses, as the recordings' table has it. */
static u64 hash_of(const struct ips *ips, u64 count)
{
	u64 hash = 1469598103934665603ULL, i;

	for (i = 0; i < count; i++)
		hash = (hash ^ ips->ip[i]) * 1099511628211ULL;
	return hash;
}

static void add(struct ips *ips, u64 ip)
{
	u64 room = ips->room ? 2 * ips->room : 1 << 20;
	u64 *more;

	if (ips->count == ips->room) {
		more = realloc(ips->ip, room * sizeof(*more));
		if (!more) {
			fprintf(stderr, "out of memory\n");
			exit(2);
		}
		ips->ip = more;
		ips->room = room;
	}
	ips->ip[ips->count++] = ip;
}

static int peer_read(uint8_t *buffer, size_t size, const struct pt_asid *asid,
		     uint64_t ip, void *context)
{
	u32 got = image_read(context, 0, ip, buffer, (u32)size);

	(void)asid;
	return got ? (int)got : -pte_nomap;
}

static int peer_events(struct pt_insn_decoder *decoder, int status)
{
	struct pt_event event;

	while (status >= 0 && status & pts_event_pending)
		status = pt_insn_event(decoder, &event, sizeof(event));
	return status;
}

/* From one synchronisation to the next error. */
static void peer_stretch(struct pt_insn_decoder *decoder, struct ips *ips)
{
	struct pt_insn insn;
	int status = peer_events(decoder, 0);

	for (;;) {
		status = peer_events(decoder, status);
		if (status < 0)
			break;
		status = pt_insn_next(decoder, &insn, sizeof(insn));
		if (insn.iclass != ptic_error && status >= 0)
			add(ips, insn.ip);
		if (status < 0)
			break;
	}
	if (status != -pte_eos)
		ips->errors++;
}

static bool run_peer(struct recording *recording, bool skl_errata,
		     struct ips *ips)
{
	struct pt_image *image = pt_image_alloc("recording");
	struct pt_insn_decoder *decoder;
	struct pt_config config;
	int status;

	memset(&config, 0, sizeof(config));
	config.size = sizeof(config);
	config.begin = recording->trace;
	config.end = recording->trace + recording->size;
	if (skl_errata) {
		config.cpu.vendor = pcv_intel;
		config.cpu.family = 6;
		config.cpu.model = 94;
		pt_cpu_errata(&config.errata, &config.cpu);
	}
	decoder = pt_insn_alloc_decoder(&config);
	if (!image || !decoder)
		return false;
	pt_image_set_callback(image, peer_read, &recording->image);
	pt_insn_set_image(decoder, image);
	for (;;) {
		status = pt_insn_sync_forward(decoder);
		if (status < 0)
			break;
		/* The status of the synchronisation may announce events. */
		status = peer_events(decoder, status);
		if (status < 0) {
			ips->errors += status != -pte_eos;
			continue;
		}
		peer_stretch(decoder, ips);
	}
	pt_insn_free_decoder(decoder);
	pt_image_free(image);
	return true;
}

static bool take_records(void *ctx, const struct kipt_record *records, u32 n)
{
	struct ips *ips = ctx;
	u32 i;

	for (i = 0; i < n; i++) {
		if (records[i].type == KIPT_RECORD_INSN)
			add(ips, records[i].ip);
		if (records[i].type == KIPT_RECORD_GAP &&
		    records[i].kind != KIPT_GAP_OVERFLOW)
			ips->errors++;
	}
	return true;
}

static bool run_ours(struct recording *recording, struct ips *ips)
{
	struct kipt_flow_config config = { .output = KIPT_FLOW_INSNS };
	struct kipt_code code = { .read = image_read,
				  .ctx = &recording->image };
	struct kipt_sink sink = { .emit = take_records, .ctx = ips };
	size_t size;
	void *arena = arena_take(&config, &size);
	struct kipt_flow *flow;

	if (!arena)
		return false;
	flow = kipt_flow_init(arena, size, &config, &code, &sink);
	if (flow)
		kipt_flow_run(flow, recording->trace, recording->size, 0,
			      recording->size);
	arena_give(arena);
	return flow;
}

static int judge(const char *name, const struct ips *peer,
		 const struct ips *ours)
{
	u64 shared = peer->count < ours->count ? peer->count : ours->count;
	u64 i;

	for (i = 0; i < shared; i++) {
		if (peer->ip[i] != ours->ip[i])
			break;
	}
	printf("%s: libipt %llu insns %llu errors hash %016llx, ours %llu insns %llu gaps hash %016llx\n",
	       name, (unsigned long long)peer->count,
	       (unsigned long long)peer->errors,
	       (unsigned long long)hash_of(peer, peer->count),
	       (unsigned long long)ours->count,
	       (unsigned long long)ours->errors,
	       (unsigned long long)hash_of(ours, ours->count));
	if (peer->errors && !ours->errors &&
	    pt_library_version().major == 2 &&
	    pt_library_version().minor <= 2) {
		printf("%s: libipt %u.%u loses its way by itself: it keeps return addresses of returns it got a TIP for\n",
		       name, pt_library_version().major,
		       pt_library_version().minor);
		return EXIT_SKIP;
	}
	if (i < shared) {
		printf("%s: differ at instruction %llu: libipt %llx, ours %llx\n",
		       name, (unsigned long long)i,
		       (unsigned long long)peer->ip[i],
		       (unsigned long long)ours->ip[i]);
		return 1;
	}
	if (ours->count > peer->count || peer->count - shared > TAIL_MAX) {
		printf("%s: one ends %lld instructions early\n", name,
		       (long long)(peer->count - ours->count));
		return 1;
	}
	return peer->errors || ours->errors;
}

static int usage(const char *self, int status)
{
	fprintf(status ? stderr : stdout,
		"usage: %s [--flip OFFSET] [--no-errata] DIR NAME\n"
		"Decodes DIR/NAME.pt with the code in NAME.addr and NAME.dump by libipt and by\n"
		"the decoder core; exits 0 if both name the same instructions without errors.\n"
		"  --flip OFFSET  invert bit 4 of this trace byte for our side only\n"
		"  --no-errata    libipt without the errata of family 6 model 94\n",
		self);
	return status;
}

int main(int argc, char **argv)
{
	struct ips peer = { 0 }, ours = { 0 };
	struct recording recording;
	bool errata = true;
	long flip = -1;
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--help"))
			return usage(argv[0], 0);
		if (!strcmp(argv[i], "--no-errata"))
			errata = false;
		else if (!strcmp(argv[i], "--flip") && i + 1 < argc)
			flip = strtol(argv[++i], NULL, 0);
		else
			return usage(argv[0], 2);
	}
	if (argc - i != 2)
		return usage(argv[0], 2);
	if (!recording_load(&recording, argv[i], argv[i + 1]))
		return 1;
	if (!run_peer(&recording, errata, &peer)) {
		fprintf(stderr, "libipt: no decoder\n");
		return 1;
	}
	if (flip >= 0 && (u64)flip < recording.size)
		recording.trace[flip] ^= 0x10;
	if (!run_ours(&recording, &ours))
		return 1;
	i = judge(argv[i + 1], &peer, &ours);
	recording_free(&recording);
	free(peer.ip);
	free(ours.ip);
	return i;
}
