# SPDX-License-Identifier: GPL-2.0-only
#
# The test machine's targets. vm-setup fills the cache outside the clone,
# vm-clean removes what runs left in the clone and leaves the cache alone.

.PHONY: vm-setup vm-clean vm-lint

vm-setup:
	tools/vm/setup --ksft

vm-clean:
	rm -rf build/vm build/module

vm-lint:
	cd tools/vm && shellcheck -x -P ../.. setup run in-root build-module guest/session
