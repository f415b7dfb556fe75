# SPDX-License-Identifier: GPL-2.0-only
# Tests of what the module shows of a machine that dies, in user space: the
# module's own files, with the sanitizers.

CRASH_TEST := selftests/crash
CRASH_BUILD := $(BUILD)/crash
EXCERPT_SOURCES := kmod/excerpt_lines.c kmod/excerpt_text.c

$(CRASH_BUILD)/excerpt_test: $(CRASH_TEST)/excerpt_test.c $(EXCERPT_SOURCES) \
		kmod/excerpt_lines.h kmod/excerpt_text.h \
		selftests/decode/ktap.h
	@mkdir -p $(@D)
	$(CC) $(WARNINGS) -O1 -g -fsanitize=address,undefined \
		-fno-sanitize-recover=all -o $@ $< $(EXCERPT_SOURCES)

.PHONY: crash-test
crash-test: $(CRASH_BUILD)/excerpt_test
	$(CRASH_BUILD)/excerpt_test
