# SPDX-License-Identifier: GPL-2.0-only
# Machines that die: what outlives them is compared with the truth, see
# selftests/crash/README.md.

DEATHS := selftests/crash
CRASHERS := $(foreach kernel,6.1 6.12 new debug kcsan,$(BUILD)/crash/module/$(kernel)/crasher.ko)

$(CRASHERS): $(BUILD)/crash/module/%/crasher.ko: $(DEATHS)/crasher/crasher.c
	$(DEATHS)/crasher/build $*

$(BUILD)/crash/cost: $(DEATHS)/cost.c
	@mkdir -p $(@D)
	tools/vm/in-root trixie -- gcc $(WORK_CFLAGS) -o $@ $<

.PHONY: crash-pages-test crash-kdump-test crash-programs crash-crashers crash-short crash-pairs crashtest \
	crash-table crash-debian crash-readers crash-cost
crash-pages-test:
	$(DEATHS)/pages_test

crash-kdump-test:
	$(DEATHS)/kdump_test

crash-programs: testcpu kipt kipt-guest flow-programs
	[ -n "$(PREPARED)" ] || for kernel in $(KERNELS); do \
		tools/vm/build-module $$kernel >/dev/null && \
		$(MAKE) --no-print-directory \
			$(BUILD)/crash/module/$$kernel/crasher.ko || exit; \
	done

crash-crashers: $(foreach kernel,$(KERNELS),$(BUILD)/crash/module/$(kernel)/crasher.ko)

# Some minutes, on a computer that does nothing else.
crash-short: crash-programs
	$(DEATHS)/series short $(KERNELS)

crash-pairs: crash-programs
	$(DEATHS)/series pairs $(SEED)

# Instructions that being armed costs.
crash-cost: testcpu kipt-guest $(BUILD)/crash/cost
	for kernel in $(KERNELS); do \
		tools/vm/build-module $$kernel >/dev/null || exit; \
	done
	$(DEATHS)/cost $(KERNELS)

crashtest: N ?= 20
crashtest: crash-programs
	$(DEATHS)/series random $(N) $(SEED)

# What of a death reaches which place: 18 for each kernel, half a minute each.
crash-table: crash-programs
	$(DEATHS)/table $(KERNELS)

# The five commands of docs/crash.md, and a machine set up so that dies. Needs the
# package mirror, and some minutes.
crash-debian: KERNELS := 6.12
crash-debian: crash-programs
	$(DEATHS)/debian/test

# drgn and, with the VMLINUX of Debian's linux-image-...-dbg, crash(8).
crash-readers: KERNELS := 6.12
crash-readers: crash-programs
	$(DEATHS)/readers $(VMLINUX)
