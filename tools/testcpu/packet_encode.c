// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bytes of the Intel PT packets (Intel SDM Vol. 3C, "Packet Definitions").
 * Owns encodings only; the order and the occasion of packets are decided in
 * trace_model.c. Pure functions, any thread.
 */
#include "packet_encode.h"

#include <string.h>

static unsigned int put_le(uint8_t *out, uint64_t value, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		out[i] = (uint8_t)(value >> (8 * i));
	return bytes;
}

static unsigned int put_ext(uint8_t *out, uint8_t opcode)
{
	out[0] = 0x02;
	out[1] = opcode;
	return 2;
}

unsigned int pt_encode_tnt(uint8_t *out, uint64_t bits, unsigned int count)
{
	out[0] = (uint8_t)(1u << (count + 1) | bits << 1);
	return 1;
}

unsigned int pt_encode_long_tnt(uint8_t *out, uint64_t bits,
				unsigned int count)
{
	put_ext(out, 0xa3);
	return 2 + put_le(out + 2, 1ULL << count | bits, 6);
}

static uint64_t sign_extend_48(uint64_t ip)
{
	return (uint64_t)((int64_t)(ip << 16) >> 16);
}

/*
 * Shortest form first. Form 4 only where form 3 cannot say it: decoders that
 * are older than form 4 exist.
 */
static unsigned int ip_form(uint64_t ip, uint64_t last_ip, bool full)
{
	if (!full && ip >> 16 == last_ip >> 16)
		return 1;
	if (!full && ip >> 32 == last_ip >> 32)
		return 2;
	if (ip == sign_extend_48(ip))
		return 3;
	if (!full && ip >> 48 == last_ip >> 48)
		return 4;
	return 6;
}

unsigned int pt_encode_ip(uint8_t *out, enum pt_ip_packet kind, uint64_t ip,
			  uint64_t *last_ip, bool full)
{
	static const uint8_t form_bytes[] = { 0, 2, 4, 6, 6, 0, 8 };
	unsigned int form = ip_form(ip, *last_ip, full);

	out[0] = (uint8_t)(form << 5 | kind);
	*last_ip = ip;
	return 1 + put_le(out + 1, ip, form_bytes[form]);
}

unsigned int pt_encode_ip_none(uint8_t *out, enum pt_ip_packet kind)
{
	out[0] = kind;
	return 1;
}

unsigned int pt_encode_psb(uint8_t *out)
{
	for (unsigned int i = 0; i < 16; i += 2)
		put_ext(out + i, 0x82);
	return 16;
}

unsigned int pt_encode_psbend(uint8_t *out)
{
	return put_ext(out, 0x23);
}

unsigned int pt_encode_ovf(uint8_t *out)
{
	return put_ext(out, 0xf3);
}

unsigned int pt_encode_trace_stop(uint8_t *out)
{
	return put_ext(out, 0x83);
}

unsigned int pt_encode_pip(uint8_t *out, uint64_t cr3, bool nr)
{
	uint64_t field = (cr3 & 0xfffffffffffe0ULL) >> 5;

	put_ext(out, 0x43);
	return 2 + put_le(out + 2, field << 1 | nr, 6);
}

unsigned int pt_encode_mode_exec(uint8_t *out, struct pt_mode_exec mode)
{
	out[0] = 0x99;
	out[1] = (uint8_t)(mode.lma | mode.csd << 1 | mode.intf << 2);
	return 2;
}

unsigned int pt_encode_mode_tsx(uint8_t *out, bool in_tx, bool abort)
{
	out[0] = 0x99;
	out[1] = (uint8_t)(0x20 | in_tx | abort << 1);
	return 2;
}

unsigned int pt_encode_cbr(uint8_t *out, uint8_t ratio)
{
	put_ext(out, 0x03);
	out[2] = ratio;
	out[3] = 0;
	return 4;
}

unsigned int pt_encode_tsc(uint8_t *out, uint64_t tsc)
{
	out[0] = 0x19;
	return 1 + put_le(out + 1, tsc, 7);
}

unsigned int pt_encode_tma(uint8_t *out, uint16_t ctc, uint16_t fast)
{
	put_ext(out, 0x73);
	put_le(out + 2, ctc, 2);
	out[4] = 0;
	return 5 + put_le(out + 5, fast & 0x1ff, 2);
}

unsigned int pt_encode_mtc(uint8_t *out, uint8_t ctc)
{
	out[0] = 0x59;
	out[1] = ctc;
	return 2;
}

unsigned int pt_encode_cyc(uint8_t *out, uint64_t cycles)
{
	unsigned int len = 1;

	out[0] = (uint8_t)((cycles & 0x1f) << 3 | 0x03);
	cycles >>= 5;
	if (cycles)
		out[0] |= 0x04;
	while (cycles) {
		out[len] = (uint8_t)((cycles & 0x7f) << 1);
		cycles >>= 7;
		if (cycles)
			out[len] |= 0x01;
		len++;
	}
	return len;
}

unsigned int pt_encode_vmcs(uint8_t *out, uint64_t base)
{
	put_ext(out, 0xc8);
	return 2 + put_le(out + 2, base >> 12, 5);
}

unsigned int pt_encode_ptw(uint8_t *out, uint64_t value, unsigned int size,
			   bool ip)
{
	put_ext(out, (uint8_t)(0x12 | (size == 8) << 5 | ip << 7));
	return 2 + put_le(out + 2, value, size);
}

unsigned int pt_encode_exstop(uint8_t *out, bool ip)
{
	return put_ext(out, (uint8_t)(0x62 | ip << 7));
}

unsigned int pt_encode_mwait(uint8_t *out, uint32_t hints, uint32_t ext)
{
	put_ext(out, 0xc2);
	put_le(out + 2, hints & 0xff, 4);
	return 6 + put_le(out + 6, ext & 0x3, 4);
}

unsigned int pt_encode_pwre(uint8_t *out, uint8_t state, bool hw)
{
	put_ext(out, 0x22);
	out[2] = (uint8_t)(hw << 7);
	out[3] = state;
	return 4;
}

unsigned int pt_encode_pwrx(uint8_t *out, uint8_t last, uint8_t deepest,
			    uint8_t reason)
{
	put_ext(out, 0xa2);
	out[2] = (uint8_t)(last << 4 | (deepest & 0xf));
	out[3] = reason & 0xf;
	memset(out + 4, 0, 3);
	return 7;
}

unsigned int pt_encode_cfe(uint8_t *out, uint8_t type, uint8_t vector,
			   bool ip)
{
	put_ext(out, 0x13);
	out[2] = (uint8_t)(type | ip << 7);
	out[3] = vector;
	return 4;
}

unsigned int pt_encode_evd(uint8_t *out, uint8_t type, uint64_t payload)
{
	put_ext(out, 0x53);
	out[2] = type;
	return 3 + put_le(out + 3, payload, 8);
}
