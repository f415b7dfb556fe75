# SPDX-License-Identifier: GPL-2.0-only
# User-space side of the build; Kbuild is the kernel's side. `make help` lists
# the targets. Each part brings its own fragment; outputs go to build/.

ROOT := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
BUILD := $(ROOT)/build
KERNELS ?= 6.1 6.12 7.2
PREFIX ?= /usr/local
KDIR ?= /lib/modules/$(shell uname -r)/build

CC ?= gcc
CFLAGS ?= -O2 -g
WARNINGS := -std=gnu11 -Wall -Wextra -Werror

.DEFAULT_GOAL := all

# V=1 shows the commands.
ifeq ($(V),)
.SILENT:
endif

include kmod/decode/decode.mk
include tools/vm/vm.mk
include tools/testcpu/testcpu.mk
include tools/kipt/kipt.mk
include tools/check/check.mk
include tools/demo/demo.mk
include tools/fuzz/fuzz.mk
include tools/bench/bench.mk
include selftests/random/random.mk
include selftests/sideband/sideband.mk
include selftests/crash/crash.mk
include selftests/messages/messages.mk
include selftests/selftests.mk
include selftests/crash/deaths.mk
include tools/stress/stress.mk

all: tools testcpu

tools: kipt

module:
	$(MAKE) -C $(KDIR) M=$(ROOT) modules

test: decode-test random-test testcpu-test kipt-test flow-compare-test \
	sideband-test crash-test crash-pages-test messages-test vm-console-test \
	stress-judge-test

install: tools
	$(MAKE) -C $(KDIR) M=$(ROOT) modules_install
	install -D -m 755 $(BUILD)/kipt/kipt $(DESTDIR)$(PREFIX)/bin/kipt
	install -D -m 644 tools/kipt/kipt.1 \
		$(DESTDIR)$(PREFIX)/share/man/man1/kipt.1
	install -d $(DESTDIR)$(PREFIX)/lib/systemd/system
	sed 's:@BINDIR@:$(PREFIX)/bin:' tools/systemd/kipt-arm.service \
		>$(DESTDIR)$(PREFIX)/lib/systemd/system/kipt-arm.service

clean:
	rm -rf $(BUILD)

help:
	@echo 'demo      set up the test machine, trace a real program in it, show it'
	@echo 'check     everything: lint, user-space tests, tests in the machine'
	@echo 'all       the tool and the test CPU'
	@echo 'module    kipt.ko for the running kernel (KDIR= for another)'
	@echo 'tools     the kipt tool'
	@echo 'test      user-space tests'
	@echo 'vmtest    tests in the machine (KERNELS="6.1 6.12 7.2 debug kcsan")'
	@echo 'suspend-test the machine suspended and hibernated while it traces'
	@echo 'vm-debug  build the kernels debug (KASAN, lockdep, ...) and kcsan for it'
	@echo 'testcpu-presets every generation of CPUs with PT, hours (PRESETS=, PRESET_TESTS=)'
	@echo 'coverage  statements of the decoder core that its tests run'
	@echo 'fuzz      libFuzzer on decoder and readers of files, SECONDS= each'
	@echo 'random    random programs against truth and libipt, N= from SEED= on'
	@echo 'bench     speed against libipt (BENCH_TRACES=, BENCH_MODES=, BENCH_REPORT=1)'
	@echo 'bench-smoke a short run of it that tests itself'
	@echo 'bench-record its traces of real programs, on the test CPU'
	@echo 'selftest  kselftests on the CPU of this computer'
	@echo 'nlfuzz    netlink messages made from the specification (N=, SEED=)'
	@echo 'stress    all that can happen at the same time (SECONDS=, SEED=)'
	@echo 'crashtest machines that die by chance, armed and not (N=, SEED=)'
	@echo 'crash-pairs each way to die, setup, kernel, load with each other'
	@echo 'crash-cost instructions that being armed costs'
	@echo 'leaks     each thing a thousand times (N=)'
	@echo 'extremes  a TSC beyond 2^56, resting readers, thousands of processes, many CPUs'
	@echo 'lint      style, layering and interface checks'
	@echo 'install   module, tool, man page and systemd unit (PREFIX, DESTDIR)'
	@echo 'clean     remove build/'

.PHONY: all tools module test install clean help
