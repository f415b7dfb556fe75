# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the flow tests share: where things are, and when to skip. Sourced by
# the tests of this folder, which kselftest runs on a machine with PT.

FLOW_SRC=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
FLOW_BUILD=${FLOW_BUILD:-$FLOW_SRC/../../build/selftests/flow}
KIPT=${KIPT:-}
KSFT_SKIP=4

skip()
{
	echo "1..1"
	echo "ok 1 $TEST_NAME # SKIP $*"
	exit "$KSFT_SKIP"
}

pass()
{
	echo "1..1"
	echo "ok 1 $TEST_NAME"
	exit 0
}

fail()
{
	echo "# $*"
	echo "1..1"
	echo "not ok 1 $TEST_NAME"
	exit 1
}

# The tool that was built for this machine, or the installed one.
find_tool()
{
	local candidate

	for candidate in "$KIPT" "$FLOW_SRC/../../build/guest/kipt" \
		"$FLOW_SRC/../../build/kipt/kipt" "$(command -v kipt)"; do
		if [ -n "$candidate" ] && "$candidate" --version >/dev/null 2>&1; then
			KIPT=$candidate
			return 0
		fi
	done
	return 1
}

need_tracing()
{
	grep -qw intel_pt /proc/cpuinfo || skip "this CPU has no Intel PT"
	[ "$(id -u)" = 0 ] || skip "needs root"
	[ -c /dev/kipt ] || skip "the module kipt is not loaded"
	find_tool || skip "the tool kipt is not built: make kipt"
	WORK=$(mktemp -d "${TMPDIR:-/tmp}/kipt-flow.XXXXXX")
	trap 'rm -rf "$WORK"' EXIT
}

# choose_buffer SIZE: BUFFER has options of `kipt record` that keep all of a
# trace; on a CPU with one ToPA entry, as Broadwell, they keep its end.
choose_buffer()
{
	BUFFER=(--size "$1" --mode once)
	! "$KIPT" info | grep -q 'mode ring only' ||
		BUFFER=(--size 4M --mode ring)
}
