# SPDX-License-Identifier: GPL-2.0-only
# The proof: tests of the comparator (user space), kselftests on this machine,
# and everything in the test machine.

FLOW := selftests/flow
FLOW_BUILD := $(BUILD)/flow
FLOW_CFLAGS := -std=gnu11 -O2 -Wall -Wextra -Werror -Iuapi
FLOW_SHARED := $(addprefix $(FLOW)/,match.c control.c flow_item.c)
FLOW_HEADERS := $(addprefix $(FLOW)/,match.h control.h flow_item.h) \
	tools/testcpu/truth.h uapi/linux/kipt_record.h

$(FLOW_BUILD):
	@mkdir -p $@

$(FLOW_BUILD)/compare $(FLOW_BUILD)/compare_test: $(FLOW_BUILD)/%: \
		$(FLOW)/%.c $(FLOW_SHARED) $(FLOW_HEADERS) | $(FLOW_BUILD)
	$(CC) $(FLOW_CFLAGS) -o $@ $(FLOW)/$*.c $(FLOW_SHARED)

.PHONY: flow-compare flow-compare-test
flow-compare: $(FLOW_BUILD)/compare

flow-compare-test: $(FLOW_BUILD)/compare_test
	$(FLOW_BUILD)/compare_test
