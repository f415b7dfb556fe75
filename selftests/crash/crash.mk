# SPDX-License-Identifier: GPL-2.0-only
# Tests of what the module shows of a machine that dies, in user space: the
# module's own files, with the sanitizers.

CRASH_TEST := selftests/crash
CRASH_BUILD := $(BUILD)/crash
EXCERPT_SOURCES := kmod/shared/excerpt_lines.c kmod/shared/excerpt_text.c kmod/decode/packet/sync.c

EXCERPT_HEADERS := $(addprefix kmod/,shared/excerpt_end.h shared/excerpt_lines.h \
	shared/excerpt_text.h crash/excerpt_decode.h) selftests/decode/ktap.h \
	selftests/decode/random_below.h
EXCERPT_CC = $(CC) $(WARNINGS) -O1 -g -fsanitize=address,undefined \
	-fno-sanitize-recover=all

$(CRASH_BUILD)/excerpt_test: $(CRASH_TEST)/excerpt_test.c $(EXCERPT_SOURCES) \
		$(EXCERPT_HEADERS)
	@mkdir -p $(@D)
	$(EXCERPT_CC) -o $@ $< $(EXCERPT_SOURCES)

$(CRASH_BUILD)/excerpt_decode_test: $(CRASH_TEST)/excerpt_decode_test.c \
		kmod/crash/excerpt_decode.c $(EXCERPT_SOURCES) $(EXCERPT_HEADERS)
	@mkdir -p $(@D)
	$(EXCERPT_CC) -o $@ $< kmod/crash/excerpt_decode.c $(EXCERPT_SOURCES)

.PHONY: crash-test
crash-test: $(CRASH_BUILD)/excerpt_test $(CRASH_BUILD)/excerpt_decode_test
	$(CRASH_BUILD)/excerpt_test
	$(CRASH_BUILD)/excerpt_decode_test
