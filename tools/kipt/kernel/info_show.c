// SPDX-License-Identifier: GPL-2.0-only
/*
 * Capabilities in words, see info_show.h ("Enumeration of Intel PT").
 */
#include <json-c/json.h>

#include "../../../kmod/hw/rtit_regs.h"
#include "../cli/json_lines.h"
#include "../cli/kipt.h"
#include "capabilities.h"
#include "ctl_fields.h"
#include "info_show.h"

static const struct rtit_feature features[] = RTIT_FEATURES;

static bool has_feature(const struct kipt_caps *c,
			const struct rtit_feature *feature)
{
	return (feature->ecx ? c->leaf0_ecx : c->leaf0_ebx) & feature->mask;
}

static void feature_show(const struct kipt_caps *c,
			 const struct rtit_feature *feature, FILE *out)
{
	if (has_feature(c, feature))
		fprintf(out, "  yes %s\n", feature->words);
	else
		fprintf(out, "  no  %s, %s\n", feature->words,
			feature->since);
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

static void all_values_show(const struct kipt_caps *c, FILE *out)
{
	bool mtc = c->leaf0_ebx & RTIT_CAP_MTC;
	bool psb_cyc = c->leaf0_ebx & RTIT_CAP_PSB_CYC;

	fputs("Allowed values:\n", out);
	fprintf(out, "  %-16s %u\n", "address ranges", c->values.ranges);
	values_show("MTCFreq", mtc ? c->values.mtc : 0, out);
	values_show("CycThresh", psb_cyc ? c->values.cyc : 0, out);
	values_show("PSBFreq", psb_cyc ? c->values.psb : 0, out);
	if (c->leaf0_eax && !c->values.listed)
		fputs("  CPUID.14H.1 says nothing that makes sense here: only 0 is certain\n",
		      out);
}

static const char *core_words(u32 type)
{
	switch (type) {
	case 0x20:
		return ", a core of the Atom kind";
	case 0x40:
		return ", a core of the Core kind";
	}
	return "";
}

static void model_show(const struct kipt_caps *c, FILE *out)
{
	if (c->cpus[0])
		fprintf(out, "CPUs %s: ", c->cpus);
	else
		fputs("CPU: ", out);
	fprintf(out, "family %u model %u stepping %u%s\n", c->family,
		c->model, c->stepping, core_words(c->core_type));
}

/* What it means for those to whom the bits say nothing. */
static void consequences_show(const struct kipt_caps *c, FILE *out)
{
	if (!(c->leaf0_ecx & RTIT_CAP_TOPA))
		fputs("  so  nothing can be traced: kipt needs ToPA output\n",
		      out);
	else if (!(c->leaf0_ecx & RTIT_CAP_TOPA_MULTI))
		fprintf(out, "  so  buffers of %llu MiB at most, and mode ring only\n",
			CAPS_BLOCK_MAX >> 20);
	if (rtit_needs_branchen(c->leaf0_ebx, c->family, c->model))
		fputs("  so  BranchEn in each session\n", out);
	if (!(c->leaf0_ecx & RTIT_CAP_LIP))
		fputs("  so  a gap for code in a segment whose base is not zero\n",
		      out);
	if (!c->vmx_pt)
		fputs("  so  tracing ends when a hypervisor starts on the CPU\n",
		      out);
}

static void caps_show(const struct kipt_caps *c, FILE *out)
{
	char text[256];
	size_t i;

	if (c->family)
		model_show(c, out);
	fputs("Capabilities:\n", out);
	for (i = 0; i < ARRAY_SIZE(features); i++)
		feature_show(c, &features[i], out);
	if (c->vmx_pt)
		fputs("  yes tracing in VMX operation\n", out);
	else
		fputs("  no  tracing in VMX operation, like the first CPUs with PT\n",
		      out);
	consequences_show(c, out);
	all_values_show(c, out);
	ctl_format(ctl_default(c), text, sizeof(text));
	fprintf(out, "Set unless --ctl says otherwise: %s\n", text);
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

#define WITHOUT_DECODE	"decoder (record and fetch are refused; start, fetch --raw and decode work)"
#define WITHOUT_CRASH	"crash capture (arm is refused)"

static const char *absent_text(u32 absent)
{
	if (!(absent & KIPT_PART_CRASH))
		return WITHOUT_DECODE;
	return absent & KIPT_PART_DECODE ? WITHOUT_DECODE ", " WITHOUT_CRASH :
					   WITHOUT_CRASH;
}

/* What only those see who may trace. */
static void use_show(const struct kipt_info *info, FILE *out)
{
	if (!info->has_use) {
		fputs("CPUs traced, memory in use: for those who may trace\n",
		      out);
		return;
	}
	fprintf(out, "CPUs traced:  %s\n", info->busy[0] ? info->busy : "none");
	fprintf(out, "Memory in use: %llu KiB of %llu MiB\n",
		(unsigned long long)info->memory >> 10,
		(unsigned long long)info->limits.memory >> 20);
	if (info->latch)
		fprintf(out, "Nothing can be started now: %s\n",
			session_cause_name(info->latch));
}

static void limits_show(const struct kipt_limits *limits, FILE *out)
{
	fputs("Limits:\n", out);
	fprintf(out, "  %llu KiB to %llu MiB for the buffer of a CPU\n",
		(unsigned long long)limits->size_min >> 10,
		(unsigned long long)limits->size_max >> 20);
	fprintf(out, "  %llu MiB for all sessions, fetches and files (memory_limit)\n",
		(unsigned long long)limits->memory >> 20);
	fprintf(out, "  %u address spaces in a session (spaces)\n",
		limits->spaces);
	fprintf(out, "  %u task switches in the log of a CPU (switches)\n",
		limits->switches);
	fprintf(out, "  %u patches of kernel text in the log (patches)\n",
		limits->patches);
	fprintf(out, "  %llu KiB of working memory of a reader of a fetch (fetch_memory)\n",
		(unsigned long long)limits->arena >> 10);
	fprintf(out, "  %u processes that a session follows at a time (processes)\n",
		limits->processes);
}

void info_show(const struct kipt_info *info, bool loaded, FILE *out)
{
	char text[256];
	u32 i;

	if (loaded) {
		fprintf(out, "kipt module %s, interface %u, records %u\n",
			info->version, info->abi, info->record_version);
		fprintf(out, "CPUs with PT: %s\n",
			info->online[0] ? info->online : "none");
		if (info->absent)
			fprintf(out, "Built without: %s\n", absent_text(info->absent));
		use_show(info, out);
		limits_show(&info->limits, out);
		ctl_format(info->caps.ctl_allowed &
			   ~(RTIT_CTL_MTCFREQ | RTIT_CTL_CYCTHRESH |
			     RTIT_CTL_PSBFREQ), text, sizeof(text));
		fprintf(out, "Fields of IA32_RTIT_CTL: %s\n", text);
	}
	for (i = 0; i < info->kind_count; i++)
		caps_show(&info->kind[i], out);
	if (info->kind_count)
		clock_show(&info->caps, out);
}

static void names_json(struct json_object *line, const struct kipt_caps *c)
{
	struct json_object *names = json_object_new_object();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(features); i++)
		jsonl_flag(names, features[i].name,
			   has_feature(c, &features[i]));
	jsonl_flag(names, "vmx", c->vmx_pt);
	json_object_object_add(line, "caps", names);
}

static void caps_json(struct json_object *line, const struct kipt_caps *c)
{
	char text[256];

	names_json(line, c);
	jsonl_number(line, "address_ranges", c->values.ranges);
	jsonl_flag(line, "values_listed", c->values.listed);
	jsonl_hex(line, "mtc_freq", c->values.mtc);
	jsonl_hex(line, "cyc_thresh", c->values.cyc);
	jsonl_hex(line, "psb_freq", c->values.psb);
	ctl_format(ctl_default(c), text, sizeof(text));
	jsonl_text(line, "ctl_default", text);
	jsonl_number(line, "tsc_khz", c->tsc_khz);
	jsonl_number(line, "tsc_num", c->tsc_num);
	jsonl_number(line, "tsc_den", c->tsc_den);
	jsonl_number(line, "crystal_hz", c->crystal_hz);
	jsonl_number(line, "max_nonturbo_ratio", c->max_nonturbo_ratio);
	jsonl_number(line, "cpu_family", c->family);
	jsonl_number(line, "cpu_model", c->model);
	jsonl_number(line, "cpu_stepping", c->stepping);
	jsonl_number(line, "core_type", c->core_type);
}

/* What all CPUs share is in the line itself. */
static void kinds_json(struct json_object *line, const struct kipt_info *info)
{
	struct json_object *kinds = json_object_new_array();
	struct json_object *kind;
	u32 i;

	for (i = 0; i < info->kind_count; i++) {
		kind = json_object_new_object();
		jsonl_text(kind, "cpus", info->kind[i].cpus);
		caps_json(kind, &info->kind[i]);
		jsonl_hex(kind, "ctl_allowed", info->kind[i].ctl_allowed);
		json_object_array_add(kinds, kind);
	}
	json_object_object_add(line, "kinds", kinds);
}

static void limits_json(struct json_object *line,
			const struct kipt_limits *limits)
{
	struct json_object *object = json_object_new_object();

	jsonl_number(object, "size_min", limits->size_min);
	jsonl_number(object, "size_max", limits->size_max);
	jsonl_number(object, "memory", limits->memory);
	jsonl_number(object, "spaces", limits->spaces);
	jsonl_number(object, "switches", limits->switches);
	jsonl_number(object, "patches", limits->patches);
	jsonl_number(object, "fetch_memory", limits->arena);
	jsonl_number(object, "processes", limits->processes);
	json_object_object_add(line, "limits", object);
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
		if (info->absent)
			jsonl_text(line, "built_without", absent_text(info->absent));
		limits_json(line, &info->limits);
		if (info->has_use) {
			jsonl_text(line, "busy", info->busy);
			jsonl_number(line, "memory", info->memory);
			if (info->latch)
				jsonl_text(line, "latch",
					   session_cause_name(info->latch));
		}
		jsonl_hex(line, "ctl_allowed", info->caps.ctl_allowed);
	}
	caps_json(line, &info->caps);
	kinds_json(line, info);
	jsonl_print(line, out);
}
