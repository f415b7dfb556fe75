# SPDX-License-Identifier: GPL-2.0-only
# Tests of what the module shows of a machine that dies, in user space: the
# module's own files, with the sanitizers.

CRASH_TEST := selftests/crash
CRASH_BUILD := $(BUILD)/crash
EXCERPT_OBJECTS := $(call objects,$(ASAN),$(addprefix kmod/,shared/excerpt_lines.c \
	shared/excerpt_text.c decode/packet/sync.c))

$(CRASH_BUILD)/excerpt_decode_test: $(call objects,$(ASAN),kmod/crash/excerpt_decode.c)
$(CRASH_BUILD)/%_test: $(ASAN)/$(CRASH_TEST)/%_test.o $(EXCERPT_OBJECTS) $(IN_FOLDER)
	$(ASAN_CC) -o $@ $^

.PHONY: crash-test
crash-test: $(CRASH_BUILD)/excerpt_test $(CRASH_BUILD)/excerpt_decode_test
	$(CRASH_BUILD)/excerpt_test
	$(CRASH_BUILD)/excerpt_decode_test
