# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034,SC2086
#
# --drcov and --lcov: what read_coverage.py, which shares nothing with the writer, finds in
# the files, against the instructions that --insns shows. Sourced by tool_test.sh; uses what
# perf_tests.sh and record_tests.sh make.

read_coverage() {
	python3 "$HERE/read_coverage.py" "$@" 2>&1
}

# coverage_same NAME VERB FILE OPTION...: the blocks of drcov are the instructions
coverage_same() {
	local name=$1
	shift
	rm -f out.drcov
	"$KIPT" "$@" --insns --json >insns 2>/dev/null
	run "$@" --drcov out.drcov
	same "$name" "0  same" "$STATUS $OUT $(read_coverage drcov out.drcov insns)"
}

# A program of conditional branches alone: whatever TNTs say, there is a way. "never" never
# runs, nor does the unit of "apart.c".
walk_make() {
	mkdir -p sub
	cat >walk.h <<-'END'
	static inline __attribute__((always_inline)) unsigned step(unsigned x)
	{
		if (x & 1)
			x = x * 3 + 1;
		else
			x /= 2;
		return x;
	}
	END
	cat >walk.c <<-'END'
	#include "sub/.././walk.h"

	volatile unsigned seen;

	unsigned never(unsigned x)
	{
		return step(x) + 1;
	}

	void _start(void)
	{
		unsigned x = 1;

		for (;;) {
			for (x++; x < seen || x & 8; x = step(x))
				if (seen > 5 && x < 9)
					seen--;
			if (x == 3)
				x = step(x) +
				    seen;
			else
				seen = x ? 2 : 3;
		}
	}
	END
	printf '%s\n' 'int apart(int x)' '{' '	return x + 7;' '}' >apart.c
	# shellcheck disable=SC2068
	gcc -g -nostdlib -ffreestanding -fno-if-conversion -static-pie -fPIE \
		-fcf-protection=none -Wl,--build-id=sha1 $@ -o walk walk.c apart.c 2>/dev/null
}

# walk_trace BIAS: the program there, and a trace of it by bits from a seed
walk_trace() {
	python3 - "$1" "$(readelf -hW walk | sed -n 's/.*Entry point address: *//p')" <<-'PYTHON'
	import random, struct, sys
	r = random.Random(7)
	at = int(sys.argv[1], 0) + int(sys.argv[2], 0)
	out = b"\x02\x82" * 8 + b"\x99\x01\x02\x23\x71" + struct.pack("<Q", at)[:6]
	for _ in range(2000):
	    out += bytes([1 << 7 | r.randrange(64) << 1])
	open("walk.pt", "wb").write(out)
	PYTHON
	make_perf walk.data walk.pt map="$PWD/walk@$1"
}

# Files whose addresses are their offsets, moved ones, and ones where both differ.
coverage_walk_tests() {
	local form bias
	for form in "-O0 0x0" "-O0 0x555555554000" "-O2 0x10000000" \
		"-O1 0x7f0000000000 -Wl,-Ttext=0x23000"; do
		read -r level bias more <<<"$form"
		walk_make $level $more || { skip "coverage_$form" "gcc makes no program"; continue; }
		walk_trace "$bias"
		coverage_same "drcov_is_insns $form" decode walk.data
		same "drcov_module $form" "$PWD/walk" "$(read_coverage drcov out.drcov |
			sed -n '1s/^[^ ]* //p')"
		run decode walk.data --lcov out.info
		same "lcov_sources $form" "$PWD/walk.c $PWD/walk.h" \
			"$(sed -n 's/^SF://p' out.info | sort | xargs)"
		# Nothing of it ran: its unit is not there.
		same "lcov_without_other_units $form" "0 0" "$STATUS $(grep -c apart out.info)"
		same "lcov_function_lines $form" \
			"$(grep -n '^{' walk.c | cut -d: -f1 | xargs)" \
			"$(sed -n '\,^SF:.*walk.c,,/^FNF/s/^FN:\(.*\),.*/\1/p' out.info |
				sort -n | xargs)"
		same "lcov_is_insns $form" "same" \
			"$(read_coverage lcov out.info insns walk "$bias")"
	done
}

# Threads, what is chosen, and records that were kept; the last trace of the walk.
coverage_view_tests() {
	local form
	"$KIPT" decode walk.data --drcov all.drcov 2>/dev/null
	"$KIPT" decode walk.data --lcov all.info 2>/dev/null
	for form in "--jobs 1" "--jobs 3" "--pid 100"; do
		run decode walk.data --drcov out.drcov --lcov out.info $form
		same "coverage_both $form" "0 $(cat all.drcov all.info | md5sum)" \
			"$STATUS $(cat out.drcov out.info | md5sum)"
	done
	"$KIPT" decode walk.data --insns -o walk.rec 2>/dev/null
	coverage_same "drcov_of_records" show walk.rec
	coverage_same "drcov_of_opened_records" open walk.rec
	run show walk.rec --lcov out.info
	same "lcov_of_records" "$(md5sum <all.info)" "$(md5sum <out.info)"
	"$KIPT" decode walk.data --lcov - 2>/dev/null >out.info
	same "lcov_to_standard_output" "$(md5sum <all.info)" "$(md5sum <out.info)"
	"$KIPT" decode walk.data --drcov - 2>/dev/null >out.drcov
	same "drcov_to_standard_output" "$(md5sum <all.drcov)" "$(md5sum <out.drcov)"
	coverage_same "drcov_of_image" decode walk.pt --image walk@0x7f0000000000
}

