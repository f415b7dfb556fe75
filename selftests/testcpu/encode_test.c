// SPDX-License-Identifier: GPL-2.0-only
/*
 * The packet encoder against vectors computed by hand from the manual's packet
 * layouts, and against the list of packets that the other tests read. User
 * space, no privileges.
 */
#include <string.h>

#include "../../tools/testcpu/packet_encode.h"
#include "ktap.h"
#include "packet_list.h"

struct result {
	uint8_t bytes[64];
	unsigned int len;
};

/* One vector: the bytes written in hexadecimal, and how they are listed. */
static void expect(const char *name, const struct result *r, const char *hex,
		   const char *listed)
{
	uint64_t last_ip = 0;
	char text[128] = "";
	char got[256];
	size_t used;

	for (unsigned int i = 0; i < r->len; i++)
		sprintf(text + 2 * i, "%02X", r->bytes[i]);
	used = packet_list(r->bytes, r->len, &last_ip, got, sizeof(got));
	if (!ktap_case(strcmp(text, hex) == 0 && used == r->len &&
		       (!listed || strcmp(got, listed) == 0),
		       "encode_%s", name))
		printf("# bytes %s, expected %s; listed %s\n", text, hex, got);
}

static void tnt(const char *name, uint64_t bits, unsigned int n,
		const char *hex, const char *listed)
{
	struct result r;

	r.len = n <= 6 ? pt_encode_tnt(r.bytes, bits, n) :
			 pt_encode_long_tnt(r.bytes, bits, n);
	expect(name, &r, hex, listed);
}

static void tnt_vectors(void)
{
	tnt("tnt_n", 0, 1, "04", "TNT(N)");
	tnt("tnt_t", 1, 1, "06", "TNT(T)");
	tnt("tnt_ntn", 2, 3, "14", "TNT(NTN)");
	tnt("tnt_tnnttn", 0x26, 6, "CC", "TNT(TNNTTN)");
	tnt("long_tnt_7", 0x4d, 7, "02A3CD00000000" "00", "TNT(TNNTTNT)");
	tnt("long_tnt_47_taken", (1ULL << 47) - 1, 47, "02A3FFFFFFFFFFFF",
	    NULL);
	tnt("long_tnt_47_not", 0, 47, "02A3000000000080", NULL);
}

static void ip(const char *name, enum pt_ip_packet kind, uint64_t last,
	       uint64_t value, const char *hex)
{
	struct result r;

	r.len = pt_encode_ip(r.bytes, kind, value, &last, false);
	expect(name, &r, hex, NULL);
	ktap_case(last == value, "encode_%s_moves_last_ip", name);
}

static void ip_vectors(void)
{
	uint64_t last = 0x403000;
	struct result r;

	ip("tip_4_bytes", PT_TIP, 0, 0x401000, "4D00104000");
	ip("tip_2_bytes", PT_TIP, 0x401000, 0x401234, "2D3412");
	ip("tip_high_half_kept", PT_TIP, 0x7f0011223344, 0x7f00aabbccdd,
	   "4DDDCCBBAA");
	ip("pge_sign_extended", PT_TIP_PGE, 0, 0xffffffff81000000,
	   "7100000081FFFF");
	ip("pge_57_bits", PT_TIP_PGE, 0, 0x00ff800000001000,
	   "D10010000000" "80FF00");
	ip("fup_2_bytes", PT_FUP, 0xffffffff81000000, 0xffffffff81000abc,
	   "3DBC0A");
	ip("tip_6_of_8_bytes", PT_TIP, 0x00ff800000001000, 0x00ff900000001000,
	   "8D001000000090");
	r.len = pt_encode_ip(r.bytes, PT_FUP, 0x403000, &last, true);
	expect("fup_uncompressed", &r, "7D003040000000", "FUP(403000)");
	r.len = pt_encode_ip_none(r.bytes, PT_TIP_PGD);
	expect("pgd_suppressed", &r, "01", "TIP.PGD()");
}

#define VECTOR(name, call, hex, listed) do {		\
	struct result r;				\
	uint8_t *out = r.bytes;				\
							\
	r.len = call;					\
	expect(name, &r, hex, listed);			\
} while (0)

