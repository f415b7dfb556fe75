// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packet formats by table: bytes, the packet they are, and every way of
 * cutting them off. The bytes come from the manual's layouts, not from an
 * encoder. User space.
 */
#include <stdlib.h>

#include "../../kmod/decode/packet/packet.h"
#include "../../kmod/decode/packet/last_ip.h"
#include "../../kmod/decode/packet/sync.h"
#include "ktap.h"

/**
 * struct good - bytes that are a packet
 * @name: test
 * @bytes: in hexadecimal
 * @want: the packet; its len is that of @bytes
 */
struct good {
	const char *name;
	const char *bytes;
	struct kipt_packet want;
};

#define P(kind, ...) { .type = KIPT_PACKET_##kind, __VA_ARGS__ }

static const struct good goods[] = {
	{ "pad", "00", P(PAD) },
	{ "tnt n", "04", P(TNT, .size = 1, .value = 0) },
	{ "tnt t", "06", P(TNT, .size = 1, .value = 1) },
	{ "tnt ntn", "14", P(TNT, .size = 3, .value = 2) },
	{ "tnt tnnttn", "cc", P(TNT, .size = 6, .value = 0x26) },
	{ "tnt tttttt", "fe", P(TNT, .size = 6, .value = 0x3f) },
	{ "long tnt tnnttnt", "02a3cd0000000000",
	  P(TNT, .size = 7, .value = 0x4d, .flags = KIPT_PF_LONG) },
	{ "long tnt 47 t", "02a3ffffffffffff",
	  P(TNT, .size = 47, .value = 0x7fffffffffff, .flags = KIPT_PF_LONG) },
	{ "long tnt 47 n", "02a3000000000080",
	  P(TNT, .size = 47, .flags = KIPT_PF_LONG) },
	{ "tip 4", "4d00104000", P(TIP, .size = 2, .value = 0x401000) },
	{ "tip 2", "2d3412", P(TIP, .size = 1, .value = 0x1234) },
	{ "tip 6", "6dddccbbaa007f",
	  P(TIP, .size = 3, .value = 0x7f00aabbccdd) },
	{ "tip 6 kept", "8dddccbbaa007f",
	  P(TIP, .size = 4, .value = 0x7f00aabbccdd) },
	{ "tip.pge 6", "7100000081ffff",
	  P(TIP_PGE, .size = 3, .value = 0xffff81000000) },
	{ "tip.pge 8", "d1001000000080ff00",
	  P(TIP_PGE, .size = 6, .value = 0x00ff800000001000) },
	{ "tip.pgd none", "01", P(TIP_PGD, .size = 0) },
	{ "fup 2", "3dbc0a", P(FUP, .size = 1, .value = 0x0abc) },
	{ "fup none", "1d", P(FUP, .size = 0) },
	{ "pip", "02430055b41a0000", P(PIP, .value = 0x1ab455000) },
	{ "pip nr", "02430155b41a0000",
	  P(PIP, .value = 0x1ab455000, .flags = KIPT_PF_NR) },
	{ "pip pae", "0243fe4523010000", P(PIP, .value = 0x12345fe0) },
	{ "mode.exec 64", "9901", P(MODE_EXEC, .value = 1) },
	{ "mode.exec 32", "9902", P(MODE_EXEC, .value = 2) },
	{ "mode.exec 16", "9900", P(MODE_EXEC, .value = 0) },
	{ "mode.exec 64 if", "9905", P(MODE_EXEC, .value = 5) },
	{ "mode.exec reserved bits", "991d", P(MODE_EXEC, .value = 5) },
	{ "mode.tsx begin", "9921", P(MODE_TSX, .value = 1) },
	{ "mode.tsx commit", "9920", P(MODE_TSX, .value = 0) },
	{ "mode.tsx abort", "9922", P(MODE_TSX, .value = 2) },
	{ "tracestop", "0283", P(TRACESTOP) },
	{ "cbr", "02032400", P(CBR, .value = 0x24) },
	{ "cbr reserved bits", "020324ff", P(CBR, .value = 0x24) },
	{ "tsc", "19cdab8967452301", P(TSC, .value = 0x0123456789abcd) },
	{ "tma", "0273efbe005501", P(TMA, .value = 0xbeef, .aux = 0x155) },
	{ "tma broken", "0273efbe01550100", P(TMA, .flags = KIPT_PF_BROKEN) },
	{ "tma broken at the end", "0273efbe00550300",
	  P(TMA, .flags = KIPT_PF_BROKEN) },
	{ "mtc", "597a", P(MTC, .value = 0x7a) },
	{ "cyc 0", "03", P(CYC, .value = 0) },
	{ "cyc 31", "fb", P(CYC, .value = 31) },
	{ "cyc 32", "0702", P(CYC, .value = 32) },
	{ "cyc 4095", "fffe", P(CYC, .value = 4095) },
	{ "cyc 4096", "070102", P(CYC, .value = 4096) },
	{ "cyc 8194", "170104", P(CYC, .value = 8194) },
	{ "cyc 524288", "07010102", P(CYC, .value = 524288) },
	{ "cyc 15 bytes", "070101010101010101010101010100",
	  P(CYC, .value = 0) },
	{ "vmcs", "02c8debc1a0000", P(VMCS, .value = 0x1abcde000) },
	{ "vmcs none", "02c8ffffffffff", P(VMCS, .value = ~0ULL) },
	{ "ovf", "02f3", P(OVF) },
	{ "psb", "02820282028202820282028202820282", P(PSB) },
	{ "psbend", "0223", P(PSBEND) },
	{ "ptw 4", "0212efbeadde", P(PTW, .size = 4, .value = 0xdeadbeef) },
	{ "ptw 8 ip", "02b2efcdab8967452301",
	  P(PTW, .size = 8, .flags = KIPT_PF_IP,
	    .value = 0x0123456789abcdef) },
	{ "ptw 8", "0232efcdab8967452301",
	  P(PTW, .size = 8, .value = 0x0123456789abcdef) },
	{ "ptw 4 ip", "0292efbeadde",
	  P(PTW, .size = 4, .flags = KIPT_PF_IP, .value = 0xdeadbeef) },
	{ "exstop", "0262", P(EXSTOP) },
	{ "exstop ip", "02e2", P(EXSTOP, .flags = KIPT_PF_IP) },
	{ "mwait", "02c26000000001000000", P(MWAIT, .aux = 0x60, .value = 1) },
	{ "mwait reserved bits", "02c260fffffffdffffff",
	  P(MWAIT, .aux = 0x60, .value = 1) },
	{ "pwre", "02220020", P(PWRE, .aux = 0x20) },
	{ "pwre hw", "02228050", P(PWRE, .aux = 0x50, .flags = KIPT_PF_HW) },
	{ "pwrx", "02a22501000000", P(PWRX, .aux = 0x25, .value = 1) },
	{ "cfe intr 14", "0213010e", P(CFE, .value = 1, .aux = 14) },
	{ "cfe vmentry ip", "02138700",
	  P(CFE, .value = 7, .flags = KIPT_PF_IP) },
	{ "evd", "02530078563412ff7f0000",
	  P(EVD, .aux = 0, .value = 0x7fff12345678) },
	{ "bbp 8", "026301", P(BBP, .size = 8, .aux = 1) },
	{ "bbp 4", "026384", P(BBP, .size = 4, .aux = 4) },
	{ "bep", "0233", P(BEP) },
	{ "bep ip", "02b3", P(BEP, .flags = KIPT_PF_IP) },
	{ "mnt", "02c3880000000000000000", P(MNT) },
	{ "trig", "d90004", P(TRIG, .aux = 4) },
	{ "trig ip icnt", "d9c0030200",
	  P(TRIG, .aux = 3, .value = 2, .flags = KIPT_PF_IP | KIPT_PF_ICNT) },
	{ "trig mult", "d92001", P(TRIG, .aux = 1, .flags = KIPT_PF_MULT) },
};

