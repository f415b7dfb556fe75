# SPDX-License-Identifier: GPL-2.0-only
# The whole product in one command, on the test CPU.

demo: need
	tools/demo/demo

.PHONY: demo
