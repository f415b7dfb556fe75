# SPDX-License-Identifier: GPL-2.0-only
# The proof: tests of the comparator (user space), kselftests on this machine,
# and everything in the test machine.

FLOW := selftests/flow
FLOW_BUILD := $(BUILD)/flow
FLOW_OBJECTS := $(FLOW_BUILD)/objects
FLOW_SHARED := $(call objects,$(FLOW_OBJECTS),$(addprefix $(FLOW)/,match.c control.c flow_item.c))
FLOW_PROGRAMS := $(addprefix $(FLOW_BUILD)/,compare perf_records libipt_insns \
	flip_tnt list_records)

# Programs the guest runs are made in its own root, 32-bit code among them.
WORK_PROGRAMS := $(addprefix $(FLOW_BUILD)/work/,branches branches32 system \
	mix ptwrite ranges based crash)
WORK_CFLAGS := -std=gnu11 -O2 -g -Wall -Wextra -Werror -D_GNU_SOURCE -pthread

$(eval $(call compile,$(FLOW_OBJECTS),$$(CC) -std=gnu11 -O2 -Wall -Wextra -Werror -Iuapi))

$(FLOW_BUILD)/compare $(FLOW_BUILD)/compare_test: $(FLOW_SHARED)
$(FLOW_BUILD)/libipt_insns $(FLOW_BUILD)/flip_tnt: LDLIBS := -lipt
$(FLOW_PROGRAMS) $(FLOW_BUILD)/compare_test: $(FLOW_BUILD)/%: $(FLOW_OBJECTS)/$(FLOW)/%.o
	$(CC) -o $@ $^ $(LDLIBS)

$(FLOW_BUILD)/work/branches32: $(FLOW)/work/branches.c $(IN_FOLDER)
	tools/vm/in-root trixie -- gcc -m32 $(WORK_CFLAGS) -o $@ $<

$(FLOW_BUILD)/work/%: $(FLOW)/work/%.c $(IN_FOLDER)
	tools/vm/in-root trixie -- gcc $(WORK_CFLAGS) -o $@ $<

.PHONY: flow-programs flow-compare-test selftest vmtest suspend-test
flow-programs: $(FLOW_PROGRAMS) $(WORK_PROGRAMS) $(BUILD)/stress/segments

flow-compare-test: $(FLOW_BUILD)/compare_test
	$(FLOW_BUILD)/compare_test

# This machine's own CPU; skips, with reasons, where there is no PT.
selftest:
	selftests/count_results $(MAKE) --no-print-directory -C selftests run_tests

# Everything that needs the machine: make vmtest KERNELS="6.12". The kernel kcsan
# is there after make vm-debug. T=uapi/PROGRAM, with FILTER=, or T=flow/PROOF runs
# one of it.
vmtest:
	$(if $(T),PROOFS=$(if $(filter uapi/%,$(T)),kselftest,$(notdir $(T)))) \
		$(if $(filter uapi/%,$(T)),PROGRAMS=$(T:uapi/%=%)) \
		FILTER='$(FILTER)' selftests/machine

# Machines that sleep, and one that wakes up as another.
suspend-test: testcpu
	for kernel in $(KERNELS); do tools/vm/build-module $$kernel || exit; done
	$(MAKE) --no-print-directory crash-crashers
	$(MAKE) --no-print-directory -C selftests
	selftests/suspend $(KERNELS)