struct bad {
	const char *name;
	const char *bytes;
	enum kipt_status want;
};

static const struct bad bads[] = {
	{ "opcode 05", "05", KIPT_BAD_OPCODE },
	{ "opcode 09", "09", KIPT_BAD_OPCODE },
	{ "opcode 15", "15", KIPT_BAD_OPCODE },
	{ "opcode 39", "39", KIPT_BAD_OPCODE },
	{ "opcode 79", "79", KIPT_BAD_OPCODE },
	{ "opcode b9", "b9", KIPT_BAD_OPCODE },
	{ "opcode c9", "c9", KIPT_BAD_OPCODE },
	{ "opcode f9", "f9", KIPT_BAD_OPCODE },
	{ "extended opcode 00", "0200", KIPT_BAD_OPCODE },
	{ "extended opcode 42", "0242", KIPT_BAD_OPCODE },
	{ "extended opcode ff", "02ff", KIPT_BAD_OPCODE },
	{ "third opcode 00", "02c300", KIPT_BAD_OPCODE },
	{ "tip ipbytes 5", "ad000000000000000000", KIPT_BAD_PACKET },
	{ "tip ipbytes 7", "ed000000000000000000", KIPT_BAD_PACKET },
	{ "tip.pge ipbytes 5", "b1000000000000000000", KIPT_BAD_PACKET },
	{ "fup ipbytes 7", "fd000000000000000000", KIPT_BAD_PACKET },
	{ "long tnt without bits", "02a3010000000000", KIPT_BAD_PACKET },
	{ "long tnt without stop bit", "02a3000000000000", KIPT_BAD_PACKET },
	{ "tma reserved byte", "0273efbe015501", KIPT_BAD_PACKET },
	{ "tma reserved bits", "0273efbe005503", KIPT_BAD_PACKET },
	{ "ptw size 2", "02520000000000000000", KIPT_BAD_PACKET },
	{ "mode leaf 2", "9940", KIPT_BAD_PACKET },
	{ "mode.exec 11", "9903", KIPT_BAD_PACKET },
	{ "mode.tsx 11", "9923", KIPT_BAD_PACKET },
	{ "psb broken", "02820282028302820282028202820282", KIPT_BAD_PACKET },
	{ "cyc 16 bytes", "07010101010101010101010101010100",
	  KIPT_BAD_PACKET },
	{ "nothing", "", KIPT_END },
};

