// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options of the test CPU, and the files of its ground truth. User space;
 * writes below a folder of its own in /tmp.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../tools/testcpu/options.h"
#include "../../tools/testcpu/truth_log.h"
#include "ktap.h"

static struct testcpu_options options;
static char why[1024];

static bool parse(const char *arg)
{
	testcpu_options_init(&options);
	why[0] = 0;
	return testcpu_options_parse(&options, arg, why, sizeof(why));
}

static void test_options(void)
{
	ktap_case(parse("caps=skylake") && options.caps.ebx == 0xf,
		  "option_caps");
	ktap_case(!parse("caps=z80") && strstr(why, "skylake"),
		  "option_caps_refused_with_list");
	ktap_case(!parse("speed=9") && strstr(why, "speed") &&
		  strstr(why, "overflow-every") && strstr(why, "truth"),
		  "option_unknown_refused_with_list");
	ktap_case(parse("long-tnt=on") && options.pt.long_tnt,
		  "option_switch_on");
	ktap_case(parse("long_tnt=on") && options.pt.long_tnt,
		  "option_underscore");
	ktap_case(parse("deferred-tip=off") && !options.pt.deferred_tip,
		  "option_switch_off");
	ktap_case(!parse("deferred-tip=maybe") && strstr(why, "on or off"),
		  "option_switch_refused");
	ktap_case(parse("psb=4096") && options.pt.psb_period == 4096,
		  "option_number");
	ktap_case(!parse("psb=63") && strstr(why, "64 to"),
		  "option_number_too_small_refused");
	ktap_case(!parse("overflow-every=0"), "option_zero_refused");
	ktap_case(!parse("overflow-every=9x"), "option_garbage_refused");
	ktap_case(!parse("psb"), "option_without_value_refused");
	ktap_case(parse("truth=hash") && options.truth_mode == TRUTH_HASH,
		  "option_truth_mode");
	ktap_case(parse("truth=/somewhere") &&
		  options.truth_mode == TRUTH_FULL &&
		  strcmp(options.truth_dir, "/somewhere") == 0,
		  "option_truth_folder");
	ktap_case(!parse("truth=somewhere") && strstr(why, "absolute"),
		  "option_truth_relative_refused");
	ktap_case(parse("truth-clock=on") && options.truth_clock &&
		  !options.insn_count, "option_truth_clock");
	ktap_case(parse("insn-count=on") && options.insn_count &&
		  !options.truth_clock, "option_insn_count");
	ktap_case(parse("help") && options.help &&
		  strstr(testcpu_options_help(), "topa-stop-offset") &&
		  strstr(testcpu_options_help(), "skylake-zero"),
		  "option_help");
}

/* One argument after the other, as on QEMU's command line. */
static bool parse_all(const char *const *args)
{
	testcpu_options_init(&options);
	for (; *args; args++) {
		why[0] = 0;
		if (!testcpu_options_parse(&options, *args, why, sizeof(why)))
			return false;
	}
	testcpu_options_settle(&options);
	return true;
}

#define PARSE(...) parse_all((const char *const []){ __VA_ARGS__, NULL })

static uint32_t model_of(unsigned int vcpu)
{
	return testcpu_options_caps(&options, vcpu)->signature;
}

static void test_kinds(void)
{
	ktap_case(PARSE("caps=alderlake", "caps.1=goldmont") &&
		  model_of(0) == 0x906a3 && model_of(1) == 0x506c9 &&
		  model_of(2) == 0x906a3 && testcpu_options_hybrid(&options),
		  "option_caps_of_one_vcpu");
	ktap_case(PARSE("caps.2-3=alderlake-n", "caps=alderlake") &&
		  model_of(1) == 0x906a3 && model_of(2) == 0xb06e0 &&
		  model_of(3) == 0xb06e0 && model_of(4) == 0x906a3,
		  "option_caps_of_a_range");
	ktap_case(testcpu_options_caps(&options, 3)->tsc_hz ==
		  testcpu_options_caps(&options, 0)->tsc_hz,
		  "option_one_clock_for_all_kinds");
	ktap_case(PARSE("caps.1=icelake", "caps=skylake") &&
		  !testcpu_options_hybrid(&options),
		  "option_cores_of_one_type_are_no_hybrid");
	ktap_case(!PARSE("caps.1=z80") && strstr(why, "goldmont-plus"),
		  "option_kind_refused_with_list");
	ktap_case(!PARSE("caps.3-2=skylake") && strstr(why, "caps.2-3"),
		  "option_kind_backwards_refused");
	ktap_case(!PARSE("caps.x=skylake"), "option_kind_without_vcpu_refused");
}

