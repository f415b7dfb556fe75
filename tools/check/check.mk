# SPDX-License-Identifier: GPL-2.0-only
# What CI runs, and the packages it needs.

CHECK := tools/check

need:
	$(CHECK)/need

lint: need
	$(CHECK)/lint

check: need
	$(CHECK)/check

.PHONY: need lint check