static u32 from_hex(const char *text, u8 *bytes)
{
	u32 len = 0;

	for (; text[0] && text[1]; text += 2)
		bytes[len++] = (u8)strtoul((char[]){ text[0], text[1], 0 },
					   NULL, 16);
	return len;
}

/* From an exact copy on the heap: a sanitizer sees any read beyond it. */
static enum kipt_status read_copy(const u8 *bytes, u32 len,
				  struct kipt_packet *packet)
{
	u8 *copy = malloc(len ? len : 1);
	struct kipt_cursor cursor;
	enum kipt_status status;

	if (!copy)
		exit(2);
	memcpy(copy, bytes, len);
	kipt_cursor_init(&cursor, copy, len);
	status = kipt_packet_next(&cursor, packet);
	if (status == KIPT_OK &&
	    kipt_cursor_left(&cursor) != len - packet->len)
		status = KIPT_BAD_CONTEXT;
	free(copy);
	return status;
}

static bool check_good(const struct good *good)
{
	struct kipt_packet want = good->want, got;
	u8 bytes[32];
	u32 len = from_hex(good->bytes, bytes), cut;

	want.len = (u8)len;
	memset(&got, 0, sizeof(got));
	if (read_copy(bytes, len, &got) != KIPT_OK || got.type != want.type ||
	    got.len != want.len || got.size != want.size ||
	    got.flags != want.flags || got.aux != want.aux ||
	    got.value != want.value) {
		printf("# %s: len %u size %u flags %x aux %x value %llx\n",
		       kipt_packet_name(got.type), got.len, got.size,
		       got.flags, got.aux, (unsigned long long)got.value);
		return false;
	}
	/* Without the byte too many of SKZ84 it is a whole TMA, but a bad one. */
	if (want.type == KIPT_PACKET_TMA && want.flags & KIPT_PF_BROKEN)
		len--;
	for (cut = 1; cut < len; cut++) {
		if (read_copy(bytes, cut, &got) == KIPT_TRUNCATED)
			continue;
		printf("# cut to %u bytes\n", cut);
		return false;
	}
	return true;
}