static void test_clock(void)
{
	ktap_case(PARSE("caps=alderlake") && options.pt.crystal_den == 2 &&
		  options.pt.crystal_num == 0x82 && options.pt.cbr == 25,
		  "option_clock_of_the_model");
	ktap_case(PARSE("caps=broadwell") && options.pt.crystal_num &&
		  options.pt.crystal_den && options.pt.cbr == 20,
		  "option_clock_where_cpuid_has_none");
	ktap_case(PARSE("tsc-start=0x0123456789abcdef") &&
		  options.tsc_started &&
		  options.tsc_start == 0x0123456789abcdefULL,
		  "option_tsc_start");
	ktap_case(!PARSE("tsc-start=soon") && strstr(why, "2^56"),
		  "option_tsc_start_refused");
}

static size_t read_truth(const char *dir, void *buf, size_t size)
{
	char path[256];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/truth.3", dir);
	f = fopen(path, "rb");
	n = f ? fread(buf, 1, size, f) : 0;
	if (f)
		fclose(f);
	unlink(path);
	return n;
}

static uint64_t clock_of_test(void *ctx)
{
	return *(uint64_t *)ctx += 0x100000001ULL;
}

/* @tsc: with times, the last before the first; NULL: without */
static void write_truth(const char *dir, int mode, uint64_t *tsc)
{
	struct truth_log log;

	truth_log_open(&log, dir, 3, mode);
	if (tsc) {
		log.clock = clock_of_test;
		log.clock_ctx = tsc;
	}
	truth_log_start(&log, 100, 5);
	truth_log_add(&log, TRUTH_JUMP, 0, 1, 2);
	truth_log_add(&log, TRUTH_ENABLE, 0, 7, 7);
	truth_log_add(&log, TRUTH_RET, 0, 3, 4);
	truth_log_stop(&log, 200, 0);
	truth_log_close(&log);
}

static uint64_t expected_hash(void)
{
	uint64_t h = TRUTH_HASH_START;

	for (uint64_t v = 1; v <= 4; v++)
		h = (h ^ v) * TRUTH_HASH_PRIME;
	return h;
}

static void test_truth(void)
{
	char dir[] = "/tmp/testcpu-truth-XXXXXX";
	struct {
		struct truth_header header;
		struct truth_entry entry[8];
	} file;
	uint64_t tsc = 0xfffe00000000ULL;
	struct truth_log log;

	if (!mkdtemp(dir)) {
		ktap_case(false, "truth_folder");
		return;
	}
	write_truth(dir, TRUTH_FULL, NULL);
	ktap_case(read_truth(dir, &file, sizeof(file)) ==
		  sizeof(file.header) + 6 * sizeof(file.entry[0]) &&
		  file.header.magic == TRUTH_MAGIC && file.header.vcpu == 3 &&
		  file.header.entry_size == 24, "truth_full_size_and_header");
	ktap_case(file.entry[0].kind == TRUTH_MARK_ON &&
		  file.entry[1].kind == TRUTH_JUMP && file.entry[1].to == 2 &&
		  file.entry[4].kind == TRUTH_SUM &&
		  file.entry[4].from == expected_hash() &&
		  file.entry[4].to == 2 &&
		  file.entry[5].kind == TRUTH_MARK_OFF, "truth_full_entries");
	ktap_case(file.entry[1].aux == 0 && file.entry[1].clock_high == 0,
		  "truth_without_times");
	write_truth(dir, TRUTH_FULL, &tsc);
	read_truth(dir, &file, sizeof(file));
	ktap_case(file.entry[1].aux == 1 && file.entry[1].clock_high == 0xffff &&
		  file.entry[2].kind == TRUTH_ENABLE && file.entry[2].aux == 0 &&
		  file.entry[2].clock_high == 0 && file.entry[3].aux == 2 &&
		  file.entry[3].clock_high == 0 &&
		  file.entry[4].from == expected_hash(), "truth_with_times");
	write_truth(dir, TRUTH_HASH, NULL);
	ktap_case(read_truth(dir, &file, sizeof(file)) ==
		  sizeof(file.header) + sizeof(file.entry[0]) &&
		  file.entry[0].kind == TRUTH_SUM &&
		  file.entry[0].from == expected_hash(), "truth_hash_only");
	rmdir(dir);
	ktap_case(!truth_log_open(&log, dir, 3, TRUTH_FULL) &&
		  log.mode == TRUTH_LOG_OFF, "truth_no_folder_is_off");
	write_truth(dir, TRUTH_LOG_OFF, NULL);
	ktap_case(read_truth(dir, &file, sizeof(file)) == 0,
		  "truth_off_writes_nothing");
}

int main(void)
{
	test_options();
	test_kinds();
	test_clock();
	test_truth();
	return ktap_finish();
}