# The checker finds what is wrong.
coverage_control_tests() {
	"$KIPT" decode walk.data --insns --json >insns 2>/dev/null
	head -c -8 all.drcov >out.drcov
	same "drcov_control_cut" "wrong: " "$(read_coverage drcov out.drcov insns | cut -c 1-7)"
	python3 -c '
data = bytearray(open("all.drcov", "rb").read())
data[-8] += 1
open("out.drcov", "wb").write(data)'
	same "drcov_control_moved" 1 "$(read_coverage drcov out.drcov insns | grep -c "^not the same")"
	sed '0,/^DA:\(.*\),.*/s//DA:\1,77777/' all.info >out.info
	same "lcov_control_count" 1 "$(read_coverage lcov out.info insns walk 0x7f0000000000 |
		grep -c 77777)"
	sed '0,/^LH:/s//LH:1/' all.info >out.info
	same "lcov_control_sum" "wrong: sums" "$(read_coverage lcov out.info)"
}

# insn ADDRESS SIZE: one of the current CPU
insn() { echo "20 0 0 $2 $1 0"; }

# Instructions of two CPUs and two processes, which share a file, and an address in others; the kernel and a module of
# it; memory that is in no file.
coverage_known_tests() {
	{ cat kallsyms; echo "ffffffffa0000230 t first_of	[mod]"
	  echo "ffffffffa0000330 t last_of	[mod]"
	  echo "ffffffffa0003000 t bpf_prog_1	[bpf]"; } >kallsyms.mod
	{ cpu 0; task 7; insn 0x401000 3; insn 0x401003 2; tsc 5; insn 0x401005 2
	  cpu 1; insn 0xffffffff81000110 4; insn 0xffffffff81000114 1
	  cpu 0; task 4103; insn 0x501003 2; insn 0x501005 2; insn 0x900000 1
	  insn 0x401003 2; insn 0x401005 2
	  task 7; insn 0x401003 9; insn 0xffffffffa0000230 4
	  insn 0xffffffffa0003001 2; insn 0xffffffff81000110 4; } | records known.rec
	cat >known.maps <<-END
	kipt-maps 1
	process 7 one
	map 400000 402000 0 $PWD/none,of that
	process 4103 two
	map 500000 502000 0 $PWD/none,of that
	map 400000 402000 1000 $PWD/other
	END
	run show known.rec --kallsyms kallsyms.mod --maps known.maps --drcov out.drcov
	same "drcov_known" "0 400000-40100c $PWD/none,of that
ffffffff81000000-ffffffff81001000 kernel
3ff000-401007 $PWD/other
ffffffffa0000000-ffffffffa0001000 mod
7 blocks" "$STATUS $(read_coverage drcov out.drcov)"
	same "drcov_says_what_is_in_no_file" 1 "$(grep -c 'in no file ran 2 times' err)"
}

coverage_narrow_tests() {
	local dir=$ROOT/selftests/perf/small form
	if ! command -v zstd >/dev/null; then
		skip "drcov_kept" "no zstd"
		skip "lcov_without_debug_information" "no zstd"
		skip "lcov_makes_no_file_of_nothing" "no zstd"
		return
	fi
	kept_unpack "$dir"
	export PERF_BUILDID_DIR=ids
	for form in "" "--jobs 3" "--tid 201" "--time 1750us,1800us" "--comm small"; do
		coverage_same "drcov_kept $form" decode kept.data $form
	done
	refused "lcov_without_debug_information" 1 "none of the files.*debug information" \
		open kept.data --lcov new.info
	same "lcov_makes_no_file_of_nothing" "" "$(ls new.info 2>/dev/null)"
	unset PERF_BUILDID_DIR
}

coverage_refused_tests() {
	local kind
	for kind in drcov lcov; do
		own_file_refused $kind decode walk.data
		refused "${kind}_and_totals" 2 "only one of .*--$kind" \
			decode walk.data --totals --$kind new.out
		full "${kind}_standard_output" decode walk.data --$kind -
		echo mine >mine.out
		known_calls | records calls.rec
		refused "${kind}_without_instructions" 1 "--$kind: no instruction is in the trace" \
			show calls.rec --$kind mine.out
		refused "${kind}_of_no_records" 1 "no-file" show no-file --$kind mine.out
		same "${kind}_keeps_what_was_there" mine "$(cat mine.out)"
	done
	{ cpu 0; insn 0x900000 1; } | records mine.rec
	refused "drcov_of_no_file" 1 "none of the code that ran is in a file" show mine.rec \
		--drcov mine.out
	same "drcov_of_no_file_keeps_what_was_there" mine "$(cat mine.out)"
	refused "coverage_of_one_name" 2 "give each a name of its own" decode walk.data \
		--lcov new.out --drcov new.out
	same "coverage_makes_no_file_of_nothing" "" "$(ls new.out 2>/dev/null)"
}

# What lcov itself makes of it.
coverage_lcov_tests() {
	command -v genhtml >/dev/null || { skip coverage_lcov "no lcov"; return; }
	lcov --summary all.info >summary 2>&1
	same "lcov_summary" "0 $(awk -F: '/^LF:/ { all += $2 } /^LH:/ { hit += $2 }
		END { print hit, all }' all.info)" \
		"$? $(sed -n 's/.*lines.*(\([0-9]*\) of \([0-9]*\) lines).*/\1 \2/p' summary)"
	quiet "lcov_genhtml" genhtml -q -o html all.info
	same "lcov_genhtml_pages" 1 "$(find html -name 'walk.c.gcov.html' | wc -l)"
}

coverage_tests() {
	make_kallsyms
	coverage_walk_tests
	coverage_view_tests
	coverage_control_tests
	coverage_lcov_tests
	coverage_refused_tests
	coverage_narrow_tests
	coverage_known_tests
}
