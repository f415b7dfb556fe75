#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2034
#
# What the flow tests share: where things are, and when to skip. Sourced by
# the tests of this folder, which kselftest runs on a machine with PT, from the
# folder where all they need was put.

FLOW=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
KSFT_SKIP=4
PASSED=

echo "TAP version 13"
echo "1..1"

skip()
{
	PASSED=1
	echo "ok 1 $TEST_NAME # SKIP $*"
	exit "$KSFT_SKIP"
}

pass()
{
	PASSED=1
	echo "ok 1 $TEST_NAME"
	exit 0
}

fail()
{
	echo "# $*"
	echo "not ok 1 $TEST_NAME"
	exit 1
}

# What the machine has to have; where KIPT_REQUIRE=1 promises that, it fails.
lack()
{
	[ "${KIPT_REQUIRE:-}" != 1 ] || fail "KIPT_REQUIRE=1, but $*"
	skip "$*"
}

# The tool that KIPT names, that was installed with the tests, that was built in
# the source tree they run from, or that is installed.
find_tool()
{
	local candidate

	for candidate in "${KIPT:-}" "$FLOW/kipt" \
		"${KIPT_TREE:+$KIPT_TREE/build/kipt/kipt}" \
		"$(command -v kipt)"; do
		if [ -n "$candidate" ] && "$candidate" --version >/dev/null 2>&1; then
			KIPT=$candidate
			return 0
		fi
	done
	return 1
}

# need_tracing PROGRAM...: those of this folder that the test runs.
need_tracing()
{
	local program

	grep -qw intel_pt /proc/cpuinfo || lack "this CPU has no Intel PT"
	[ "$(id -u)" = 0 ] || lack "needs root"
	[ -c /dev/kipt ] || lack "the module kipt is not loaded"
	find_tool || lack "the tool kipt is not built: make kipt"
	for program; do
		[ -x "$FLOW/$program" ] || lack "$program is not built"
	done
	WORK=$(mktemp -d "${TMPDIR:-/tmp}/kipt-flow.XXXXXX")
	trap leave EXIT
}

# What a test that fails, or is ended, has recorded goes to the folder KIPT_KEEP.
leave()
{
	[ -n "$PASSED" ] || [ -z "${KIPT_KEEP:-}" ] ||
		cp -r "$WORK" "$KIPT_KEEP/$TEST_NAME"
	rm -rf "$WORK"
}

# record OPTION...: of `kipt record`; with the raw trace, where that may be kept.
record()
{
	"$KIPT" record ${KIPT_KEEP:+--save "$WORK/saved"} "$@"
}

# choose_buffer SIZE: BUFFER has options of `kipt record` that keep all of a
# trace; on a CPU with one ToPA entry, as Broadwell, they keep its end.
choose_buffer()
{
	BUFFER=(--size "$1" --mode once)
	! "$KIPT" info | grep -q 'mode ring only' ||
		BUFFER=(--size 4M --mode ring)
}
