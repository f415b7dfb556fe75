// SPDX-License-Identifier: GPL-2.0-only
/*
 * kipt doctor: whether one can trace, open recordings and arm this machine; for each
 * thing that is in the way, what is wrong and the command that mends it. Changes nothing.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../cli/args.h"
#include "../cli/json_lines.h"
#include "../cli/messages.h"
#include "../kernel/cpuid.h"
#include "../kernel/genl.h"

/* CAP_SYS_ADMIN, and with CAP_PERFMON, as bits of a set. */
#define CAP_ADMIN	(1ULL << 21)
#define CAPS_TRACE	(1ULL << 38 | CAP_ADMIN)
/* Rings of 4 MiB and snapshots of a few CPUs, and a decoder beside them. */
#define MEMORY_LEAST_KB	(256ULL << 10)
#define TEXT_BYTES	512

enum { OPTION_JSON = 1, OPTION_FOR, OPTION_ROOT };

/* What one wants to do. */
enum { TRACE = 1, OPEN = 2, ARM = 4, ALL = 7 };

static const struct kipt_option options[] = {
	{ "json", 'j', OPTION_JSON, NULL, "a line of JSON for each check" },
	{ "for", 'f', OPTION_FOR, "trace|open|arm",
	  "only what that needs; exit status 0 if nothing is in its way" },
	{ "root", 0, OPTION_ROOT, "DIR",
	  "take the files of /proc, /sys, /lib and /usr below DIR, of an image say" },
	{ 0 }
};

/**
 * struct check - what was found
 * @name: of the check
 * @stops: what cannot be done as it is: TRACE, OPEN, ARM; 0: nothing
 * @text: what was found
 * @mend: the command or step that changes it; "": there is nothing to do
 */
struct check {
	const char *name;
	u32 stops;
	char text[TEXT_BYTES];
	char mend[TEXT_BYTES];
};

/**
 * struct doctor - the machine
 * @root: where its files are
 * @wanted: what the user wants to do
 * @stops: what cannot be done so far
 * @json: print JSON
 */
struct doctor {
	const char *root;
	u32 wanted;
	u32 stops;
	bool json;
};

static void __printf(2, 3) find(struct check *check, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(check->text, sizeof(check->text), format, list);
	va_end(list);
}

static void __printf(2, 3) mend(struct check *check, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(check->mend, sizeof(check->mend), format, list);
	va_end(list);
}

static FILE *open_file(const struct doctor *doctor, const char *path)
{
	char name[4096];

	snprintf(name, sizeof(name), "%s%s", doctor->root, path);
	return fopen(name, "re");
}

static bool there(const struct doctor *doctor, const char *path)
{
	char name[4096];

	snprintf(name, sizeof(name), "%s%s", doctor->root, path);
	return !access(name, F_OK);
}

/* The first line of a file, or what follows @key in the line that begins with it. */
static bool read_line(const struct doctor *doctor, const char *path,
		      const char *key, char *text, size_t size)
{
	FILE *file = open_file(doctor, path);
	size_t length = strlen(key);
	char line[4096];
	bool found = false;

	text[0] = 0;
	while (file && !found && fgets(line, sizeof(line), file)) {
		found = !strncmp(line, key, length);
		line[strcspn(line, "\n")] = 0;
		if (found)
			snprintf(text, size, "%s", line + length +
				 strspn(line + length, " \t:"));
	}
	if (file)
		fclose(file);
	return found;
}

static bool read_number(const struct doctor *doctor, const char *path,
			const char *key, int base, u64 *number)
{
	char text[64], *end;

	if (!read_line(doctor, path, key, text, sizeof(text)))
		return false;
	*number = strtoull(text, &end, base);
	return end != text;
}

/* The release whose modules are looked for. */
static void kernel_release(const struct doctor *doctor, char *text, size_t size)
{
	struct utsname names;

	if (read_line(doctor, "/proc/sys/kernel/osrelease", "", text, size))
		return;
	uname(&names);
	snprintf(text, size, "%s", names.release);
}