static void state_vectors(void)
{
	struct pt_mode_exec m64 = { .lma = true };
	struct pt_mode_exec m32 = { .csd = true };
	struct pt_mode_exec m16 = { .lma = false };
	struct pt_mode_exec mif = { .lma = true, .intf = true };

	VECTOR("pip", pt_encode_pip(out, 0x1ab455000, false),
	       "02430055B41A0000", "PIP(1ab455000)");
	VECTOR("pip_nonroot", pt_encode_pip(out, 0x1ab455000, true),
	       "02430155B41A0000", "PIP(1ab455000,nr)");
	VECTOR("pip_pae", pt_encode_pip(out, 0x12345fe0, false),
	       "0243FE4523010000", "PIP(12345fe0)");
	VECTOR("mode_64", pt_encode_mode_exec(out, m64), "9901",
	       "MODE.Exec(64)");
	VECTOR("mode_32", pt_encode_mode_exec(out, m32), "9902",
	       "MODE.Exec(32)");
	VECTOR("mode_16", pt_encode_mode_exec(out, m16), "9900",
	       "MODE.Exec(16)");
	VECTOR("mode_if", pt_encode_mode_exec(out, mif), "9905",
	       "MODE.Exec(64,if)");
	VECTOR("tsx_begin", pt_encode_mode_tsx(out, true, false), "9921",
	       "MODE.TSX(begin)");
	VECTOR("tsx_commit", pt_encode_mode_tsx(out, false, false), "9920",
	       "MODE.TSX(none)");
	VECTOR("tsx_abort", pt_encode_mode_tsx(out, false, true), "9922",
	       "MODE.TSX(abort)");
	VECTOR("trace_stop", pt_encode_trace_stop(out), "0283", "TraceStop");
	VECTOR("vmcs", pt_encode_vmcs(out, 0x1abcde000), "02C8DEBC1A0000",
	       "VMCS(1abcde000)");
	VECTOR("vmcs_none", pt_encode_vmcs(out, ~0ULL), "02C8FFFFFFFFFF",
	       "VMCS(ffffffffff000)");
	VECTOR("ovf", pt_encode_ovf(out), "02F3", "OVF");
	VECTOR("psb", pt_encode_psb(out),
	       "02820282028202820282028202820282", "PSB");
	VECTOR("psbend", pt_encode_psbend(out), "0223", "PSBEND");
}

static void timing_vectors(void)
{
	VECTOR("cbr", pt_encode_cbr(out, 0x24), "02032400", "CBR(36)");
	VECTOR("tsc", pt_encode_tsc(out, 0x123456789abcd),
	       "19CDAB8967452301", "TSC(123456789abcd)");
	VECTOR("tma", pt_encode_tma(out, 0xbeef, 0x155), "0273EFBE005501",
	       "TMA(beef,155)");
	VECTOR("mtc", pt_encode_mtc(out, 0x7a), "597A", "MTC(7a)");
	VECTOR("cyc_0", pt_encode_cyc(out, 0), "03", "CYC(0)");
	VECTOR("cyc_31", pt_encode_cyc(out, 31), "FB", "CYC(31)");
	VECTOR("cyc_32", pt_encode_cyc(out, 32), "0702", "CYC(32)");
	VECTOR("cyc_4095", pt_encode_cyc(out, 4095), "FFFE", "CYC(4095)");
	VECTOR("cyc_4096", pt_encode_cyc(out, 4096), "070102", "CYC(4096)");
	VECTOR("cyc_8194", pt_encode_cyc(out, 8194), "170104", "CYC(8194)");
	VECTOR("cyc_524288", pt_encode_cyc(out, 524288), "07010102",
	       "CYC(524288)");
}

static void software_vectors(void)
{
	VECTOR("ptw_4", pt_encode_ptw(out, 0xdeadbeef, 4, false),
	       "0212EFBEADDE", "PTW(4,deadbeef)");
	VECTOR("ptw_8_ip", pt_encode_ptw(out, 0x123456789abcdef, 8, true),
	       "02B2EFCDAB8967452301", "PTW(8,123456789abcdef,ip)");
	VECTOR("exstop", pt_encode_exstop(out, false), "0262", "EXSTOP");
	VECTOR("exstop_ip", pt_encode_exstop(out, true), "02E2", "EXSTOP(ip)");
	VECTOR("mwait", pt_encode_mwait(out, 0x60, 1),
	       "02C26000000001000000", "MWAIT(60,1)");
	VECTOR("pwre", pt_encode_pwre(out, 0x20, false), "02220020",
	       "PWRE(20)");
	VECTOR("pwre_hw", pt_encode_pwre(out, 0x50, true), "02228050",
	       "PWRE(50,hw)");
	VECTOR("pwrx", pt_encode_pwrx(out, 2, 5, 1), "02A22501000000",
	       "PWRX(2,5,1)");
	VECTOR("cfe_intr", pt_encode_cfe(out, 1, 14, false), "0213010E",
	       "CFE(1,14)");
	VECTOR("cfe_vmentry_ip", pt_encode_cfe(out, 7, 0, true), "02138700",
	       "CFE(7,0,ip)");
	VECTOR("evd_pfa", pt_encode_evd(out, 0, 0x7fff12345678),
	       "02530078563412FF7F0000", "EVD(0,7fff12345678)");
}

int main(void)
{
	tnt_vectors();
	ip_vectors();
	state_vectors();
	timing_vectors();
	software_vectors();
	return ktap_finish();
}
