#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests of the kipt tool that need neither root, module nor PT. Prints KTAP.
# Usage: tool_test.sh KIPT [PART...]
#
# PART is usage, pages, packet, record, decode, jobs, part, program, trace, perf, perf_text,
# disasm, coverage, bolt, docs, schema, crash, core, variant or library; all of them unless given.
#
# KIPT_TRACES  folder with real-hardware.tar.xz and its README.md with the
#              table of expected values; beside the clone unless set
set -uo pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
# shellcheck disable=SC2034
TRACES=${KIPT_TRACES:-$ROOT/../shared/traces}
# shellcheck source=selftests/tool/ktap.sh
. "$HERE/ktap.sh"

# shellcheck source=selftests/tool/run_kipt.sh
. "$HERE/run_kipt.sh"

# shellcheck disable=SC2034
VERBS="info doctor start stop status fetch delete arm disarm record show open diff merge decode packets crash core"

# python3 SCRIPT ARGS...: compiled once. Python keeps what it compiles of modules, but compiles the
# script itself each time, which takes longer than most of ours run.
python3() {
	local script=${1-} compiled=$WORK/.compiled/${1##*/}c
	if [[ $script != "$HERE"/*.py ]]; then
		command python3 -S "$@"
		return
	fi
	[ -e "$compiled" ] || command python3 -S -c 'import py_compile, sys
py_compile.compile(sys.argv[1], sys.argv[2], dfile=sys.argv[1], doraise=True)' \
		"$script" "$compiled" || return
	PYTHONPATH=$HERE command python3 -S "$compiled" "${@:2}"
}

# bytes HEX...: to standard output; each HEX is one byte or more
bytes() {
	local hex text=""
	for hex; do
		while [ -n "$hex" ]; do
			text+="\\x${hex:0:2}"
			hex=${hex:2}
		done
	done
	printf '%b' "$text"
}

# le COUNT NUMBER: as so many bytes in hexadecimal, the lowest first
le() {
	local i
	for ((i = 0; i < $1; i++)); do
		printf '%02x ' $((i < 8 ? $2 >> 8 * i & 0xff : 0))
	done
}

# shellcheck disable=SC2034
PSB="02 82 02 82 02 82 02 82 02 82 02 82 02 82 02 82"

records() {
	"$PROGRAMS/make_records" "$@"
}

# records_by FILE CODE: for so many that lines of them would take long. CODE is Python; it
# adds record(TYPE, KIND, FLAGS, AUX, IP, VALUE) to the list "out".
records_by() {
	python3 -c 'import struct, sys
record = struct.Struct("<BBHIQQ").pack
out = [record(0, 2, 24, 0, 0x534345525450494B, 0)]
exec(sys.argv[2])
open(sys.argv[1], "wb").write(b"".join(out))' "$@"
}

. "$HERE/usage_tests.sh"
. "$HERE/pages_tests.sh"
. "$HERE/doctor_tests.sh"
. "$HERE/info_tests.sh"
. "$HERE/packet_tests.sh"
. "$HERE/record_tests.sh"
. "$HERE/own_file_tests.sh"
. "$HERE/totals_tests.sh"
. "$HERE/perfetto_tests.sh"
. "$HERE/firefox_tests.sh"
. "$HERE/html_tests.sh"
. "$HERE/diff_tests.sh"
. "$HERE/narrow_tests.sh"
. "$HERE/stretch_tests.sh"
. "$HERE/lost_tests.sh"
. "$HERE/slowest_tests.sh"
. "$HERE/sym_tests.sh"
. "$HERE/decode_tests.sh"
. "$HERE/jobs_tests.sh"
. "$HERE/part_tests.sh"
. "$HERE/trace_tests.sh"
. "$HERE/crash_tests.sh"
# shellcheck source=selftests/perf/recorded.sh
. "$HERE/../perf/recorded.sh"
. "$HERE/core_tests.sh"
. "$HERE/perf_tests.sh"
. "$HERE/inline_tests.sh"
. "$HERE/perf_text_tests.sh"
. "$HERE/others_tests.sh"
. "$HERE/disasm_tests.sh"
. "$HERE/coverage_tests.sh"
. "$HERE/bolt_tests.sh"
. "$HERE/docs_tests.sh"
. "$HERE/schema_tests.sh"
. "$HERE/variant_tests.sh"
. "$HERE/library_tests.sh"

# What a program reports that is built beside the tool.
program_tests() {
	local program line
	program=$(dirname "$KIPT")/$1
	if [ ! -x "$program" ]; then
		skip "$1" "it is not built beside the tool"
		return
	fi
	while IFS= read -r line; do
		case $line in
		"ok "*) ok "${line#ok * }" ;;
		"not ok "*) not_ok "${line#not ok * }" "$1 says so" ;;
		esac
	done < <("$program" 2>"$1.notes" || echo "not ok 0 $1_ends_well")
	# Not meanwhile: parts of its sentences would be in lines of results.
	sed 's/^/# /' "$1.notes"
}

# The programs that test a part of the tool each.
all_program_tests() {
	local program

	for program in jobs filter child ctl ending killed program recording names; do
		program_tests "${program}_test"
	done
}

# parts NAME...: the tests of these.
parts() {
	local part

	for part; do
		case $part in
		usage | pages | packet | record | decode | jobs | part | trace | perf | perf_text | disasm | coverage | bolt | docs | schema | crash | core | variant | library) "${part}_tests" ;;
		program) all_program_tests ;;
		*) not_ok "part_$part" "there is no such part" ;;
		esac
	done
}

shift
(($#)) || set -- usage pages packet record decode jobs part program trace perf perf_text disasm coverage bolt docs schema crash core variant library
ktap_start
parts "$@"
ktap_finish
