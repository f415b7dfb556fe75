# SPDX-License-Identifier: GPL-2.0-only
# The kipt tool: for this machine (kipt), for the test machine's userland
# (kipt-guest), and its user-space tests (kipt-test). The decoder core is
# compiled into it unchanged.

ROOT ?= $(CURDIR)
BUILD ?= $(ROOT)/build
WARNINGS ?= -std=gnu11 -Wall -Wextra -Werror
ifndef DEPFLAGS
include $(ROOT)/tools/objects.mk
endif

OBJCOPY ?= objcopy

KIPT_DIR := $(ROOT)/tools/kipt
KIPT_OUT ?= $(BUILD)/kipt
KIPT_PACKAGES := libelf libdw json-c zlib
# Without it all works but what needs the module. KIPT_LIBNL= leaves it out, as the
# variables below do with theirs.
KIPT_LIBNL ?= $(shell pkg-config --exists libnl-3.0 libnl-genl-3.0 && \
	echo libnl-3.0 libnl-genl-3.0)
# Without it all works but dumps that are no ELF files.
KIPT_KDUMPFILE ?= $(shell pkg-config --exists libkdumpfile && echo libkdumpfile)
# Without it all works but compressed recordings of perf.
KIPT_ZSTD ?= $(shell pkg-config --exists libzstd && echo libzstd)
# Without it all works but names of C++ and Rust are shown as linkers have them. It
# has no file for pkg-config.
KIPT_IBERTY ?= $(shell $(CC) -include libiberty/demangle.h -E -x c /dev/null \
	>/dev/null 2>&1 && echo -liberty)
# Without it all works but --disasm. It has no file for pkg-config; that header came
# with the first version that will do.
KIPT_ZYDIS ?= $(shell $(CC) -include Zydis/Encoder.h -E -x c /dev/null \
	>/dev/null 2>&1 && echo -lZydis)
KIPT_OPTIONAL := $(KIPT_LIBNL) $(KIPT_KDUMPFILE) $(KIPT_ZSTD)
# Packages have -l:libnl-genl-3.a -l:libnl-3.a here: the tool needs no libnl when it runs.
KIPT_LIBNL_LIBS ?= $(if $(KIPT_LIBNL),$(shell pkg-config --libs $(KIPT_LIBNL)))
KIPT_LIBS = $(KIPT_LIBNL_LIBS) $(KIPT_IBERTY) $(KIPT_ZYDIS) \
	$(shell pkg-config --libs $(KIPT_PACKAGES) $(KIPT_KDUMPFILE) $(KIPT_ZSTD))
KIPT_INCLUDES := $(shell pkg-config --cflags $(KIPT_PACKAGES) $(KIPT_OPTIONAL))
KIPT_CC = $(CC) -O2 -g -pthread $(CFLAGS) $(WARNINGS) $(KIPT_INCLUDES)
KIPT_DEBIAN := libnl-3-dev libnl-genl-3-dev libelf-dev libdw-dev libjson-c-dev \
	zlib1g-dev libkdumpfile-dev libzstd-dev libiberty-dev \
	libzydis-dev pkg-config

KIPT_SOURCES := $(filter-out %/genl$(if $(KIPT_LIBNL),_none).c \
	%/dump_library$(if $(KIPT_KDUMPFILE),_none).c \
	%/perf_unzip$(if $(KIPT_ZSTD),_none).c \
	%/demangle$(if $(KIPT_IBERTY),_none).c \
	%/disasm$(if $(KIPT_ZYDIS),_none).c $(KIPT_DIR)/example/% \
	$(KIPT_DIR)/pages/%, \
	$(wildcard $(KIPT_DIR)/*.c $(KIPT_DIR)/*/*.c))
KIPT_CORE := $(wildcard $(ROOT)/kmod/decode/*.c $(ROOT)/kmod/decode/*/*.c)
# What a dying kernel and a reader of its dump agree on.
KIPT_SHARED := $(addprefix $(ROOT)/kmod/shared/,patch_log.c switch_log.c task_merge.c \
	text_view.c)