static void check_pt(struct doctor *doctor, struct check *check)
{
	char flags[4096];
	bool guest = read_line(doctor, "/proc/cpuinfo", "flags", flags,
			       sizeof(flags)) && strstr(flags, " hypervisor");

	if (hardware_has_pt()) {
		find(check, "this CPU has Intel PT");
		return;
	}
	check->stops = TRACE | ARM;
	if (guest) {
		find(check, "the hypervisor shows no Intel PT");
		mend(check, "trace on the host, whose trace has what its guests execute: KVM gives guests no PT any more");
	} else {
		find(check, "this CPU has no Intel PT, or the firmware hides it");
		mend(check, "Intel CPUs from Broadwell on have it; look for \"Processor Trace\" in the firmware's set-up");
	}
}

static bool module_is_installed(const struct doctor *doctor, const char *release)
{
	char path[512], line[4096];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", release);
	file = open_file(doctor, path);
	while (file && !found && fgets(line, sizeof(line), file))
		found = strstr(line, "/kipt.ko") &&
			strchr(line, ':') > strstr(line, "/kipt.ko");
	if (file)
		fclose(file);
	return found;
}

static void check_module(struct doctor *doctor, struct check *check)
{
	struct genl *genl = genl_open(true);
	struct kipt_info info;
	char release[128], lockdown[128] = "";
	const char *sign = "";

	read_line(doctor, "/sys/kernel/security/lockdown", "", lockdown,
		  sizeof(lockdown));
	if (strstr(lockdown, "[confidentiality]")) {
		genl_close(genl);
		check->stops = TRACE | ARM;
		find(check, "the kernel is locked down for confidentiality, and lets nobody trace");
		mend(check, "boot without lockdown=confidentiality");
		return;
	}
	if (strstr(lockdown, "[integrity]"))
		sign = "sign kipt.ko with a key of the machine's owner (mokutil --import), as the kernel is locked down; ";
	if (genl && !genl_info(genl, &info)) {
		find(check, "loaded, version %s", info.version);
		if (!genl_version_fits(&info)) {
			check->stops = TRACE | ARM;
			mend(check, "install tool and module of one version");
		}
		genl_close(genl);
		return;
	}
	genl_close(genl);
	check->stops = TRACE | ARM;
	kernel_release(doctor, release, sizeof(release));
	if (module_is_installed(doctor, release)) {
		find(check, "installed for %s, not loaded", release);
		mend(check, "%ssudo modprobe kipt", sign);
	} else {
		find(check, "not installed for %s", release);
		mend(check, "sudo apt install linux-headers-%s, then the package kipt-dkms ('make deb' puts it into build/deb), or make && sudo make install in kipt's sources; %ssudo modprobe kipt",
		     release, sign);
	}
}

/* The first one has all user ids as they are. */
static bool is_in_namespace(const struct doctor *doctor)
{
	char map[128];
	unsigned int inside, outside, count;

	return read_line(doctor, "/proc/self/uid_map", "", map, sizeof(map)) &&
	       sscanf(map, "%u %u %u", &inside, &outside, &count) == 3 &&
	       (inside || outside || count != ~0U);
}

static void check_rights(struct doctor *doctor, struct check *check)
{
	u64 caps = 0;

	if (!read_number(doctor, "/proc/self/status", "CapEff:", 16, &caps)) {
		find(check, "not known: /proc is not there");
		return;
	}
	if (is_in_namespace(doctor)) {
		check->stops = TRACE | ARM;
		find(check, "this process is in a user namespace, whose rights are none over the machine");
		mend(check, "run kipt outside the container");
		return;
	}
	if (caps & CAPS_TRACE) {
		find(check, "this process may trace");
		if (!(caps & CAP_ADMIN))
			mend(check, "what an armed machine kept, 'kipt crash list', is for root (CAP_SYS_ADMIN)");
		return;
	}
	check->stops = TRACE | ARM;
	find(check, "this process has neither CAP_PERFMON nor CAP_SYS_ADMIN");
	mend(check, "run kipt as root, or sudo setcap cap_perfmon,cap_syslog=ep on a copy of it that only one group may execute");
}

