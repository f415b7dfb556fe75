# SPDX-License-Identifier: GPL-2.0-only
# Tests of what the module writes in its messages, in user space: the module's
# own file; each header of the kernel that it asks for is kernel.h. What a test
# does not reach is not linked, and need not be there.

MESSAGES_TEST := selftests/messages
MESSAGES_BUILD := $(BUILD)/messages
MESSAGES_SHIM := $(MESSAGES_BUILD)/shim/stamp
MESSAGES_HEADERS := $(addprefix linux/,atomic build_bug compiler cpumask cred err \
	irq_work kref list mutex netlink pid_namespace sched slab spinlock uidgid wait workqueue) net/genetlink net/netlink asm/msr-index

$(MESSAGES_SHIM): $(MESSAGES_TEST)/messages.mk
	mkdir -p $(addprefix $(@D)/,linux net asm)
	for name in $(MESSAGES_HEADERS); do \
		echo '#include "kernel.h"' >$(@D)/$$name.h; done
	touch $@

MESSAGES_O := $(call objects,$(MESSAGES_BUILD)/objects,\
	$(MESSAGES_TEST)/session_list_test.c kmod/netlink/session_message.c)
$(MESSAGES_O): $(MESSAGES_SHIM)
$(eval $(call compile,$(MESSAGES_BUILD)/objects,$$(CC) $$(WARNINGS) -Wno-sign-compare -O2 -g \
	-ffunction-sections -fdata-sections -I$(MESSAGES_BUILD)/shim -I$(MESSAGES_TEST)))

$(MESSAGES_BUILD)/session_list_test: $(MESSAGES_O)
	$(CC) -Wl,--gc-sections -o $@ $^

.PHONY: messages-test
messages-test: $(MESSAGES_BUILD)/session_list_test
	$<
