# SPDX-License-Identifier: GPL-2.0-only
# The benchmark against libipt, and a short run of it that tests itself.
# BENCH_TRACES=a,b chooses traces, BENCH_MODES=a,b modes; BENCH_REPORT=1 makes
# neither a missed target nor noise a failure.

BENCH_DIR_SRC := $(ROOT)/tools/bench
BENCH_OUT := $(BUILD)/bench
BENCH_C := $(wildcard $(BENCH_DIR_SRC)/*.c) $(DECODE_TESTS)/image.c \
	$(addprefix $(ROOT)/tools/kipt/,offline/parallel_decode.c \
	records/reorder.c records/unpack.c records/unpack_nodes.c records/unpack_paths.c \
	cli/lookup.c cli/file_map.c records/summary.c records/record_words.c cli/json_lines.c cli/messages.c cli/printable.c cli/progress.c \
	cli/signals.c cli/standard_output.c offline/save_meta.c filter/address_range.c) $(KIPT_TEXT)
# What Kbuild gives a module on Debian's 6.12 that matters for speed, as far as
# user space can have it. Calls of the function tracer are nops, as they are
# when nobody traces.
BENCH_KERNEL_FLAGS := -std=gnu11 -O2 -mno-sse -mno-mmx -mno-sse2 -mno-3dnow \
	-mno-avx -mno-80387 -mno-fp-ret-in-387 -mno-red-zone \
	-mpreferred-stack-boundary=3 -mskip-rax-setup -mtune=generic \
	-fcf-protection=branch -fno-jump-tables -falign-jumps=1 -falign-loops=1 \
	-falign-functions=16 -mindirect-branch=thunk-extern \
	-mindirect-branch-register -mindirect-branch-cs-prefix \
	-mfunction-return=keep -mharden-sls=all -fno-strict-aliasing \
	-fno-strict-overflow -fno-delete-null-pointer-checks -fno-common \
	-fno-asynchronous-unwind-tables -fno-stack-clash-protection \
	-fno-allow-store-data-races -fstack-protector-strong \
	-ftrivial-auto-var-init=zero -fconserve-stack -fno-pie -pg -mfentry \
	-mnop-mcount
BENCH_KERNEL_O := $(call objects,$(BENCH_OUT)/kernel,$(DECODE_C))
BENCH_API := flow_size flow_init flow_run flow_counts packet_next

$(eval $(call compile,$(BENCH_OUT)/kernel,$$(CC) $$(BENCH_KERNEL_FLAGS) -Wall -Wextra -Werror))

# One object whose entries have names of their own, all else is inside.
$(BENCH_OUT)/core_kernel.o: $(BENCH_KERNEL_O) $(BENCH_DIR_SRC)/thunks.S
	$(CC) -c $(BENCH_DIR_SRC)/thunks.S -o $(BENCH_OUT)/thunks.o
	$(LD) -r $(BENCH_KERNEL_O) $(BENCH_OUT)/thunks.o -o $@
	objcopy $(BENCH_API:%=-G kipt_%) $@
	objcopy $(foreach name,$(BENCH_API),--redefine-sym kipt_$(name)=kernel_$(name)) $@

# The core of an earlier commit, by the tool's flags; empty where git does not have the commit.
BENCH_EARLIER := 1617e1e
BENCH_EARLIER_DIR := $(BENCH_OUT)/$(BENCH_EARLIER)
BENCH_EARLIER_O = $(BENCH_OUT)/core_earlier-$(shell git -C $(ROOT) cat-file -t $(BENCH_EARLIER) \
	2>/dev/null || echo none).o
$(BENCH_OUT)/core_earlier-%.o: $(BENCH_DIR_SRC)/bench.mk
	@mkdir -p $(@D)
	rm -rf $(BENCH_EARLIER_DIR) && mkdir $(BENCH_EARLIER_DIR)
	if [ $* = commit ]; then \
		git -C $(ROOT) archive -o $(BENCH_EARLIER_DIR)/core.tar $(BENCH_EARLIER) \
			kmod/decode uapi/linux || exit; \
		tar -xf $(BENCH_EARLIER_DIR)/core.tar -C $(BENCH_EARLIER_DIR); \
	else \
		mkdir -p $(BENCH_EARLIER_DIR)/kmod/decode && \
		echo 'typedef int nothing;' >$(BENCH_EARLIER_DIR)/kmod/decode/nothing.c; \
	fi
	cd $(BENCH_EARLIER_DIR) && $(PLAIN_CC) -c kmod/decode/*.c && $(LD) -r *.o -o $(abspath $@)
	objcopy $(BENCH_API:%=-G kipt_%) $@
	objcopy $(foreach name,$(BENCH_API),--redefine-sym kipt_$(name)=earlier_$(name)) $@

# What the core calls back must align the stack: the kernel's flags leave it at eight bytes.
$(eval $(call compile,$(BENCH_OUT)/objects,$$(PLAIN_CC) -mstackrealign -I$$(KIPT_SHIM) -pthread))

$(BENCH_OUT)/bench: $(call objects,$(BENCH_OUT)/objects,$(BENCH_C)) \
		$(BENCH_OUT)/core_kernel.o $(BENCH_EARLIER_O) $(DECODE_LIB)
	$(CC) -pthread -no-pie $^ -lipt -ljson-c -lm -o $@

.PHONY: bench bench-html bench-perf bench-program bench-smoke bench-record
bench-program: $(BENCH_OUT)/bench

bench: need bench-program
	BENCH_TRACES='$(BENCH_TRACES)' BENCH_MODES='$(BENCH_MODES)' \
		BENCH_REPORT='$(BENCH_REPORT)' $(BENCH_DIR_SRC)/run $(BENCH_OUT)

bench-smoke: need bench-program
	$(BENCH_DIR_SRC)/smoke $(BENCH_OUT)

bench-record: need
	$(BENCH_DIR_SRC)/record

# How many times as fast as perf recordings of perf are shown.
bench-perf: need kipt
	$(BENCH_DIR_SRC)/against_perf

# How long pages of --html of the same recordings take, in a headless Chromium.
bench-html: need kipt
	$(BENCH_DIR_SRC)/perf_record
	$(BENCH_DIR_SRC)/html_page
