// SPDX-License-Identifier: GPL-2.0-only
/*
 * Capabilities in words, see info_show.h ("Enumeration of Intel PT").
 */
#include <json-c/json.h>

#include "../../kmod/rtit_regs.h"
#include "ctl.h"
#include "info_show.h"
#include "jsonl.h"
#include "kipt.h"

struct cap {
	/* 0: CPUID.14H.0:EBX, 1: ECX */
	u8 ecx;
	u32 mask;
	const char *name;
	const char *words;
};

static const struct cap caps[] = {
	{ 0, RTIT_CAP_CR3_FILTER, "cr3_filter", "filter by CR3" },
	{ 0, RTIT_CAP_PSB_CYC, "psb_cyc",
	  "PSB frequency and cycle-accurate mode" },
	{ 0, RTIT_CAP_IP_FILTER, "ip_filter",
	  "filter and TraceStop by address" },
	{ 0, RTIT_CAP_MTC, "mtc", "MTC timing packets" },
	{ 0, RTIT_CAP_PTWRITE, "ptwrite", "PTWRITE" },
	{ 0, RTIT_CAP_PWR_EVT, "power_events", "power events" },
	{ 0, RTIT_CAP_PSB_PMI_PRESERVE, "psb_pmi_preserve",
	  "PSB and PMI preserved across contexts" },
	{ 0, RTIT_CAP_EVENT_TRACE, "event_trace", "event trace" },
	{ 0, RTIT_CAP_TNT_DISABLE, "tnt_disable", "TNT can be disabled" },
	{ 1, RTIT_CAP_TOPA, "topa", "ToPA output" },
	{ 1, RTIT_CAP_TOPA_MULTI, "topa_multi",
	  "ToPA tables of many entries" },
	{ 1, RTIT_CAP_SINGLE_RANGE, "single_range", "single-range output" },
	{ 1, RTIT_CAP_FABRIC, "fabric", "output to the trace fabric" },
	{ 1, RTIT_CAP_LIP, "lip", "IPs in the trace are linear addresses" },
};

static bool cap_is(const struct kipt_caps *c, const struct cap *cap)
{
	return (cap->ecx ? c->leaf0_ecx : c->leaf0_ebx) & cap->mask;
}

/* The values of a field that a bit mask allows. */
static void values_show(const char *name, u32 mask, FILE *out)
{
	const char *before = " ";
	u32 i;

	fprintf(out, "  %-16s", name);
	for (i = 0; i < 16; i++) {
		if (mask & 1U << i) {
			fprintf(out, "%s%u", before, i);
			before = ",";
		}
	}
	fputs(mask ? "\n" : " none\n", out);
}

static void caps_show(const struct kipt_caps *c, FILE *out)
{
	size_t i;

	fputs("Capabilities:\n", out);
	for (i = 0; i < ARRAY_SIZE(caps); i++)
		fprintf(out, "  %-3s %s\n", cap_is(c, &caps[i]) ? "yes" : "no",
			caps[i].words);
	fprintf(out, "  %-3s tracing in VMX operation\n",
		c->vmx_pt ? "yes" : "no");
	fputs("Allowed values:\n", out);
	fprintf(out, "  %-16s %u\n", "address ranges",
		c->leaf1_eax & RTIT_CAP1_RANGES);
	values_show("MTCFreq", c->leaf1_eax >> RTIT_CAP1_MTC_SHIFT, out);
	values_show("CycThresh", c->leaf1_ebx & RTIT_CAP1_CYC_MASK, out);
	values_show("PSBFreq", c->leaf1_ebx >> RTIT_CAP1_PSB_SHIFT, out);
}

static void clock_show(const struct kipt_caps *c, FILE *out)
{
	fputs("Clocks:\n", out);
	if (c->tsc_khz)
		fprintf(out, "  TSC %u.%03u MHz", c->tsc_khz / 1000,
			c->tsc_khz % 1000);
	else
		fputs("  TSC of unknown frequency", out);
	if (c->tsc_den && c->tsc_num)
		fprintf(out, ", %u/%u of the crystal clock", c->tsc_num,
			c->tsc_den);
	if (c->crystal_hz)
		fprintf(out, " (%u Hz)", c->crystal_hz);
	fputc('\n', out);
	if (c->max_nonturbo_ratio)
		fprintf(out, "  nominal core:bus ratio %u\n",
			c->max_nonturbo_ratio);
}

void info_show(const struct kipt_info *info, bool loaded, FILE *out)
{
	char text[256];

	if (loaded) {
		fprintf(out, "kipt module %s, interface %u, records %u\n",
			info->version, info->abi, info->record_version);
		fprintf(out, "CPUs with PT: %s\n",
			info->online[0] ? info->online : "none");
		fprintf(out, "CPUs traced:  %s\n",
			info->busy[0] ? info->busy : "none");
		fprintf(out, "Buffers: %llu KiB to %llu MiB per CPU\n",
			(unsigned long long)info->size_min >> 10,
			(unsigned long long)info->size_max >> 20);
		fprintf(out, "Address spaces kept by a session: %u\n",
			info->max_mms);
		ctl_format(info->caps.ctl_allowed &
			   ~(RTIT_CTL_MTCFREQ | RTIT_CTL_CYCTHRESH |
			     RTIT_CTL_PSBFREQ), text, sizeof(text));
		fprintf(out, "Fields of IA32_RTIT_CTL: %s\n", text);
	}
	caps_show(&info->caps, out);
	clock_show(&info->caps, out);
}

static void caps_json(struct json_object *line, const struct kipt_caps *c)
{
	struct json_object *names = json_object_new_object();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(caps); i++)
		jsonl_flag(names, caps[i].name, cap_is(c, &caps[i]));
	jsonl_flag(names, "vmx", c->vmx_pt);
	json_object_object_add(line, "caps", names);
	jsonl_number(line, "address_ranges",
		     c->leaf1_eax & RTIT_CAP1_RANGES);
	jsonl_hex(line, "mtc_freq", c->leaf1_eax >> RTIT_CAP1_MTC_SHIFT);
	jsonl_hex(line, "cyc_thresh", c->leaf1_ebx & RTIT_CAP1_CYC_MASK);
	jsonl_hex(line, "psb_freq", c->leaf1_ebx >> RTIT_CAP1_PSB_SHIFT);
	jsonl_number(line, "tsc_khz", c->tsc_khz);
	jsonl_number(line, "tsc_num", c->tsc_num);
	jsonl_number(line, "tsc_den", c->tsc_den);
	jsonl_number(line, "crystal_hz", c->crystal_hz);
	jsonl_number(line, "max_nonturbo_ratio", c->max_nonturbo_ratio);
	jsonl_number(line, "cpu_family", c->family);
	jsonl_number(line, "cpu_model", c->model);
}

void info_show_json(const struct kipt_info *info, bool loaded, FILE *out)
{
	struct json_object *line = json_object_new_object();

	jsonl_text(line, "type", "info");
	jsonl_flag(line, "loaded", loaded);
	if (loaded) {
		jsonl_text(line, "version", info->version);
		jsonl_number(line, "abi", info->abi);
		jsonl_number(line, "record_version", info->record_version);
		jsonl_text(line, "online", info->online);
		jsonl_text(line, "busy", info->busy);
		jsonl_number(line, "size_min", info->size_min);
		jsonl_number(line, "size_max", info->size_max);
		jsonl_number(line, "max_mms", info->max_mms);
		jsonl_hex(line, "ctl_allowed", info->caps.ctl_allowed);
	}
	caps_json(line, &info->caps);
	jsonl_print(line, out);
}
