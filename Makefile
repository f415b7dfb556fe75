# SPDX-License-Identifier: GPL-2.0-only
# User-space side of the build; Kbuild is the kernel's side. `make help` lists
# the targets. Each part brings its own fragment; outputs go to build/.

ROOT := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
BUILD := $(ROOT)/build
KERNELS ?= 6.1 6.12 new
PREFIX ?= /usr/local
KDIR ?= /lib/modules/$(shell uname -r)/build
BINDIR := $(PREFIX)/bin
LIBDIR := $(PREFIX)/lib/kipt
UNITDIR := $(PREFIX)/lib/systemd/system
# udev reads no rules below /usr/local/lib in older versions.
RULESDIR := /etc/udev/rules.d
SOURCEDIR = $(PREFIX)/src/kipt-$(KIPT_VERSION)
PLUGINDIR := $(PREFIX)/lib/pt-testcpu
UNITS := kipt-arm.service kipt-collect@.service
SHAREDIR := $(PREFIX)/share/kipt
MANDIR := $(PREFIX)/share/man/man1
# Where shells look for completions.
BASHDIR := $(PREFIX)/share/bash-completion/completions
ZSHDIR := $(PREFIX)/share/zsh/site-functions
FISHDIR := $(PREFIX)/share/fish/vendor_completions.d
KIPT_VERSION = $(shell sed -n 's/.*KIPT_VERSION.*"\(.*\)"/\1/p' kmod/lib/version.h)

CC ?= gcc
CFLAGS ?= -O2 -g
WARNINGS := -std=gnu11 -Wall -Wextra -Werror

.DEFAULT_GOAL := all

# V=1 shows the commands.
ifeq ($(V),)
.SILENT:
endif

include tools/objects.mk
include kmod/decode/decode.mk
include tools/vm/vm.mk
include tools/testcpu/testcpu.mk
include tools/kipt/kipt.mk
include tools/demo/demo.mk
include tools/fuzz/fuzz.mk
include tools/mutants/mutants.mk
include tools/bench/bench.mk
include selftests/random/random.mk
include selftests/decode/prove.mk
include selftests/oracle/oracle.mk
include selftests/sideband/sideband.mk
include selftests/crash/crash.mk
include selftests/messages/messages.mk
include selftests/nmi/nmi.mk
include selftests/selftests.mk
include selftests/crash/deaths.mk
include tools/stress/stress.mk
include tools/check/check.mk
include tools/debian/debian.mk

all: tools testcpu

tools: kipt kipt-pages

module:
	$(MAKE) -C $(KDIR) M=$(ROOT) modules

install-tool: install-program install-library