static void check_perf(struct doctor *doctor, struct check *check)
{
	char text[32] = "";
	long paranoid;
	bool pmu = there(doctor, "/sys/bus/event_source/devices/intel_pt");
	bool tool = there(doctor, "/usr/bin/perf");

	read_line(doctor, "/proc/sys/kernel/perf_event_paranoid", "", text,
		  sizeof(text));
	paranoid = strtol(text, NULL, 10);
	if (!pmu)
		find(check, "the kernel has no intel_pt, so perf cannot record here; 'kipt open' needs none");
	else if (!tool)
		find(check, "the kernel has intel_pt, and there is no /usr/bin/perf");
	else
		find(check, "perf can record Intel PT, kernel.perf_event_paranoid is %ld",
		     paranoid);
	if (pmu && !tool)
		mend(check, "sudo apt install linux-perf");
	else if (pmu && paranoid > 2)
		mend(check, "to record as a user: sudo sysctl kernel.perf_event_paranoid=2");
}

/* Some symbols have address 0; where addresses are hidden all have. */
static bool has_addresses(const struct doctor *doctor)
{
	FILE *file = open_file(doctor, "/proc/kallsyms");
	unsigned long long address = 0;
	char line[4096];

	while (file && !address && fgets(line, sizeof(line), file))
		address = strtoull(line, NULL, 16);
	if (file)
		fclose(file);
	return address;
}

static void check_kernel_names(struct doctor *doctor, struct check *check)
{
	if (has_addresses(doctor)) {
		find(check, "the addresses of this kernel's functions are readable");
		return;
	}
	find(check, "this process may not read the addresses of the kernel's functions: its traces have no names of them");
	mend(check, "run kipt as root or with CAP_SYSLOG, or sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1");
}

static void check_debug(struct doctor *doctor, struct check *check)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	char release[128], path[512];

	kernel_release(doctor, release, sizeof(release));
	snprintf(path, sizeof(path), "/usr/lib/debug/boot/vmlinux-%s", release);
	if (there(doctor, path)) {
		find(check, "%s is there: source lines of the kernel", path);
	} else if (urls && *urls) {
		find(check, "debug files come from DEBUGINFOD_URLS");
	} else {
		find(check, "the kernel and programs without debug information have no source lines, and functions of stripped programs no names");
		mend(check, "set DEBUGINFOD_URLS to the servers of the distribution, or install -dbgsym packages");
	}
}

static void check_memory(struct doctor *doctor, struct check *check)
{
	u64 kb = 0;

	if (!read_number(doctor, "/proc/meminfo", "MemAvailable:", 10, &kb)) {
		find(check, "not known: /proc/meminfo does not say");
		return;
	}
	find(check, "%llu MiB are available", (unsigned long long)kb >> 10);
	if (kb < MEMORY_LEAST_KB)
		mend(check, "trace few CPUs with small rings: kipt start --cpus 0 --size 1M");
}

/* An armed machine prints without one, and then has no dump. */
static void check_dump(struct doctor *doctor, struct check *check)
{
	u64 loaded = 0;
	bool has_kexec = read_number(doctor, "/sys/kernel/kexec_crash_loaded",
				     "", 10, &loaded);

	if (!has_kexec)
		find(check, "this kernel has no kexec, so a crash leaves what the log shows");
	else if (loaded)
		find(check, "a crash kernel is loaded: a crash leaves a dump that 'kipt crash' reads");
	else
		find(check, "no crash kernel is loaded: a crash leaves what the log shows, and no dump");
	if (has_kexec && !loaded)
		mend(check, "sudo apt install kdump-tools, crashkernel=512M on the kernel's command line, reboot");
}

static const struct {
	const char *name;
	/* What it may stop or improve. */
	u32 concerns;
	void (*look)(struct doctor *doctor, struct check *check);
} checks[] = {
	{ "pt", TRACE | ARM, check_pt },
	{ "module", TRACE | ARM, check_module },
	{ "rights", TRACE | ARM, check_rights },
	{ "perf", TRACE | OPEN, check_perf },
	{ "kernel-names", ALL, check_kernel_names },
	{ "debug-files", ALL, check_debug },
	{ "memory", ALL, check_memory },
	{ "crash-dump", ARM, check_dump },
};