static bool check_bad(const struct bad *bad)
{
	struct kipt_packet packet;
	u8 bytes[32];

	return read_copy(bytes, from_hex(bad->bytes, bytes), &packet) ==
	       bad->want;
}

/* Every first byte, against the manual's map of first bytes. */
static bool check_first_bytes(void)
{
	u32 byte, tnt = 0, cyc = 0, ip = 0, bad = 0;
	u8 bytes[16] = { 0 };
	struct kipt_packet packet;
	enum kipt_status status;

	for (byte = 0; byte < 256; byte++) {
		if (byte == 2)
			continue;
		bytes[0] = (u8)byte;
		status = read_copy(bytes, sizeof(bytes), &packet);
		if (status != KIPT_OK)
			bad++;
		else if (packet.type == KIPT_PACKET_TNT)
			tnt++;
		else if (packet.type == KIPT_PACKET_CYC)
			cyc++;
		else if (packet.type >= KIPT_PACKET_TIP &&
			 packet.type <= KIPT_PACKET_FUP)
			ip++;
	}
	/* 4 kinds of 6 legal IPBytes; reserved IPBytes and holes are bad. */
	return tnt == 126 && cyc == 64 && ip == 24 && bad == 8 + 24 + 4;
}

static bool check_block_context(void)
{
	static const u8 bytes[] = {
		0x02, 0x63, 0x81, 0x14, 1, 2, 3, 4, 0x59, 0x05, 0x0c, 5, 6, 7,
		8, 0x02, 0x33, 0x14
	};
	static const u8 types[] = {
		KIPT_PACKET_BBP, KIPT_PACKET_BIP, KIPT_PACKET_MTC,
		KIPT_PACKET_BIP, KIPT_PACKET_BEP, KIPT_PACKET_TNT
	};
	struct kipt_cursor cursor;
	struct kipt_packet packet;
	u32 i;

	kipt_cursor_init(&cursor, bytes, sizeof(bytes));
	for (i = 0; i < sizeof(types); i++) {
		if (kipt_packet_next(&cursor, &packet) != KIPT_OK ||
		    packet.type != types[i])
			return false;
		if (i == 3 && (packet.aux != 1 || packet.size != 4 || packet.value != 0x08070605))
			return false;
	}
	return kipt_packet_next(&cursor, &packet) == KIPT_END;
}

/**
 * struct stream - packets one after the other, and what they are
 * @bytes: they
 * @size: how many
 * @want: the packets
 * @ends: where each ends
 * @count: how many
 */
struct stream {
	u8 bytes[1 << 16];
	u32 size;
	struct kipt_packet want[1 << 14];
	u32 ends[1 << 14];
	u32 count;
};

static void stream_add(struct stream *stream, const struct good *good)
{
	u32 len = from_hex(good->bytes, stream->bytes + stream->size);

	stream->want[stream->count] = good->want;
	stream->want[stream->count].len = (u8)len;
	stream->size += len;
	stream->ends[stream->count++] = stream->size;
}

static const struct good *good_named(const char *name)
{
	u32 i;

	for (i = 0; strcmp(goods[i].name, name); i++)
		;
	return &goods[i];
}