install-program: tools
	install -D -m 755 $(BUILD)/kipt/kipt $(DESTDIR)$(BINDIR)/kipt
	install -D -m 644 -t $(DESTDIR)$(MANDIR) $(BUILD)/kipt/man/*.1
	install -D -m 644 -t $(DESTDIR)$(BASHDIR) $(BUILD)/kipt/completions/kipt
	install -D -m 644 -t $(DESTDIR)$(ZSHDIR) $(BUILD)/kipt/completions/_kipt
	install -D -m 644 -t $(DESTDIR)$(FISHDIR) $(BUILD)/kipt/completions/kipt.fish
	install -D -m 644 -t $(DESTDIR)$(SHAREDIR) docs/schema/kipt.schema.json

install-library: tools
	install -D -m 644 $(BUILD)/kipt/public/libkipt.a \
		$(DESTDIR)$(PREFIX)/lib/libkipt.a
	install -D -m 644 tools/kipt/libkipt.h $(DESTDIR)$(PREFIX)/include/libkipt.h
	install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig
	sed 's:@PREFIX@:$(PREFIX):; s:@VERSION@:$(KIPT_VERSION):; s:@PACKAGES@:$(strip $(KIPT_PACKAGES) $(KIPT_ZSTD)):; s:@LIBRARIES@:$(strip $(KIPT_IBERTY) $(KIPT_ZYDIS)):' \
		tools/kipt/kipt.pc.in >$(DESTDIR)$(PREFIX)/lib/pkgconfig/kipt.pc

# Debian's headers have no System.map, so that modules_install makes no list of
# modules: depmod does.
install: install-tool install-helpers module kdump-guard
	$(MAKE) -C $(KDIR) M=$(ROOT) INSTALL_MOD_PATH=$(DESTDIR) modules_install
	$(if $(DESTDIR),,depmod $$($(MAKE) -s -C $(KDIR) kernelrelease))

install-helpers:
	install -D -m 644 -t $(DESTDIR)$(SHAREDIR) tools/drgn/kipt.py \
		tools/crash/kipt.crash
	install -d $(DESTDIR)$(UNITDIR) $(DESTDIR)$(LIBDIR)
	for unit in $(UNITS); do \
		sed 's:@BINDIR@:$(BINDIR):' tools/systemd/$$unit \
			>$(DESTDIR)$(UNITDIR)/$$unit || exit 1; \
	done
	install -D -m 644 -t $(DESTDIR)$(RULESDIR) tools/systemd/60-kipt.rules
	sed 's:@BINDIR@:$(BINDIR):; s:@LIBDIR@:$(LIBDIR):' \
		tools/kdump/kdump-config >$(DESTDIR)$(LIBDIR)/kdump-config
	chmod 755 $(DESTDIR)$(LIBDIR)/kdump-config

# What DKMS builds the module from, but for its own file.
install-source:
	install -d $(DESTDIR)$(SOURCEDIR)
	cp -R Kbuild kmod uapi $(DESTDIR)$(SOURCEDIR)

install-testcpu: testcpu
	install -D -m 644 -t $(DESTDIR)$(PLUGINDIR) $(BUILD)/testcpu/testcpu.so

# The text of an older version asked for the hook without a guard, by which kdump-tools
# loads and saves nothing once the hook is gone.
KDUMP_TOOLS := $(DESTDIR)/etc/default/kdump-tools
kdump-guard:
	if grep -qsx 'KDUMP_SCRIPT=$(LIBDIR)/kdump-config' $(KDUMP_TOOLS); then \
		sed -i 's:^KDUMP_SCRIPT=\($(LIBDIR)/kdump-config\)$$:[ ! -x \1 ] || &:' \
			$(KDUMP_TOOLS) && \
		echo "$(KDUMP_TOOLS): kdump-tools runs its own script where ours is gone"; \
	fi

# The module is where the kernel's makefiles put it; a unit that is enabled is
# to be disabled before.
uninstall: kdump-guard
	rm -f $(DESTDIR)$(BINDIR)/kipt $(DESTDIR)$(MANDIR)/kipt.1 \
		$(DESTDIR)$(MANDIR)/kipt-*.1 $(addprefix $(DESTDIR),$(BASHDIR)/kipt \
			$(ZSHDIR)/_kipt $(FISHDIR)/kipt.fish) \
		$(addprefix $(DESTDIR)$(PREFIX)/,lib/libkipt.a include/libkipt.h \
			lib/pkgconfig/kipt.pc) \
		$(addprefix $(DESTDIR)$(UNITDIR)/,$(UNITS)) \
		$(DESTDIR)$(RULESDIR)/60-kipt.rules
	rm -rf $(DESTDIR)$(LIBDIR) $(DESTDIR)$(SHAREDIR)
	if release=$$($(MAKE) -s -C $(KDIR) kernelrelease) && [ "$$release" ]; then \
		rm -f $(DESTDIR)/lib/modules/$$release/updates/kipt.ko* \
			$(DESTDIR)/lib/modules/$$release/extra/kipt.ko*; \
		$(if $(DESTDIR),,depmod $$release;) \
	fi
	if grep -qs '$(LIBDIR)/kdump-config' $(KDUMP_TOOLS); then \
		echo "$(KDUMP_TOOLS) still names the hook that is gone: kdump-tools saves dumps as ever, the line can be taken away"; \
	fi

clean:
	rm -rf $(BUILD)

help:
	@echo 'demo      set up the test machine, trace a real program in it, show it'
	@echo 'quick     what one runs at each edit, 10 seconds'
	@echo 'test      user-space tests; T=decode/flow_test FILTER=psb-ptw runs one'
	@echo 'check     what CI runs: lint, user-space tests, tests in the machine'
	@echo 'check-all everything there is, hours (PART=3/13, REPORT=1)'
	@echo 'all       the tool and the test CPU'
	@echo 'module    kipt.ko for the running kernel (KDIR= for another;'
	@echo '          CONFIG_KIPT_DECODE=n, CONFIG_KIPT_CRASH=n leave parts out)'
	@echo 'tools     the kipt tool'
	@echo 'vmtest    tests in the machine (KERNELS="6.1 6.12 new debug kcsan",'
	@echo '          T=uapi/session, FILTER=)'
	@echo 'suspend-test the machine suspended and hibernated while it traces'
	@echo 'vm-debug  build the kernel kcsan for it, too; vm-setup builds debug (KASAN, lockdep)'
	@echo 'testcpu-presets every generation of CPUs with PT, hours (PRESETS=, PRESET_TESTS=)'
	@echo 'coverage  statements of the decoder core that its tests run'
	@echo 'fuzz      libFuzzer on decoder and readers of files, SECONDS= each (SEED=)'
	@echo 'mutants   one-line changes of the decoder core and of what has unit tests (N=, SEED=)'
	@echo 'decode-prove each path that is taken held against the slow path (N=, SECONDS=)'
	@echo 'random    random programs against truth and libipt, N= from SEED= on'
	@echo 'oracle    a second decoder in Python against ours, SECONDS= (SEED=)'
	@echo 'bench     speed against libipt (BENCH_TRACES=, BENCH_MODES=, BENCH_REPORT=1)'
	@echo 'bench-smoke a short run of it that tests itself'
	@echo 'bench-perf speed against perf, on recordings of perf (BENCH_ROUNDS=)'
	@echo 'bench-html how long pages of --html take to make, to load, and for each step'
	@echo 'bench-record its traces of real programs, on the test CPU'
	@echo 'selftest  kselftests on the CPU of this computer'
	@echo 'tally     fuzzers and random programs for SECONDS=, added to tools/fuzz/tally.tsv'
	@echo 'fuzz-time what a trace can cost at most, in counted steps (SECONDS=)'
	@echo 'nlfuzz    netlink messages made from the specification (N=, SEED=)'
	@echo 'stress    all that can happen at the same time (SECONDS=, SEED=)'
	@echo 'crashtest machines that die by chance, armed and not (N=, SEED=)'
	@echo 'crash-pairs each way to die, setup, kernel, load with each other'
	@echo 'crash-cost instructions that being armed costs'
	@echo 'crash-table what of a death reaches console, vmcore and pstore'
	@echo 'crash-debian the five commands of docs/crash.md, and a death after them'
	@echo 'crash-readers drgn and crash(8) (VMLINUX=) on a dump'
	@echo 'leaks     each thing a thousand times (N=)'
	@echo 'extremes  a TSC beyond 2^56, resting readers, thousands of processes, many CPUs'
	@echo 'lint      style, layering and interface checks'
	@echo 'install-tool the tool, its man pages, completions of shells, libkipt (PREFIX, DESTDIR)'
	@echo 'install   module, tool, man pages, completions, systemd unit, helpers (PREFIX, DESTDIR)'
	@echo 'dist      build/kipt-VERSION.tar.gz of HEAD, the same bytes each time'
	@echo 'deb       packages of HEAD for this Debian, in build/deb/'
	@echo 'packages-test both, and the packages on bookworm and trixie'
	@echo 'uninstall takes away what install put there'
	@echo 'clean     remove build/'

.PHONY: all tools module install install-tool install-program install-library \
	install-helpers install-source install-testcpu uninstall kdump-guard clean help
