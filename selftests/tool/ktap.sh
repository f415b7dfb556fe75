# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# KTAP for shell tests: ok and not_ok print a result, finish the plan and the
# exit status. Sourced.

# A test at the end of a pipe counts, too: not in a process of its own.
shopt -s lastpipe

KTAP_COUNT=0 KTAP_FAILED=0

# Programs of the tests need only the standard library. Where many packages are installed,
# Python takes longer to look at these than most of the programs take to run.
python3() {
	command python3 -S "$@"
}

ktap_start() {
	echo "TAP version 13"
}

ok() {
	KTAP_COUNT=$((KTAP_COUNT + 1))
	echo "ok $KTAP_COUNT $1"
}

# not_ok NAME TEXT: prints TEXT, which says what was wrong, before the result.
not_ok() {
	KTAP_COUNT=$((KTAP_COUNT + 1))
	KTAP_FAILED=$((KTAP_FAILED + 1))
	printf '%s\n' "$2" | head -n 20 | sed 's/^/# /'
	echo "not ok $KTAP_COUNT $1"
}

skip() {
	KTAP_COUNT=$((KTAP_COUNT + 1))
	echo "ok $KTAP_COUNT $1 # SKIP $2"
}

# same NAME WANT GOT
same() {
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "want: $2
got:  $3"
	fi
}

# differ NAME UNWANTED GOT: the control of a comparison must fail it.
differ() {
	if [ "$2" != "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "both are: $2"
	fi
}

ktap_finish() {
	echo "1..$KTAP_COUNT"
	[ "$KTAP_FAILED" = 0 ]
}
