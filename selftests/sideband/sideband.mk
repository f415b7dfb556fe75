# SPDX-License-Identifier: GPL-2.0-only
# Tests of what the module remembers beside the trace, in user space: the
# module's own files, with a few headers of the kernel's in tools/shim/.

SIDEBAND_TEST := selftests/sideband
SIDEBAND_BUILD := $(BUILD)/sideband
SIDEBAND_TESTS := switch_log image_table patch_log snapshot_logs \
	text_view limits task_merge killed_quota task_notes
SIDEBAND_SHIM := $(wildcard tools/shim/*/*.h)

$(SIDEBAND_BUILD)/%_test: $(SIDEBAND_TEST)/%_test.c kmod/shared/%.c kmod/shared/%.h \
		kmod/shared/tsc_extend.h $(SIDEBAND_SHIM) \
		$(addprefix selftests/decode/,ktap.h random_below.h)
	@mkdir -p $(@D)
	$(CC) $(WARNINGS) -O2 -g -pthread -Itools/shim -o $@ \
		$(filter %.c,$^)

$(SIDEBAND_BUILD)/limits_test: $(SIDEBAND_TEST)/limits_test.c kmod/lib/limits.c \
		kmod/lib/limits.h $(SIDEBAND_SHIM) \
		$(addprefix selftests/decode/,ktap.h random_below.h)
	@mkdir -p $(@D)
	$(CC) $(WARNINGS) -O2 -g -pthread -Itools/shim -o $@ \
		$(filter %.c,$^)

# What a file asks of another one.
$(SIDEBAND_BUILD)/text_view_test: kmod/shared/patch_log.c kmod/shared/patch_log.h \
	kmod/decode/flow.h
$(SIDEBAND_BUILD)/task_merge_test: kmod/shared/switch_log.c kmod/shared/switch_log.h

.PHONY: sideband-test
sideband-test: $(SIDEBAND_TESTS:%=$(SIDEBAND_BUILD)/%_test)
	set -e; for test in $(SIDEBAND_TESTS); do \
		$(SIDEBAND_BUILD)/$${test}_test; done
