// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names packets (Intel SDM Vol. 3C, "Packet Definitions"). Owns one pass over
 * a buffer; no state beyond LastIP. For tests only.
 */
#include "packet_list.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct list {
	const uint8_t *p;
	size_t left;
	uint64_t *last_ip;
	char *text;
	size_t size;
	size_t used;
};

static void __attribute__((format(printf, 2, 3)))
add(struct list *l, const char *format, ...)
{
	va_list args;
	int n;

	if (l->used + 2 >= l->size)
		return;
	if (l->used)
		l->text[l->used++] = ' ';
	va_start(args, format);
	n = vsnprintf(l->text + l->used, l->size - l->used, format, args);
	va_end(args);
	l->used += (size_t)n;
	if (l->used >= l->size) {
		l->used = l->size - 1;
		memcpy(l->text + l->size - 4, "...", 4);
	}
}

static uint64_t le(const uint8_t *p, unsigned int n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

static size_t list_ip(struct list *l, const char *name)
{
	static const uint8_t sizes[8] = { 0, 2, 4, 6, 6, 0xff, 8, 0xff };
	unsigned int form = l->p[0] >> 5;
	unsigned int n = sizes[form];
	uint64_t raw;

	if (n == 0xff || l->left < 1 + n)
		return 0;
	raw = le(l->p + 1, n);
	if (form == 0) {
		add(l, "%s()", name);
		return 1;
	}
	if (form == 1)
		raw |= *l->last_ip & ~0xffffULL;
	if (form == 2)
		raw |= *l->last_ip & ~0xffffffffULL;
	if (form == 3)
		raw = (uint64_t)((int64_t)(raw << 16) >> 16);
	if (form == 4)
		raw |= *l->last_ip & ~0xffffffffffffULL;
	*l->last_ip = raw;
	add(l, "%s(%" PRIx64 ")", name, raw);
	return 1 + n;
}

static void add_bits(struct list *l, uint64_t bits, int top)
{
	char text[64];
	int n = 0;

	while (top > 0)
		text[n++] = bits >> --top & 1 ? 'T' : 'N';
	text[n] = 0;
	add(l, "TNT(%s)", text);
}

static size_t list_tnt(struct list *l, uint64_t value, size_t len)
{
	int top = 63;

	while (top >= 0 && !(value >> top & 1))
		top--;
	if (top < 1)
		return 0;
	add_bits(l, value, top);
	return len;
}

static size_t list_cyc(struct list *l)
{
	uint64_t count = l->p[0] >> 3;
	bool more = l->p[0] & 4;
	unsigned int shift = 5;
	size_t n = 1;

	while (more) {
		if (n >= l->left || n >= 15)
			return 0;
		if (shift < 64)
			count |= (uint64_t)(l->p[n] >> 1) << shift;
		shift += 7;
		more = l->p[n++] & 1;
	}
	add(l, "CYC(%" PRIu64 ")", count);
	return n;
}

static size_t list_mode(struct list *l)
{
	static const char * const tsx[] = { "none", "begin", "abort", "both" };
	uint8_t v = l->p[1];

	switch (v >> 5) {
	case 0:
		add(l, "MODE.Exec(%s%s)", v & 1 ? "64" : v & 2 ? "32" : "16",
		    v & 4 ? ",if" : "");
		return 2;
	case 1:
		add(l, "MODE.TSX(%s)", tsx[v & 3]);
		return 2;
	}
	return 0;
}

static size_t list_psb(struct list *l)
{
	for (unsigned int i = 0; i < 16; i += 2)
		if (l->p[i] != 0x02 || l->p[i + 1] != 0x82)
			return 0;
	*l->last_ip = 0;
	add(l, "PSB");
	return 16;
}

static void list_pip(struct list *l)
{
	uint64_t v = le(l->p + 2, 6);

	add(l, "PIP(%" PRIx64 "%s)", v >> 1 << 5, v & 1 ? ",nr" : "");
}

static void list_ptw(struct list *l, unsigned int bytes)
{
	add(l, "PTW(%u,%" PRIx64 "%s)", bytes, le(l->p + 2, bytes),
	    l->p[1] & 0x80 ? ",ip" : "");
}

struct extended {
	uint8_t opcode;
	uint8_t len;
};

static unsigned int extended_length(uint8_t opcode)
{
	static const struct extended table[] = {
		{ 0x03, 4 }, { 0x12, 6 }, { 0x32, 10 }, { 0x92, 6 },
		{ 0xb2, 10 }, { 0x13, 4 }, { 0x22, 4 }, { 0x23, 2 },
		{ 0x43, 8 }, { 0x53, 11 }, { 0x62, 2 }, { 0xe2, 2 },
		{ 0x73, 7 }, { 0x82, 16 }, { 0x83, 2 }, { 0xa2, 7 },
		{ 0xa3, 8 }, { 0xc2, 10 }, { 0xc8, 7 }, { 0xf3, 2 },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].opcode == opcode)
			return table[i].len;
	return 0;
}

