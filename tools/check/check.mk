# SPDX-License-Identifier: GPL-2.0-only
# What CI runs, and the packages it needs. tools/check/stages lists what each of
# these targets runs.

CHECK := tools/check

# NEED=all: what check-all needs, too.
need:
	NEED='$(NEED)' $(CHECK)/need

lint: need
	$(CHECK)/lint

quick:
	$(CHECK)/check quick

# T=FOLDER/PROGRAM runs one program, and FILTER of it what has that in its name.
test:
	$(if $(T),$(CHECK)/one '$(T)' '$(FILTER)',$(CHECK)/check test)

check: need
	$(CHECK)/check check

# PART=3/8 runs a part; REPORT=1 prints only what is known of all parts.
check-all: NEED := all
check-all: need
	$(CHECK)/check all $(if $(REPORT),report,$(PART))

check-test:
	$(CHECK)/check_test

# All programs that tests in user space run.
test-programs: decode-programs kipt kipt-test-programs $(ORACLE_PROGRAMS) \
	$(RANDOM_OUT)/random_diff $(RANDOM_OUT)/random_perf \
	$(TESTCPU_TESTS:%=$(TESTCPU_OUT)/test/%_test) $(FLOW_BUILD)/compare_test \
	$(SIDEBAND_TESTS:%=$(SIDEBAND_BUILD)/%_test) $(CRASH_BUILD)/excerpt_test \
	$(CRASH_BUILD)/excerpt_decode_test $(MESSAGES_BUILD)/session_list_test \
	$(NMI_BUILD)/pmi_test $(STRESS_OUT)/segments

# All that the test machine runs, but for the module.
machine-programs: testcpu kipt kipt-guest flow-programs stress-programs crash-crashers \
		testcpu-guest testcpu-check bench-program
	$(MAKE) --no-print-directory -C selftests

.PHONY: need lint quick test check check-all check-test test-programs machine-programs
