// SPDX-License-Identifier: GPL-2.0-only
/*
 * The comparison with libipt: every instruction, its length and mode, and
 * whether it ran in a transaction. At the end of a trace libipt says more than is
 * proven: it runs on to the next instruction that needs a packet. User space.
 */
#include "peer_libipt.h"

#include <intel-pt.h>

/* How many instructions of libipt to look at after the last that is proven; they
 * may be a circle of jumps.
 */
#define TAIL_MAX	400

/**
 * struct peer - one comparison
 * @walk: the walk
 * @decoder: libipt's
 * @next: the next record of the truth
 * @insns: instructions compared
 * @tail: instructions after the truth's last
 * @error: what is wrong, or NULL
 * @show: where to print what differs; NULL: do not
 */
struct peer {
	const struct walk *walk;
	struct pt_insn_decoder *decoder;
	u32 next;
	u64 insns;
	u32 tail;
	const char *error;
	FILE *show;
};

static int read_code(uint8_t *buffer, size_t size, const struct pt_asid *asid,
		     uint64_t ip, void *context)
{
	const struct peer *peer = context;
	u64 space = asid->cr3 == ~0ULL ? 0 : asid->cr3 / walk_cr3(0) - 1;
	u32 got = program_read(peer->walk->program, space, ip, buffer,
			       (u32)size);

	return got ? (int)got : -pte_nomap;
}

static const struct kipt_record *next_insn(struct peer *peer)
{
	const struct truth *truth = &peer->walk->truth;

	while (peer->next < truth->proven) {
		const struct kipt_record *record =
			&truth->records[peer->next++];

		if (record->type == KIPT_RECORD_INSN)
			return record;
	}
	return NULL;
}

static void compare(struct peer *peer, const struct pt_insn *insn)
{
	const struct kipt_record *want = next_insn(peer);

	if (!want) {
		peer->tail++;
		if (!peer->walk->truth.on)
			peer->error = "libipt goes on where packets are off";
		return;
	}
	peer->insns++;
	if (insn->ip == want->ip && insn->size == want->aux)
		return;
	peer->error = "libipt sees another instruction";
	if (peer->show)
		fprintf(peer->show, "  insn %llu: want %llx (%u bytes), libipt %llx (%u)\n",
		       (unsigned long long)peer->insns,
		       (unsigned long long)want->ip, want->aux,
		       (unsigned long long)insn->ip, insn->size);
}

static int drain_events(struct peer *peer, int status)
{
	struct pt_event event;

	while (status >= 0 && status & pts_event_pending) {
		status = pt_insn_event(peer->decoder, &event, sizeof(event));
		if (peer->show && status >= 0)
			fprintf(peer->show, "  libipt event %d after insn %llu\n",
			       event.type, (unsigned long long)peer->insns);
	}
	return status;
}

static void complain(struct peer *peer, int status)
{
	uint64_t offset = 0;

	if (status >= 0 || status == -pte_eos || peer->error)
		return;
	pt_insn_get_offset(peer->decoder, &offset);
	peer->error = pt_errstr(pt_errcode(status));
	if (peer->show)
		fprintf(peer->show, "  libipt: %s at offset %llx after insn %llu\n",
		       peer->error, (unsigned long long)offset,
		       (unsigned long long)peer->insns);
}

static void decode(struct peer *peer)
{
	struct pt_insn insn;
	int status = pt_insn_sync_forward(peer->decoder);

	while (status >= 0 && !peer->error && peer->tail < TAIL_MAX) {
		status = drain_events(peer, status);
		if (status < 0)
			break;
		insn.iclass = ptic_error;
		insn.size = 0;
		status = pt_insn_next(peer->decoder, &insn, sizeof(insn));
		if (status >= 0 || insn.iclass != ptic_error)
			compare(peer, &insn);
	}
	complain(peer, status);
	if (!peer->error && next_insn(peer))
		peer->error = "libipt ends early";
}

const char *peer_libipt_check(const struct walk *walk, u64 *insns, FILE *show)
{
	static struct pt_image *image;
	struct peer peer = { .walk = walk, .show = show };
	struct pt_config config;

	pt_config_init(&config);
	config.begin = (uint8_t *)walk->encode.bytes;
	config.end = config.begin + walk->encode.size;
	config.cpuid_0x15_eax = WALK_TSC_DEN;
	config.cpuid_0x15_ebx = WALK_TSC_NUM;
	config.mtc_freq = walk->rules.mtc_freq;
	config.nom_freq = WALK_RATIO;
	if (!image)
		image = pt_image_alloc("random");
	peer.decoder = pt_insn_alloc_decoder(&config);
	if (!image || !peer.decoder)
		return "libipt has no memory";
	pt_image_set_callback(image, read_code, &peer);
	pt_insn_set_image(peer.decoder, image);
	decode(&peer);
	pt_insn_free_decoder(peer.decoder);
	*insns += peer.insns;
	return peer.error;
}