static size_t list_extended(struct list *l)
{
	const uint8_t *p = l->p;
	unsigned int len = l->left < 2 ? 0 : extended_length(p[1]);

	if (!len || l->left < len)
		return 0;
	switch (p[1]) {
	case 0x03:
		add(l, "CBR(%u)", p[2]);
		break;
	case 0x12: case 0x92:
		list_ptw(l, 4);
		break;
	case 0x32: case 0xb2:
		list_ptw(l, 8);
		break;
	case 0x13:
		add(l, "CFE(%u,%u%s)", p[2] & 0x1f, p[3],
		    p[2] & 0x80 ? ",ip" : "");
		break;
	case 0x22:
		add(l, "PWRE(%x%s)", p[3], p[2] & 0x80 ? ",hw" : "");
		break;
	case 0x23:
		add(l, "PSBEND");
		break;
	case 0x43:
		list_pip(l);
		break;
	case 0x53:
		add(l, "EVD(%u,%" PRIx64 ")", p[2] & 0x1f, le(p + 3, 8));
		break;
	case 0x62: case 0xe2:
		add(l, "EXSTOP%s", p[1] & 0x80 ? "(ip)" : "");
		break;
	case 0x73:
		add(l, "TMA(%x,%x)", (unsigned int)le(p + 2, 2),
		    (unsigned int)le(p + 5, 2) & 0x1ff);
		break;
	case 0x82:
		return list_psb(l);
	case 0x83:
		add(l, "TraceStop");
		break;
	case 0xa2:
		add(l, "PWRX(%x,%x,%x)", p[2] >> 4, p[2] & 0xf, p[3] & 0xf);
		break;
	case 0xa3:
		return list_tnt(l, le(p + 2, 6), 8);
	case 0xc2:
		add(l, "MWAIT(%x,%x)", p[2], p[6]);
		break;
	case 0xc8:
		add(l, "VMCS(%" PRIx64 ")", le(p + 2, 5) << 12);
		break;
	case 0xf3:
		add(l, "OVF");
		break;
	}
	return len;
}

static size_t list_one(struct list *l)
{
	uint8_t b = l->p[0];

	if (b == 0x00)
		return 1;
	if (b == 0x02)
		return list_extended(l);
	if (!(b & 1))
		return list_tnt(l, b >> 1, 1);
	if ((b & 3) == 3)
		return list_cyc(l);
	switch (b & 0x1f) {
	case 0x01:
		return list_ip(l, "TIP.PGD");
	case 0x11:
		return list_ip(l, "TIP.PGE");
	case 0x0d:
		return list_ip(l, "TIP");
	case 0x1d:
		return list_ip(l, "FUP");
	}
	if (b == 0x19 && l->left >= 8) {
		add(l, "TSC(%" PRIx64 ")", le(l->p + 1, 7));
		return 8;
	}
	if (b == 0x59 && l->left >= 2) {
		add(l, "MTC(%x)", l->p[1]);
		return 2;
	}
	if (b == 0x99 && l->left >= 2)
		return list_mode(l);
	return 0;
}

size_t packet_list(const uint8_t *bytes, size_t len, uint64_t *last_ip,
		   char *text, size_t size)
{
	struct list l = {
		.p = bytes,
		.left = len,
		.last_ip = last_ip,
		.text = text,
		.size = size,
	};

	text[0] = 0;
	while (l.left) {
		size_t n = list_one(&l);

		if (!n) {
			add(&l, "BAD(%zu)", (size_t)(l.p - bytes));
			break;
		}
		l.p += n;
		l.left -= n;
	}
	return (size_t)(l.p - bytes);
}
