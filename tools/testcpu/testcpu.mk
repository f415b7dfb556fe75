# SPDX-License-Identifier: GPL-2.0-only
# The Intel PT CPU: a plugin for QEMU, and the tests of its model.

TESTCPU_DIR := $(ROOT)/tools/testcpu
TESTCPU_OUT := $(BUILD)/testcpu
TESTCPU_CFLAGS := -std=gnu11 -O2 -g -Wall -Wextra -Werror

TESTCPU_MODEL := caps msr_model topa_model packet_encode trace_emit \
	trace_model truth_log insn_shape branch_class flow_track options \
	cpuid_model system_tables
# Tests of the model have them too.
TESTCPU_OBJECTS := $(TESTCPU_OUT)/objects
TESTCPU_MODEL_O := $(call objects,$(TESTCPU_OBJECTS),$(TESTCPU_MODEL:%=$(TESTCPU_DIR)/%.c))

.PHONY: testcpu testcpu-test

testcpu: $(TESTCPU_OUT)/testcpu.so

$(eval $(call compile,$(TESTCPU_OBJECTS),\
	$$(CC) $$(TESTCPU_CFLAGS) -fPIC -fvisibility=hidden))

# QEMU resolves the undefined symbols, GLib's among them.
$(TESTCPU_OUT)/testcpu.so: $(TESTCPU_MODEL_O) \
		$(call objects,$(TESTCPU_OBJECTS),$(TESTCPU_DIR)/qemu_glue.c)
	$(CC) -shared -o $@ $^ -pthread

# User-space tests of the model: no QEMU, no root.
TESTCPU_TESTS := encode msr topa scenario insn flow options presets cpuid tables
TESTCPU_TEST_DIR := $(ROOT)/selftests/testcpu
TESTCPU_TEST_O := $(call objects,$(TESTCPU_OBJECTS),$(patsubst %,$(TESTCPU_TEST_DIR)/%.c,\
	ktap packet_list model_machine $(TESTCPU_TESTS:%=%_test) libipt_check))

$(TESTCPU_OUT)/test/%_test: $(TESTCPU_OBJECTS)/selftests/testcpu/%_test.o \
		$(filter-out %_test.o %_check.o,$(TESTCPU_TEST_O)) $(TESTCPU_MODEL_O) $(IN_FOLDER)
	$(CC) -o $@ $^

.SECONDARY: $(TESTCPU_TEST_O)

testcpu-test: $(TESTCPU_TESTS:%=$(TESTCPU_OUT)/test/%_test)
	@set -e; cd $(ROOT); for t in $(abspath $^) selftests/testcpu/generations_test; do \
		echo "# $${t##*/}"; $$t; done

# The same rows by real code in the test machine, and its traces in libipt and
# perf; needs root and tools/vm.
TESTCPU_KERNELS ?= 6.12
TESTCPU_GUEST_OUT := $(TESTCPU_OUT)/guest
TESTCPU_GUEST_SHARED := selftests/testcpu/guest_pt.c \
	selftests/testcpu/packet_list.c selftests/testcpu/ktap.c

.PHONY: testcpu-guest testcpu-check testcpu-vmtest

testcpu-guest: $(TESTCPU_GUEST_OUT)/cases $(TESTCPU_GUEST_OUT)/workload
testcpu-check: $(TESTCPU_OUT)/test/libipt_check

# Static and not position independent: 32-bit code needs addresses below
# 4 GiB, and expected packets need known ones.
$(TESTCPU_GUEST_OUT)/%: $(TESTCPU_TEST_DIR)/%.c \
		$(addprefix $(ROOT)/,$(TESTCPU_GUEST_SHARED)) \
		$(wildcard $(TESTCPU_TEST_DIR)/*.h)
	@mkdir -p $(@D)
	cd $(ROOT) && tools/vm/in-root trixie -- gcc $(TESTCPU_CFLAGS) \
		-D_GNU_SOURCE -fcf-protection=none -static -no-pie -O1 \
		-o $(@:$(ROOT)/%=%) selftests/testcpu/$*.c \
		$(TESTCPU_GUEST_SHARED)

$(TESTCPU_OUT)/test/libipt_check: $(filter %_check.o,$(TESTCPU_TEST_O)) $(IN_FOLDER)
	$(CC) -o $@ $^ -lipt

# Each generation of CPUs, one boot each: hours with all of kselftest, half an
# hour without. PRESETS names some, PRESET_TESTS the programs of kselftest: all,
# some ("info,refuse") or none (-).
PRESETS ?=
PRESET_TESTS ?= all
PRESET_KERNEL ?= 6.12

.PHONY: testcpu-presets
testcpu-presets: testcpu kipt-guest flow-programs
	$(ROOT)/tools/vm/build-module $(PRESET_KERNEL)
	$(MAKE) --no-print-directory -C $(ROOT)/selftests
	$(TESTCPU_TEST_DIR)/presets -k $(PRESET_KERNEL) -t $(PRESET_TESTS) \
		$(PRESETS)

testcpu-vmtest: testcpu testcpu-guest testcpu-check
	$(TESTCPU_TEST_DIR)/machine $(TESTCPU_KERNELS)
