# SPDX-License-Identifier: GPL-2.0-only
# Tests of the module's NMI handlers, in user space: the module's own file; each
# header of the kernel that it asks for is kernel.h. What kernels differ in,
# kmod/lib/compat.h, is left out.

NMI_TEST := selftests/nmi
NMI_BUILD := $(BUILD)/nmi
NMI_SHIM := $(NMI_BUILD)/shim/stamp
NMI_HEADERS := $(addprefix linux/,atomic build_bug compiler cpumask irq_work kprobes percpu \
	preempt smp spinlock) $(addprefix asm/,msr-index nmi tsc)

$(NMI_SHIM): $(NMI_TEST)/nmi.mk
	mkdir -p $(addprefix $(@D)/,linux asm)
	for name in $(NMI_HEADERS); do \
		echo '#include "kernel.h"' >$(@D)/$$name.h; done
	touch $@

NMI_O := $(call objects,$(NMI_BUILD)/objects,$(NMI_TEST)/pmi_test.c kmod/nmi.c \
	kmod/hw/nmi_claim.c)
$(NMI_O): $(NMI_SHIM)
$(eval $(call compile,$(NMI_BUILD)/objects,$$(CC) $$(WARNINGS) -Wno-unused-parameter -O2 -g \
	-DKIPT_COMPAT_H -I$(NMI_BUILD)/shim -I$(NMI_TEST)))

$(NMI_BUILD)/pmi_test: $(NMI_O)
	$(CC) -o $@ $^

.PHONY: nmi-test
nmi-test: $(NMI_BUILD)/pmi_test
	$<
