/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The end of each test program. The harness exits 0 when every test was
 * skipped; kselftest's runner expects exit code 4 then.
 */
static void exit_skipped(void)
{
	if (ksft_get_fail_cnt() || ksft_get_pass_cnt() || !ksft_get_xskip_cnt())
		return;
	fflush(NULL);
	_exit(KSFT_SKIP);
}

static void __attribute__((constructor)) on_exit_skip(void)
{
	atexit(exit_skipped);
}

static void give_time(void)
{
	struct __fixture_metadata *fixture;
	struct __test_metadata *test;

	for (fixture = __fixture_list; fixture; fixture = fixture->next)
		for (test = fixture->tests; test; test = test->next)
			test->timeout *= slowness();
}

int main(int argc, char **argv)
{
	give_time();
	return test_harness_run(argc, argv);
}
