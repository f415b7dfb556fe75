# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# Runs the tool for a test, in a folder of its own that goes away in the end.
# Needs ktap.sh. Sourced.

KIPT=$(realpath "$1")
# What is built for the tests.
# shellcheck disable=SC2034
PROGRAMS=$(dirname "$KIPT")
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
cd "$WORK" || exit 1

# is_short: whether what takes a while is left out or done less often
is_short() {
	[ -n "${KIPT_TEST_SHORT:-}" ]
}

# fewer WHOLE SHORT: how many seeds, threads or events there are, or are if is_short
fewer() {
	if is_short; then
		echo "$2"
	else
		echo "$1"
	fi
}

# run ARGS...: output in $OUT, errors in $ERR, exit status in $STATUS
run() {
	# shellcheck disable=SC2034
	OUT=$("$KIPT" "$@" 2>err </dev/null)
	STATUS=$?
	ERR=$(<err)
}

# refused NAME STATUS PATTERN ARGS...: exit status and sentence
refused() {
	local name=$1 status=$2 pattern=$3
	shift 3
	run "$@"
	if [ "$STATUS" = "$status" ] && grep -qE -e "$pattern" <<<"$ERR"; then
		ok "$name"
	else
		not_ok "$name" "exit $STATUS, want $status and '$pattern'
$ERR"
	fi
}