static const char *state_of(const struct check *check)
{
	if (check->stops)
		return "bad";
	return check->mend[0] ? "note" : "good";
}

static void check_print(const struct doctor *doctor, const struct check *check)
{
	struct json_object *line;

	if (!doctor->json) {
		printf("%-13s %-5s %s\n", check->name, state_of(check),
		       check->text);
		if (check->mend[0])
			printf("%-19s -> %s\n", "", check->mend);
		return;
	}
	line = json_object_new_object();
	jsonl_text(line, "type", "check");
	jsonl_text(line, "name", check->name);
	jsonl_text(line, "state", state_of(check));
	jsonl_text(line, "text", check->text);
	jsonl_text(line, "do", check->mend[0] ? check->mend : NULL);
	jsonl_print(line, stdout);
}

static void end_print(const struct doctor *doctor)
{
	static const char *const names[] = { "trace", "open", "arm" };
	struct json_object *line = doctor->json ? json_object_new_object() :
						  NULL;
	u32 i;

	if (line)
		jsonl_text(line, "type", "doctor");
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		bool can = !(doctor->stops & 1U << i);

		if (!(doctor->wanted & 1U << i))
			continue;
		if (line)
			jsonl_flag(line, names[i], can);
		else
			printf("%s%s: %s", doctor->wanted & ((1U << i) - 1) ?
					   ", " : "", names[i], can ? "yes" : "no");
	}
	if (line)
		jsonl_print(line, stdout);
	else
		putchar('\n');
}

static bool wanted_read(const struct args *args, u32 *wanted)
{
	if (!strcmp(args->value, "trace"))
		*wanted = TRACE;
	else if (!strcmp(args->value, "open"))
		*wanted = OPEN;
	else if (!strcmp(args->value, "arm"))
		*wanted = ARM;
	else
		return args_bad(args, "--for %s: that is none of trace, open, arm",
				args->value), false;
	return true;
}

static int run(int argc, char **argv)
{
	struct args args = { .verb = &verb_doctor, .argc = argc, .argv = argv };
	struct doctor doctor = { .root = "", .wanted = ALL };
	u32 i;
	int id;

	while ((id = args_option(&args)) > 0) {
		doctor.json |= id == OPTION_JSON;
		if (id == OPTION_ROOT)
			doctor.root = args.value;
		if (id == OPTION_FOR && !wanted_read(&args, &doctor.wanted))
			return KIPT_EXIT_USAGE;
	}
	if (id < 0)
		return args_exit(id);
	if (!args_operands(&args, 0, 0))
		return KIPT_EXIT_USAGE;
	/* Of a folder that may be searched there is this name. */
	if (!there(&doctor, "/.")) {
		say_errno(errno, "cannot look into --root %s", doctor.root);
		return KIPT_EXIT_FAILED;
	}
	for (i = 0; i < ARRAY_SIZE(checks); i++) {
		struct check check = { .name = checks[i].name };

		if (!(checks[i].concerns & doctor.wanted))
			continue;
		checks[i].look(&doctor, &check);
		doctor.stops |= check.stops;
		check.stops &= doctor.wanted;
		check_print(&doctor, &check);
	}
	end_print(&doctor);
	return doctor.stops & doctor.wanted ? KIPT_EXIT_FAILED : KIPT_EXIT_DONE;
}

const struct kipt_verb verb_doctor = {
	.name = "doctor",
	.operands = "",
	.summary = "say what is in the way, and the command that mends it",
	.about = "Looks at the CPU, the module, the rights of this process, perf, symbols, memory and\n"
		 "the crash kernel. Each line says good, note (it works, and could show more) or\n"
		 "bad, and then what to do. The last line says whether one can trace, open what was\n"
		 "recorded (always), and arm this machine. Changes nothing, needs no privilege.",
	.examples = "  kipt doctor\n"
		    "  kipt doctor --for trace || exit 77\n"
		    "  kipt doctor --json",
	.options = options,
	.run = run,
};