# Kernel text that is patched.
KIPT_TEXT := $(addprefix $(ROOT)/kmod/shared/,patch_log.c text_view.c)
KIPT_SHIM := $(ROOT)/tools/shim
KIPT_OBJECTS := $(KIPT_SOURCES:$(KIPT_DIR)/%.c=$(KIPT_OUT)/%.o) \
	$(KIPT_CORE:$(ROOT)/kmod/decode/%.c=$(KIPT_OUT)/decode/%.o) \
	$(KIPT_SHARED:$(ROOT)/kmod/shared/%.c=$(KIPT_OUT)/shared/%.o)
# What decodes traces, libkipt.a, and what is of the tool alone.
KIPT_LIBRARY := $(filter $(KIPT_OUT)/libkipt.o $(KIPT_OUT)/decode/% \
	$(KIPT_OUT)/shared/patch_log.o $(KIPT_OUT)/shared/text_view.o \
	$(addprefix $(KIPT_OUT)/,$(addsuffix /%,cli symbols perf filter records view \
	offline)),$(KIPT_OBJECTS))
KIPT_ALONE := $(filter-out $(KIPT_LIBRARY),$(KIPT_OBJECTS))

KIPT_PAGES := $(patsubst $(KIPT_DIR)/%.c,$(KIPT_OUT)/%.o,$(wildcard $(KIPT_DIR)/pages/*.c))

.PHONY: kipt kipt-pages kipt-libraries kipt-guest kipt-test-programs kipt-test

kipt: kipt-libraries
	@$(MAKE) --no-print-directory -f $(KIPT_DIR)/kipt.mk ROOT=$(ROOT) \
		BUILD=$(BUILD) KIPT_OUT=$(KIPT_OUT) $(KIPT_OUT)/kipt \
		$(KIPT_OUT)/public/libkipt.a

# Manual pages and completions, from the table of verbs.
kipt-pages: kipt
	@$(MAKE) --no-print-directory -f $(KIPT_DIR)/kipt.mk ROOT=$(ROOT) \
		BUILD=$(BUILD) KIPT_OUT=$(KIPT_OUT) $(KIPT_OUT)/man/kipt.1

# A sentence rather than a missing header.
kipt-libraries:
	@pkg-config --exists $(KIPT_PACKAGES) || { \
		echo "kipt: libraries are missing; on Debian:" \
			"apt-get install $(KIPT_DEBIAN)" >&2; exit 1; }

comma := ,

# V=1 shows the commands.
KIPT_Q := $(if $(V),,@)

$(KIPT_OUT)/libkipt.a: $(KIPT_LIBRARY)
	$(info $()  AR  libkipt.a)
	@rm -f $@
	$(KIPT_Q)$(AR) rcs $@ $^

# The same for others: of all names only those of libkipt.h can be seen.
$(KIPT_OUT)/public/libkipt.a: $(KIPT_OUT)/libkipt.o $(KIPT_OUT)/libkipt.a
	@mkdir -p $(@D)
	$(info $()  AR  public/libkipt.a)
	@rm -f $@
	$(KIPT_Q)$(CC) -r -nostdlib -o $(@D)/libkipt.o $^
	$(KIPT_Q)$(OBJCOPY) --wildcard --keep-global-symbol='libkipt_*' $(@D)/libkipt.o
	$(KIPT_Q)$(AR) rcs $@ $(@D)/libkipt.o

$(KIPT_OUT)/kipt: $(KIPT_ALONE) $(KIPT_OUT)/libkipt.a
	$(info $()  LD  kipt)
	$(KIPT_Q)$(CC) $(LDFLAGS) -pthread -o $@ $^ \
		$(KIPT_LIBS)

$(KIPT_OUT)/make_pages: $(KIPT_PAGES) $(filter-out %/main.o,$(KIPT_ALONE)) \
		$(KIPT_OUT)/libkipt.a
	$(info $()  LD  make_pages)
	$(KIPT_Q)$(CC) $(LDFLAGS) -pthread -o $@ $^ $(KIPT_LIBS)

# kipt.1 is made last.
$(KIPT_OUT)/man/kipt.1: $(KIPT_OUT)/make_pages $(wildcard $(KIPT_DIR)/pages/man/*.text)
	@rm -rf $(KIPT_OUT)/man $(KIPT_OUT)/completions
	@mkdir -p $(KIPT_OUT)/man $(KIPT_OUT)/completions
	$(info $()  GEN man completions)
	$(KIPT_Q)$(KIPT_OUT)/make_pages $(KIPT_DIR)/pages/man $(KIPT_OUT)

# The files of the page that --html writes are in this object.
KIPT_PAGE := $(KIPT_DIR)/view/page
KIPT_FIND :=
$(KIPT_OUT)/view/html_page.o: KIPT_FIND := -Wa,-I$(KIPT_PAGE) -fno-lto
$(KIPT_OUT)/view/html_page.o: $(wildcard $(KIPT_PAGE)/*)

# kipt-compile PREFIX,FOLDER,FLAGS: how PREFIX/NAME.o is made of FOLDER/NAME.c
define kipt-compile
$(KIPT_OUT)/$(1)%.o: $(2)/%.c $$(IN_FOLDER)
	$$(info $$()  CC  $(1)$$*)
	$$(KIPT_Q)$$(KIPT_CC) $(3) $$(DEPFLAGS) -c -o $$@ $$<
endef

$(eval $(call kipt-compile,,$(KIPT_DIR),$$(KIPT_FIND)))
$(eval $(call kipt-compile,test/,$(ROOT)/selftests/tool,-I$(KIPT_SHIM)))
$(eval $(call kipt-compile,decode/,$(ROOT)/kmod/decode))
$(eval $(call kipt-compile,shared/,$(ROOT)/kmod/shared,-I$(KIPT_SHIM)))
$(eval $(call kipt-compile,stress/,$(ROOT)/tools/stress))
-include $(call dependency-files,$(KIPT_OUT))

# The guest's libraries are newer than this machine's: built in its root, by gcc, since its
# ccache has no cc. One after the other: kipt is made by a make of its own, which makes the
# same objects.
kipt-guest:
	cd $(ROOT) && for goal in kipt $(BUILD)/guest/map_images; do \
		MAKEFLAGS= tools/vm/in-root trixie -- make --no-print-directory -j2 \
			-f tools/kipt/kipt.mk $$goal ROOT=$(ROOT) BUILD=$(BUILD) \
			KIPT_OUT=$(BUILD)/guest CC=gcc || exit 1; \
	done

# What the stress test records mappings with.
$(KIPT_OUT)/map_images: $(KIPT_OUT)/stress/map_images.o $(filter-out %/main.o,$(KIPT_ALONE)) \
		$(KIPT_OUT)/libkipt.a

# kipt-objects FILE...: objects of files of the tool
kipt-objects = $(addprefix $(KIPT_OUT)/,$(addsuffix .o,$(1)))
KIPT_DECODE_O := $(filter $(KIPT_OUT)/decode/%,$(KIPT_OBJECTS))
KIPT_FILTER := $(call kipt-objects,filter/filter filter/filter_kernel filter/filter_user \
	filter/address_range filter/did_you_mean symbols/kernel_symbols symbols/elf_symbols \
	symbols/symbols symbols/process_maps cli/args cli/json_lines cli/messages \
	cli/printable cli/progress cli/signals cli/standard_output cli/file_map cli/lookup \
	symbols/mapped_ids symbols/build_id record/traced_command record/open_files kernel/affinity)

# What each test has beside its own file. For races: make -f tools/kipt/kipt.mk
# KIPT_OUT=$PWD/build/races CFLAGS=-fsanitize=thread $PWD/build/races/jobs_test
$(KIPT_OUT)/jobs_test: $(call kipt-objects,offline/parallel_decode records/reorder \
	shared/patch_log shared/text_view) $(KIPT_DECODE_O)
$(KIPT_OUT)/filter_test $(KIPT_OUT)/child_test: $(KIPT_FILTER)
$(KIPT_OUT)/ctl_test: $(call kipt-objects,kernel/ctl_fields cli/args filter/did_you_mean \
	cli/messages cli/printable cli/progress cli/signals cli/standard_output)
$(KIPT_OUT)/ending_test: $(call kipt-objects,records/task_tail view/last_lines \
	records/record_state)
$(KIPT_OUT)/killed_test: $(call kipt-objects,records/process_records symbols/build_id \
	cli/file_map)
KIPT_WITH_TOOL := program perf_write recording names text
$(KIPT_WITH_TOOL:%=$(KIPT_OUT)/%_test): $(filter-out %/main.o,$(KIPT_OBJECTS))
# Recordings on a machine that is made up.
$(KIPT_OUT)/recording_test: KIPT_WRAPPED := rename renameat2 syscall ioctl mmap sched_getaffinity \
	sched_setaffinity args_cpus raw_take
KIPT_TESTS := $(patsubst %,$(KIPT_OUT)/%_test,jobs filter child ctl ending killed \
	$(KIPT_WITH_TOOL))
$(KIPT_TESTS): $(KIPT_OUT)/%: $(KIPT_OUT)/test/%.o

# The tool on machines that are made up.
$(KIPT_OUT)/kipt_fake: KIPT_WRAPPED := hardware_has_pt hardware_caps genl_open genl_info \
	genl_close genl_session_each genl_session_get genl_session_new \
	genl_session_start genl_session_stop genl_session_delete genl_snapshot_each \
	genl_fetch_start genl_fetch_wait genl_fetch_over open ioctl
$(KIPT_OUT)/kipt_fake: $(KIPT_OUT)/test/fake_machine.o $(KIPT_OBJECTS)

$(KIPT_TESTS) $(KIPT_OUT)/kipt_fake $(KIPT_OUT)/map_images:
	$(info $()  LD  $(@F))
	$(KIPT_Q)$(CC) $(CFLAGS) $(LDFLAGS) -pthread \
		$(addprefix -Wl$(comma)--wrap=,$(KIPT_WRAPPED)) -o $@ $^ $(KIPT_LIBS)

# A libkdumpfile that dies of damaged files, in front of the real one.
$(KIPT_OUT)/deadly_kdumpfile.so: $(ROOT)/selftests/tool/deadly_kdumpfile.c
	@mkdir -p $(@D)
	$(info $()  CC  deadly_kdumpfile)
	$(KIPT_Q)$(CC) -O2 -g $(CFLAGS) $(WARNINGS) -shared -fPIC -o $@ $< -ldl

# Records from numbers, thousands of times.
$(KIPT_OUT)/make_records: $(ROOT)/selftests/tool/make_records.c $(ROOT)/uapi/linux/kipt_record.h
	@mkdir -p $(@D)
	$(info $()  CC  make_records)
	$(KIPT_Q)$(CC) -D_GNU_SOURCE -O2 -g $(CFLAGS) $(WARNINGS) -o $@ $<

kipt-test-programs: kipt kipt-pages
	@$(MAKE) --no-print-directory -f $(KIPT_DIR)/kipt.mk ROOT=$(ROOT) \
		BUILD=$(BUILD) KIPT_OUT=$(KIPT_OUT) $(KIPT_TESTS) $(KIPT_OUT)/kipt_fake \
		$(KIPT_OUT)/make_records $(if $(KIPT_KDUMPFILE),$(KIPT_OUT)/deadly_kdumpfile.so)

kipt-test: kipt-test-programs
	$(ROOT)/selftests/tool/tool_test.sh $(KIPT_OUT)/kipt
