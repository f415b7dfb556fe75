# SPDX-License-Identifier: GPL-2.0-only
# Tests of what the module remembers beside the trace, in user space: the
# module's own files, with a few headers of the kernel's in tools/shim/.

SIDEBAND_TEST := selftests/sideband
SIDEBAND_BUILD := $(BUILD)/sideband
SIDEBAND_TESTS := switch_log image_table patch_log snapshot_logs \
	text_view limits task_merge killed_quota task_notes tsc_age
SIDEBAND_OBJECTS := $(SIDEBAND_BUILD)/objects

$(eval $(call compile,$(SIDEBAND_OBJECTS),$$(CC) $$(WARNINGS) -O2 -g -pthread -Itools/shim))

# sideband-test FILE,SOURCES: FILE_test.c tests those of the module's
define sideband-test
$(SIDEBAND_BUILD)/$(1)_test: $(call objects,$(SIDEBAND_OBJECTS),\
		$(SIDEBAND_TEST)/$(1)_test.c $(addprefix kmod/,$(2)))
	$$(CC) -pthread -o $$@ $$^
endef

$(foreach test,$(filter-out limits text_view task_merge tsc_age,$(SIDEBAND_TESTS)),\
	$(eval $(call sideband-test,$(test),shared/$(test).c)))
$(eval $(call sideband-test,limits,lib/limits.c))
$(eval $(call sideband-test,text_view,shared/text_view.c shared/patch_log.c))
# A header alone.
$(eval $(call sideband-test,tsc_age,))
$(eval $(call sideband-test,task_merge,shared/task_merge.c shared/switch_log.c))

.PHONY: sideband-test
sideband-test: $(SIDEBAND_TESTS:%=$(SIDEBAND_BUILD)/%_test)
	set -e; for test in $(SIDEBAND_TESTS); do \
		$(SIDEBAND_BUILD)/$${test}_test; done
