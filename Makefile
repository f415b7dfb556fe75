# SPDX-License-Identifier: GPL-2.0-only
# User-space side of the build; Kbuild is the kernel's. `make help` lists all.

ROOT := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))
BUILD := $(ROOT)/build

all:

-include kmod/decode/decode.mk tools/vm/vm.mk tools/testcpu/testcpu.mk
-include tools/kipt/kipt.mk selftests/selftests.mk

.PHONY: all
