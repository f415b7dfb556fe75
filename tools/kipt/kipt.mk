# SPDX-License-Identifier: GPL-2.0-only
# The kipt tool: for this machine (kipt), for the test machine's userland
# (kipt-guest), and its user-space tests (kipt-test). The decoder core is
# compiled into it unchanged.

ROOT ?= $(CURDIR)
BUILD ?= $(ROOT)/build
WARNINGS ?= -std=gnu11 -Wall -Wextra -Werror

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
KIPT_HEADERS := $(wildcard $(KIPT_DIR)/*.h $(KIPT_DIR)/*/*.h $(ROOT)/kmod/decode/*.h \
	$(ROOT)/kmod/decode/*/*.h \
	$(ROOT)/uapi/linux/*.h $(ROOT)/kmod/hw/rtit_*.h $(ROOT)/kmod/lib/version.h \
	$(KIPT_SHIM)/*/*.h) $(KIPT_SHARED:.c=.h) $(ROOT)/kmod/shared/tsc_extend.h \
	$(ROOT)/kmod/shared/excerpt_end.h

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
	@echo "  AR  libkipt.a"
	@rm -f $@
	$(KIPT_Q)$(AR) rcs $@ $^

# The same for others: of all names only those of libkipt.h can be seen.
$(KIPT_OUT)/public/libkipt.a: $(KIPT_OUT)/libkipt.o $(KIPT_OUT)/libkipt.a
	@mkdir -p $(@D)
	@echo "  AR  public/libkipt.a"
	@rm -f $@
	$(KIPT_Q)$(CC) -r -nostdlib -o $(@D)/libkipt.o $^
	$(KIPT_Q)$(OBJCOPY) --wildcard --keep-global-symbol='libkipt_*' $(@D)/libkipt.o
	$(KIPT_Q)$(AR) rcs $@ $(@D)/libkipt.o

$(KIPT_OUT)/kipt: $(KIPT_ALONE) $(KIPT_OUT)/libkipt.a
	@echo "  LD  kipt"
	$(KIPT_Q)$(CC) $(LDFLAGS) -pthread -o $@ $^ \
		$(KIPT_LIBS)

$(KIPT_OUT)/make_pages: $(KIPT_PAGES) $(filter-out %/main.o,$(KIPT_ALONE)) \
		$(KIPT_OUT)/libkipt.a
	@echo "  LD  make_pages"
	$(KIPT_Q)$(CC) $(LDFLAGS) -pthread -o $@ $^ $(KIPT_LIBS)

