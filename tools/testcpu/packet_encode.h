/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bytes of the Intel PT packets, as a CPU writes them. Owns the encodings and
 * nothing else: when a packet is due is trace_model's business. Pure
 * functions, no state, usable from any thread. Nothing of kmod/decode is used
 * here on purpose: the decoder is tested against these bytes.
 */
#ifndef TESTCPU_PACKET_ENCODE_H
#define TESTCPU_PACKET_ENCODE_H

#include <stdbool.h>
#include <stdint.h>

/* No packet is longer than a PSB. */
#define PT_PACKET_MAX	16

/**
 * enum pt_ip_packet - the four packets that carry a compressed IP
 *
 * The values are the low five bits of the first byte.
 */
enum pt_ip_packet {
	PT_TIP_PGD = 0x01,
	PT_TIP = 0x0d,
	PT_TIP_PGE = 0x11,
	PT_FUP = 0x1d,
};

/**
 * struct pt_mode_exec - what a MODE.Exec packet says
 * @lma: CS.L and IA32_EFER.LMA: 64-bit code
 * @csd: CS.D: 32-bit code
 * @intf: RFLAGS.IF, only sent with Event Trace
 */
struct pt_mode_exec {
	bool lma;
	bool csd;
	bool intf;
};

/**
 * pt_encode_tnt - short TNT
 * @out: at least PT_PACKET_MAX bytes, as for every encoder here
 * @bits: results, the oldest in the most significant place
 * @count: 1 to 6
 *
 * Return: number of bytes written, as for every encoder here.
 */
unsigned int pt_encode_tnt(uint8_t *out, uint64_t bits, unsigned int count);

/**
 * pt_encode_long_tnt - long TNT
 * @out: where to
 * @bits: results, the oldest in the most significant place
 * @count: 1 to 47
 */
unsigned int pt_encode_long_tnt(uint8_t *out, uint64_t bits,
				unsigned int count);

/**
 * pt_encode_ip - TIP, TIP.PGE, TIP.PGD or FUP with an address
 * @out: where to
 * @kind: which of them
 * @ip: the address
 * @last_ip: LastIP, the reference of the compression; becomes @ip
 * @full: use a form that needs no LastIP
 */
unsigned int pt_encode_ip(uint8_t *out, enum pt_ip_packet kind, uint64_t ip,
			  uint64_t *last_ip, bool full);

/** pt_encode_ip_none - an IP packet whose address is suppressed */
unsigned int pt_encode_ip_none(uint8_t *out, enum pt_ip_packet kind);

/** pt_encode_psb - PSB, 16 bytes */
unsigned int pt_encode_psb(uint8_t *out);

/** pt_encode_psbend - PSBEND */
unsigned int pt_encode_psbend(uint8_t *out);

/** pt_encode_ovf - OVF */
unsigned int pt_encode_ovf(uint8_t *out);

/** pt_encode_trace_stop - TraceStop */
unsigned int pt_encode_trace_stop(uint8_t *out);

/** pt_encode_pip - PIP: bits 51:5 of @cr3 and the non-root bit */
unsigned int pt_encode_pip(uint8_t *out, uint64_t cr3, bool nr);

/** pt_encode_mode_exec - MODE.Exec */
unsigned int pt_encode_mode_exec(uint8_t *out, struct pt_mode_exec mode);

/** pt_encode_mode_tsx - MODE.TSX */
unsigned int pt_encode_mode_tsx(uint8_t *out, bool in_tx, bool abort);

/** pt_encode_cbr - CBR, the core to bus ratio */
unsigned int pt_encode_cbr(uint8_t *out, uint8_t ratio);

/** pt_encode_tsc - TSC, its low 56 bits */
unsigned int pt_encode_tsc(uint8_t *out, uint64_t tsc);

/** pt_encode_tma - TMA: 16 bits of the crystal clock, 9 of the fast counter */
unsigned int pt_encode_tma(uint8_t *out, uint16_t ctc, uint16_t fast);

/** pt_encode_mtc - MTC */
unsigned int pt_encode_mtc(uint8_t *out, uint8_t ctc);

/** pt_encode_cyc - CYC, as many bytes as @cycles needs */
unsigned int pt_encode_cyc(uint8_t *out, uint64_t cycles);

/** pt_encode_vmcs - VMCS, bits 51:12 of @base; all ones for no VMCS */
unsigned int pt_encode_vmcs(uint8_t *out, uint64_t base);

/** pt_encode_ptw - PTW with a payload of @size 4 or 8 bytes */
unsigned int pt_encode_ptw(uint8_t *out, uint64_t value, unsigned int size,
			   bool ip);

/** pt_encode_exstop - EXSTOP */
unsigned int pt_encode_exstop(uint8_t *out, bool ip);

/** pt_encode_mwait - MWAIT with its hints and extensions */
unsigned int pt_encode_mwait(uint8_t *out, uint32_t hints, uint32_t ext);

/** pt_encode_pwre - PWRE; @state is C-state nibble << 4 | sub C-state */
unsigned int pt_encode_pwre(uint8_t *out, uint8_t state, bool hw);

/** pt_encode_pwrx - PWRX: last and deepest C-state nibble, wake reason */
unsigned int pt_encode_pwrx(uint8_t *out, uint8_t last, uint8_t deepest,
			    uint8_t reason);

/** pt_encode_cfe - CFE, Event Trace */
unsigned int pt_encode_cfe(uint8_t *out, uint8_t type, uint8_t vector,
			   bool ip);

/** pt_encode_evd - EVD, Event Trace */
unsigned int pt_encode_evd(uint8_t *out, uint8_t type, uint64_t payload);

#endif /* TESTCPU_PACKET_ENCODE_H */