/* Every packet after every tenth or so of the others, and after runs of packets of
 * one byte, of each length, and of CYCs and MTCs. A BBP would change what comes
 * after it.
 */
static void stream_fill(struct stream *stream)
{
	const struct good *one = good_named("tnt t"), *cyc = good_named("cyc 32");
	u32 count = sizeof(goods) / sizeof(goods[0]), step, i, run;

	memset(stream, 0, sizeof(*stream));
	for (step = 1; step < 20; step += 2) {
		for (i = 0; i < count; i++) {
			const struct good *good = &goods[i * step % count];

			for (run = 0; run < (i + step) % 23; run++)
				stream_add(stream, one);
			for (run = 0; run < i % 7; run++)
				stream_add(stream, run % 3 ? cyc :
					   good_named("mtc"));
			if (good->want.type != KIPT_PACKET_BBP)
				stream_add(stream, good);
		}
	}
}

static bool same_packet(const struct kipt_packet *a, const struct kipt_packet *b)
{
	return a->type == b->type && a->len == b->len && a->size == b->size &&
	       a->flags == b->flags && a->aux == b->aux && a->value == b->value;
}

/* All packets of the first @size bytes, and how they end. */
static bool check_row(const struct stream *stream, u32 size, enum kipt_status ends)
{
	struct kipt_packet packet;
	struct kipt_cursor cursor;
	enum kipt_status status;
	u8 *copy = malloc(size);
	u32 i = 0;
	u64 left;

	if (!copy)
		exit(2);
	memcpy(copy, stream->bytes, size);
	kipt_cursor_init(&cursor, copy, size);
	while ((status = kipt_packet_next(&cursor, &packet)) == KIPT_OK &&
	       i < stream->count && same_packet(&packet, &stream->want[i]))
		i++;
	left = kipt_cursor_left(&cursor);
	free(copy);
	return status == ends && i && stream->ends[i - 1] == size - left &&
	       (i == stream->count || stream->ends[i] > size);
}

static bool check_rows(void)
{
	static struct stream stream;
	u32 i, cut;

	stream_fill(&stream);
	if (!check_row(&stream, stream.size, KIPT_END))
		return false;
	/* Wherever it ends: in a packet, or between two. */
	for (i = 3; i < 300; i++) {
		if (stream.want[i].flags & KIPT_PF_BROKEN)
			continue;
		for (cut = stream.ends[i - 1]; cut < stream.ends[i]; cut++)
			if (!check_row(&stream, cut, cut == stream.ends[i - 1] ?
				       KIPT_END : KIPT_TRUNCATED))
				return false;
	}
	/* What is no packet, between packets enough for the fast way. */
	stream.bytes[stream.ends[1000]] = 0x05;
	stream.count = 1001;
	return check_row(&stream, stream.size, KIPT_BAD_OPCODE);
}

/* SKD007: 07 02 F3 is the first byte of a CYC, and OVF. */
static bool check_cut_cyc(void)
{
	static const u8 bytes[] = { 0x07, 0x02, 0xf3 };
	struct kipt_cursor cursor;
	struct kipt_packet packet;

	kipt_cursor_init(&cursor, bytes, sizeof(bytes));
	return kipt_packet_next(&cursor, &packet) == KIPT_OK &&
	       packet.type == KIPT_PACKET_CYC &&
	       packet.flags == KIPT_PF_BROKEN &&
	       kipt_packet_next(&cursor, &packet) == KIPT_OK &&
	       packet.type == KIPT_PACKET_OVF;
}

struct last_ip_case {
	u64 last;
	u8 size;
	u64 value;
	u64 want;
};