# kipt.1 is made last.
$(KIPT_OUT)/man/kipt.1: $(KIPT_OUT)/make_pages $(wildcard $(KIPT_DIR)/pages/man/*.text)
	@rm -rf $(KIPT_OUT)/man $(KIPT_OUT)/completions
	@mkdir -p $(KIPT_OUT)/man $(KIPT_OUT)/completions
	@echo "  GEN man completions"
	$(KIPT_Q)$(KIPT_OUT)/make_pages $(KIPT_DIR)/pages/man $(KIPT_OUT)

# The files of the page that --html writes are in this object.
KIPT_PAGE := $(KIPT_DIR)/view/page
KIPT_FIND :=
$(KIPT_OUT)/view/html_page.o: KIPT_FIND := -Wa,-I$(KIPT_PAGE) -fno-lto
$(KIPT_OUT)/view/html_page.o: $(wildcard $(KIPT_PAGE)/*)

$(KIPT_OUT)/%.o: $(KIPT_DIR)/%.c $(KIPT_HEADERS)
	@mkdir -p $(@D)
	@echo "  CC  $*"
	$(KIPT_Q)$(CC) -O2 -g -pthread $(CFLAGS) $(WARNINGS) $(KIPT_FIND) \
		$(shell pkg-config --cflags $(KIPT_PACKAGES) $(KIPT_OPTIONAL)) -c -o $@ $<

$(KIPT_OUT)/decode/%.o: $(ROOT)/kmod/decode/%.c $(KIPT_HEADERS)
	@mkdir -p $(@D)
	@echo "  CC  decode/$*"
	$(KIPT_Q)$(CC) -O2 -g $(CFLAGS) $(WARNINGS) -c -o $@ $<

$(KIPT_OUT)/shared/%.o: $(ROOT)/kmod/shared/%.c $(KIPT_HEADERS)
	@mkdir -p $(@D)
	@echo "  CC  $*"
	$(KIPT_Q)$(CC) -O2 -g $(CFLAGS) $(WARNINGS) -I$(KIPT_SHIM) -c -o $@ $<

# The guest's libraries are newer than this machine's: built in its root. One after the
# other: kipt is made by a make of its own, which makes the same objects.
kipt-guest:
	cd $(ROOT) && for goal in kipt $(BUILD)/guest/map_images; do \
		MAKEFLAGS= tools/vm/in-root trixie -- make --no-print-directory -j2 \
			-f tools/kipt/kipt.mk $$goal ROOT=$(ROOT) BUILD=$(BUILD) \
			KIPT_OUT=$(BUILD)/guest || exit 1; \
	done

# What the stress test records mappings with.
$(KIPT_OUT)/map_images: $(ROOT)/tools/stress/map_images.c \
		$(filter-out %/main.o,$(KIPT_ALONE)) $(KIPT_OUT)/libkipt.a
	@echo "  LD  map_images"
	$(KIPT_Q)$(CC) -O2 -g -pthread $(CFLAGS) $(WARNINGS) $(LDFLAGS) -o $@ $^ \
		$(shell pkg-config --cflags $(KIPT_PACKAGES) $(KIPT_OPTIONAL)) $(KIPT_LIBS)

# JOBS_CFLAGS="-O1 -g -fsanitize=thread" looks for races (rm it before).
$(KIPT_OUT)/jobs_test: $(ROOT)/selftests/tool/jobs_test.c \
		$(KIPT_DIR)/offline/parallel_decode.c \
		$(KIPT_DIR)/records/reorder.c $(KIPT_CORE) $(KIPT_TEXT) \
		$(KIPT_HEADERS)
	@mkdir -p $(@D)
	@echo "  CC  jobs_test"
	$(KIPT_Q)$(CC) -O2 -g -pthread $(JOBS_CFLAGS) $(WARNINGS) -I$(KIPT_SHIM) \
		-o $@ $(filter %.c,$^)

KIPT_FILTER := $(addprefix $(KIPT_DIR)/,filter/filter.c filter/filter_kernel.c \
	filter/filter_user.c filter/address_range.c filter/did_you_mean.c \
	symbols/kernel_symbols.c symbols/elf_symbols.c symbols/symbols.c \
	symbols/process_maps.c cli/args.c cli/json_lines.c cli/messages.c \
	cli/printable.c \
	cli/progress.c cli/signals.c cli/file_map.c perf/mapped_ids.c \
	symbols/build_id.c)

$(KIPT_OUT)/filter_test $(KIPT_OUT)/child_test: $(KIPT_OUT)/%_test: \
		$(ROOT)/selftests/tool/%_test.c $(KIPT_FILTER) \
		$(addprefix $(KIPT_DIR)/record/,traced_command.c open_files.c) \
		$(KIPT_DIR)/kernel/affinity.c $(KIPT_HEADERS)
	@mkdir -p $(@D)
	@echo "  CC  $*_test"
	$(KIPT_Q)$(CC) -O2 -g $(CFLAGS) $(WARNINGS) -o $@ $(filter %.c,$^) \
		$(shell pkg-config --cflags --libs libelf json-c)

$(KIPT_OUT)/ctl_test: $(ROOT)/selftests/tool/ctl_test.c \
		$(addprefix $(KIPT_DIR)/,kernel/ctl_fields.c cli/args.c \
		filter/did_you_mean.c \
		cli/messages.c cli/progress.c cli/signals.c) $(KIPT_HEADERS)
	@mkdir -p $(@D)
	@echo "  CC  ctl_test"
	$(KIPT_Q)$(CC) -O2 -g $(CFLAGS) $(WARNINGS) -o $@ $(filter %.c,$^)

$(KIPT_OUT)/ending_test: $(ROOT)/selftests/tool/ending_test.c \
		$(addprefix $(KIPT_DIR)/,records/task_tail.c view/last_lines.c \
		records/record_state.c) $(KIPT_HEADERS)
	@mkdir -p $(@D)
	@echo "  CC  ending_test"
	$(KIPT_Q)$(CC) -O2 -g $(CFLAGS) $(WARNINGS) -o $@ $(filter %.c,$^)

$(KIPT_OUT)/killed_test: $(ROOT)/selftests/tool/killed_test.c \
		$(addprefix $(KIPT_DIR)/,records/process_records.c symbols/build_id.c \
			cli/file_map.c) $(KIPT_HEADERS)
	@mkdir -p $(@D)
	@echo "  CC  killed_test"
	$(KIPT_Q)$(CC) -O2 -g $(CFLAGS) $(WARNINGS) -o $@ $(filter %.c,$^)

$(addprefix $(KIPT_OUT)/,program_test perf_write_test names_test \
		text_test): $(KIPT_OUT)/%_test: \
		$(ROOT)/selftests/tool/%_test.c \
		$(filter-out $(KIPT_OUT)/main.o,$(KIPT_OBJECTS))
	@echo "  LD  $*_test"
	$(KIPT_Q)$(CC) -O2 -g -pthread $(CFLAGS) $(WARNINGS) -o $@ $^ \
		$(shell pkg-config --cflags $(KIPT_PACKAGES) $(KIPT_OPTIONAL)) $(KIPT_LIBS)

# The tool on machines that are made up.
KIPT_FAKED := hardware_has_pt hardware_caps genl_open genl_info genl_close \
	genl_session_each genl_session_get genl_session_new genl_session_start \
	genl_snapshot_each
$(KIPT_OUT)/kipt_fake: $(ROOT)/selftests/tool/fake_machine.c $(KIPT_OBJECTS)
	@echo "  LD  kipt_fake"
	$(KIPT_Q)$(CC) -O2 -g -pthread $(CFLAGS) $(WARNINGS) \
		$(addprefix -Wl$(comma)--wrap=,$(KIPT_FAKED)) -o $@ $^ \
		$(shell pkg-config --cflags $(KIPT_PACKAGES) $(KIPT_OPTIONAL)) $(KIPT_LIBS)

# Recordings on a machine that is made up.
KIPT_MADE_UP := syscall ioctl mmap sched_getaffinity sched_setaffinity args_cpus \
	raw_take
$(KIPT_OUT)/recording_test: $(ROOT)/selftests/tool/recording_test.c \
		$(filter-out $(KIPT_OUT)/main.o,$(KIPT_OBJECTS))
	@echo "  LD  recording_test"
	$(KIPT_Q)$(CC) -O2 -g -pthread $(CFLAGS) $(WARNINGS) \
		$(addprefix -Wl$(comma)--wrap=,$(KIPT_MADE_UP)) -o $@ $^ \
		$(shell pkg-config --cflags $(KIPT_PACKAGES) $(KIPT_OPTIONAL)) $(KIPT_LIBS)

# A libkdumpfile that dies of damaged files, in front of the real one.
$(KIPT_OUT)/deadly_kdumpfile.so: $(ROOT)/selftests/tool/deadly_kdumpfile.c
	@mkdir -p $(@D)
	@echo "  CC  deadly_kdumpfile"
	$(KIPT_Q)$(CC) -O2 -g $(CFLAGS) $(WARNINGS) -shared -fPIC -o $@ $< -ldl

kipt-test-programs: kipt kipt-pages
	@$(MAKE) --no-print-directory -f $(KIPT_DIR)/kipt.mk ROOT=$(ROOT) \
		BUILD=$(BUILD) KIPT_OUT=$(KIPT_OUT) $(addprefix $(KIPT_OUT)/, \
		jobs_test filter_test child_test ctl_test ending_test \
		killed_test program_test perf_write_test recording_test \
		names_test text_test kipt_fake \
		$(if $(KIPT_KDUMPFILE),deadly_kdumpfile.so))

kipt-test: kipt-test-programs
	$(ROOT)/selftests/tool/tool_test.sh $(KIPT_OUT)/kipt
