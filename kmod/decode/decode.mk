# SPDX-License-Identifier: GPL-2.0-only
# The decoder core in user space: the library, its tests, its symbol check.
# decode-objdump reads the roots tools/vm made; the rest needs nothing.

DECODE_OUT := $(BUILD)/decode
DECODE_SRC := $(ROOT)/kmod/decode
DECODE_TESTS := $(ROOT)/selftests/decode
DECODE_C := $(sort $(wildcard $(DECODE_SRC)/*.c))
DECODE_H := $(wildcard $(DECODE_SRC)/*.h) $(ROOT)/uapi/linux/kipt_record.h
DECODE_O := $(patsubst $(DECODE_SRC)/%.c,$(DECODE_OUT)/%.o,$(DECODE_C))
DECODE_LIB := $(DECODE_OUT)/libkiptdecode.a
DECODE_CFLAGS := $(WARNINGS) $(CFLAGS)

$(DECODE_OUT)/%.o: $(DECODE_SRC)/%.c $(DECODE_H)
	@mkdir -p $(DECODE_OUT)
	$(CC) $(DECODE_CFLAGS) -c $< -o $@

$(DECODE_LIB): $(DECODE_O)
	rm -f $@
	$(AR) rcs $@ $^

decode-lib: $(DECODE_LIB)

.PHONY: decode-lib