static bool check_last_ip(void)
{
	static const struct last_ip_case cases[] = {
		{ 0x7f0011223344, 1, 0xabcd, 0x7f001122abcd },
		{ 0x7f0011223344, 2, 0xaabbccdd, 0x7f00aabbccdd },
		{ 0, 3, 0xffff81000000, 0xffffffff81000000 },
		{ ~0ULL, 3, 0x7fff81000000, 0x7fff81000000 },
		{ 0xff80000000000000, 4, 0x800000001000, 0xff80800000001000 },
		{ 1, 6, 0xff80000000001000, 0xff80000000001000 },
	};
	struct kipt_packet packet = { 0 };
	u32 i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		packet.size = cases[i].size;
		packet.value = cases[i].value;
		if (kipt_last_ip_apply(cases[i].last, &packet) !=
		    cases[i].want)
			return false;
	}
	return true;
}

/* The PSB at every distance from the start, also after stray pairs. */
static bool check_sync(void)
{
	u8 bytes[96];
	u32 at, i, pairs;

	for (at = 0; at <= 40; at++) {
		for (pairs = 0; 2 * pairs <= at && pairs <= 9; pairs++) {
			memset(bytes, 0x55, sizeof(bytes));
			for (i = 0; i < 16 + 2 * pairs; i++)
				bytes[at - 2 * pairs + i] = i & 1 ? 0x82 : 2;
			if (kipt_sync_next(bytes, sizeof(bytes), 0) != at)
				return false;
			if (kipt_sync_next(bytes, at + 16, 0) != at)
				return false;
		}
		memset(bytes, 0x55, at);
		bytes[at + 7] ^= 0x10;
		if (kipt_sync_next(bytes, at + 16, 0) != at + 16)
			return false;
	}
	return kipt_sync_next(bytes, 0, 0) == 0;
}

/* No PSB is missing for so many bytes in the trace of check_cut(). */
#define FARTHEST	300

/* Parts of any wished size lie side by side; all but the first begin with a PSB. */
static bool check_cut(void)
{
	static const u32 psbs[] = { 0, 70, 200, 217, 500 };
	u8 bytes[500 + 16 + 80];
	u64 wish, size, from, to;
	u32 i, k;

	memset(bytes, 0x55, sizeof(bytes));
	for (i = 0; i < sizeof(psbs) / sizeof(psbs[0]); i++) {
		for (k = 0; k < 16; k++)
			bytes[psbs[i] + k] = k & 1 ? 0x82 : 2;
	}
	for (size = 0; size <= sizeof(bytes); size++) {
		for (wish = 1; wish < sizeof(bytes) + 2; wish += 1 + wish / 4) {
			for (from = 0; from < size; from = to) {
				to = kipt_sync_cut(bytes, size, from, wish);
				if (to <= from || to > size)
					return false;
				if (to < size && (to - from < wish || !kipt_sync_is_psb(bytes + to)))
					return false;
				if (to == size && size - from > wish + FARTHEST)
					return false;
			}
		}
	}
	return kipt_sync_cut(NULL, 0, 0, 1) == 0;
}

int main(void)
{
	struct ktap ktap = { 0 };
	u32 i;

	ktap_start();
	for (i = 0; i < sizeof(goods) / sizeof(goods[0]); i++)
		ktap_result(&ktap, check_good(&goods[i]), "packet %s",
			    goods[i].name);
	for (i = 0; i < sizeof(bads) / sizeof(bads[0]); i++)
		ktap_result(&ktap, check_bad(&bads[i]), "packet %s is refused",
			    bads[i].name);
	ktap_result(&ktap, check_first_bytes(), "packet first bytes");
	ktap_result(&ktap, check_block_context(), "packet block context");
	ktap_result(&ktap, check_rows(), "packets one after the other");
	ktap_result(&ktap, check_cut_cyc(), "packet cyc cut by ovf");
	ktap_result(&ktap, check_last_ip(), "last ip forms");
	ktap_result(&ktap, check_sync(), "psb search at every distance");
	ktap_result(&ktap, check_cut(), "parts of a trace lie side by side");
	return ktap_end(&ktap);
}
