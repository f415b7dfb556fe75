# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2086,SC2154
#
# --part I/N: parts put together are the whole; kipt merge: sums are those of the whole,
# whatever is added first. Sourced by tool_test.sh after jobs_tests.sh and perf_tests.sh,
# whose traces it decodes.

PART_FORMS=("--branches" "--insns" "--branches --time" "--disasm --time" "--json"
	"--calls --json" "--insns --json" "--branches --time --json")

# whole_of FORM ARGS...: what is shown of all; JSON without the summary, which is no part's
whole_of() {
	local form=$1
	shift
	"$KIPT" decode "$@" $form 2>err | if [[ $form = *json* ]]; then sed '$d'; else cat; fi
}

# parts_of N FORM ARGS...: what all parts show, one after the other
parts_of() {
	local count=$1 form=$2 number
	shift 2
	for ((number = 1; number <= count; number++)); do
		"$KIPT" decode "$@" $form --part $number/$count 2>>err || echo "exit $?"
	done
}

# same_parts NAME ARGS...: each form, cut into each of $COUNTS parts; without COUNTS from
# one part up to more than there are PSBs, that many of one form only
same_parts() {
	local name=$1 form count counts
	shift
	for form in "${PART_FORMS[@]}"; do
		case $form in
		"${PART_FORMS[0]}") counts=$(fewer "1 2 3 7" "1 3 7") ;;
		"--disasm --time") counts=$(fewer "1 2 3 7 100" 3) ;;
		*) counts=$(fewer "1 2 3 7" 3) ;;
		esac
		whole_of "$form" "$@" >whole
		for count in ${COUNTS:-$counts}; do
			parts_of $count "$form" "$@" >together
			if [ -s whole ] && cmp -s whole together; then
				ok "part_${name}_${form// /_}_$count"
			else
				not_ok "part_${name}_${form// /_}_$count" \
					"$(diff whole together | head -n 10)"
			fi
		done
	done
}

# What the control says: parts are seen to differ where one of them is missing.
part_control_tests() {
	whole_of --branches timed.pt $CODE_AT >whole
	parts_of 3 --branches timed.pt $CODE_AT >together
	"$KIPT" decode timed.pt $CODE_AT --branches --part 2/3 >one 2>err
	differ "part_control_one_is_missing" "$(md5sum <whole)" \
		"$(grep -vFxf one together | md5sum)"
	# A part decodes its own bytes and one PSB before them.
	same "part_decodes_its_bytes" yes "$("$KIPT" decode large.pt $CODE_AT --totals --json \
		--part 3/4 2>err | python3 -c 'import json, sys
print("yes" if json.loads(sys.stdin.readlines()[-1])["trace_bytes"] < 120000 else "no")')"
}

# Two CPUs on which processes take turns, and samples of another event between.
part_perf_make() {
	local turns="" time
	python3 -c '
import random
rand, tsc, out = random.Random(5), 10, b""
for i in range(40):
    out += bytes([2, 0x82] * 8) + b"\x19" + tsc.to_bytes(7, "little") + b"\x99\1"
    out += b"\2\x23\x51\x00\x10\x40\x00" if not i else b"\x5d\x00\x10\x40\x00\2\x23"
    for j in range(rand.randrange(30)):
        out += rand.choice((b"\4", b"\6")) + b"\x2d\x00\x10"
        tsc += rand.randrange(4)
        out += b"\x19" + tsc.to_bytes(7, "little") if j % 4 == 0 else b""
open("turns.pt", "wb").write(out)'
	for time in 60 150 155 320 430 500 510 640 800; do
		turns+=" turn=$((100 + time / 10 % 3))@$time turn=$((100 + time / 5 % 2))@$time:1"
		turns+=" sample=cycles@$((time + 3)):0x401000:$((time / 10 % 2))"
	done
	make_perf turns.data turns.pt two lasted=1 $turns sample=cycles@5000:0x401000:0 "$@"
}

part_equality_tests() {
	local trace
	trace timed.pt 4000 --times
	trace trouble.pt 4000 --trouble --times
	trace late.pt 4000 --head 2000 --cut 3
	trace none.pt 1 --head 3000 --psb-every 0
	trace single.pt 10 --psb-every 2
	trace large.pt 400000 --times
	same_parts timed timed.pt $CODE_AT
	COUNTS=7 same_parts trouble trouble.pt $CODE_AT
	COUNTS=3 same_parts late late.pt $CODE_AT
	COUNTS="1 3" same_parts single single.pt $CODE_AT
	COUNTS=3 same_parts three_threads trouble.pt $CODE_AT --jobs 3
	part_perf_make
	same_parts two_cpus turns.data $CODE_AT
	part_perf_make piece=512
	COUNTS=7 same_parts pieces turns.data $CODE_AT
	part_perf_make lost=700
	COUNTS=3 same_parts gap turns.data $CODE_AT
	# A clock that was set back: what is before a part is decoded from the begin on.
	cat timed.pt <(trace again.pt 2000 --times && cat again.pt) >back.pt
	COUNTS=3 same_parts clock_set_back back.pt $CODE_AT
	run decode none.pt $CODE_AT --branches --part 1/2
	same "part_no_psb_fails" 1 "$STATUS"
}

# Traces and recordings that real tools wrote.
part_real_tests() {
	if command -v zstd >/dev/null; then
		kept_unpack "$ROOT/selftests/perf/small"
		PERF_BUILDID_DIR=ids COUNTS=3 same_parts kept kept.data
	else
		skip "part_kept" "no zstd"
	fi
	if [ -f "$TRACES/real-hardware.tar.xz" ]; then
		tar -xJf "$TRACES/real-hardware.tar.xz"
		COUNTS=3 same_parts real xdc-foo.pt --pages xdc-foo
		merge_whole real xdc-foo.pt --pages xdc-foo
	else
		skip "part_real" "no real-hardware.tar.xz"
	fi
}

part_usage_tests() {
	local part
	for part in 0/3 4/3 1/0 x 3 1/ /3 1/65537 1/2/3 -1/2 99999999999999999999/3 1/x ""; do
		refused "part_bad_$part" 2 "part $part: I/N is meant, .* N at most 65536" \
			decode timed.pt --branches --part "$part"
	done
	for part in "" --calls --lost --folded "--slowest f" "--html x" "--perfetto x" \
		"--firefox x" "--drcov x" "--lcov x" "--bolt x" "--autofdo x"; do
		refused "part_of_no_view_$part" 2 "may need what came in parts before" \
			open timed.pt $part --part 1/2
	done
	for part in "-o x" --stats --hash "--sym f" "--cpu 1" "--pid 1" "--tid 1" "--comm x" \
		"--time 1,2" "--top 3"; do
		refused "part_with_$part" 2 "does not go with it" \
			open timed.pt --branches $part --part 1/2
	done
	refused "part_packed" 2 "packed does not go with it" decode timed.pt --branches --packed x \
		--part 1/2
	for part in counts totals; do
		refused "part_of_${part}_as_text" 2 "$part needs --json, so that 'kipt merge'" \
			open timed.pt --$part --part 1/2
	done
	"$KIPT" decode timed.pt $CODE_AT -o timed.rec 2>err
	refused "part_of_records" 2 "are for traces" open timed.rec --branches --part 1/2
}

# parts_to N VIEW ARGS...: a file for each part, in $FILES
parts_to() {
	local count=$1 view=$2 number
	shift 2
	FILES=""
	for ((number = 1; number <= count; number++)); do
		"$KIPT" decode "$@" $view --json --part $number/$count >part.$number 2>err ||
			echo "exit $?"
		FILES+=" part.$number"
	done
}

# rows: of all but the summary
rows() {
	sed '$d'
}

# merge_whole NAME ARGS...: branches and calls of parts are those of the whole; counts,
# and the order of all rows, too
merge_whole() {
	local name=$1 view count
	shift
	for view in --counts --totals; do
		"$KIPT" decode "$@" $view --json >whole 2>err
		same "merge_${name}_of_one_$view" "$("$KIPT" merge whole --json | rows | sort | md5sum)" \
			"$(rows <whole | sort | md5sum)"
		for count in $(fewer "2 7" 3); do
			parts_to $count $view "$@"
			same "merge_${name}_${view}_$count" \
				"$("$KIPT" merge whole --json | merged_numbers)" \
				"$("$KIPT" merge $FILES --json | merged_numbers)"
		done
	done
}

# What parts and the whole have in common; times of calls only where no call was cut.
merged_numbers() {
	python3 -c 'import json, sys
for o in map(json.loads, sys.stdin):
    if o["type"] == "summary":
        print(o["records"], o["branches"], o["executed"], o["gaps"])
        continue
    for name in list(o):
        if name.startswith("longest") or name == "total":
            del o[name]
    print(sorted(o.items()))' | sort | md5sum
}

merge_order_tests() {
	local view
	for view in --counts --totals; do
		parts_to 3 $view trouble.pt $CODE_AT
		"$KIPT" merge part.1 part.2 --json >ab
		"$KIPT" merge part.2 part.3 --json >bc
		"$KIPT" merge part.1 part.2 part.3 --json >abc
		same "merge_${view}_left" "$(md5sum <abc)" "$("$KIPT" merge ab part.3 --json | md5sum)"
		same "merge_${view}_right" "$(md5sum <abc)" "$("$KIPT" merge part.1 bc --json | md5sum)"
		same "merge_${view}_any_order" "$(md5sum <abc)" \
			"$("$KIPT" merge part.3 part.1 part.2 --json | md5sum)"
		same "merge_${view}_one_stream" "$(md5sum <abc)" \
			"$(cat part.2 part.1 part.3 | "$KIPT" merge - --json | md5sum)"
		same "merge_${view}_of_itself" "$(md5sum <abc)" "$("$KIPT" merge abc --json | md5sum)"
		differ "merge_${view}_control" "$(md5sum <abc)" \
			"$("$KIPT" merge part.1 part.2 --json | md5sum)"
		# Numbers of the text are those of one trace, but for the names of processes.
		same "merge_${view}_text" "$("$KIPT" decode trouble.pt $CODE_AT $view 2>err |
			sed 's/  -- .*//' | sort)" "$("$KIPT" merge abc 2>err | sed 's/  -- .*//' | sort)"
		same "merge_${view}_summary" "$("$KIPT" decode trouble.pt $CODE_AT $view 2>&1 >out |
			grep -o '^[0-9]* branches')" "$("$KIPT" merge abc 2>&1 >out |
			grep -o '^[0-9]* branches')"
	done
}

row() {
	printf '{"type":"total","symbol":"f","object":"%s","ip":"0x1","branches":%s,"calls":1,"self":%s,"total":9,"longest":%s,"longest_tsc":5,"tsc_khz":%s}\n' "$@"
}

summary() {
	echo '{"type":"summary","records":1,"branches":1,"insns":0,"executed":1,"gaps":{"overflow":1},"trace_bytes":1,"seconds":0.100000}'
}

merge_known_tests() {
	{ row a 3 5 4 1000; summary; } >one
	{ row a 4 6 7 1000; row b 1 1 1 1000; summary; } >two
	run merge one two --json
	same "merge_adds" '{"type":"total","symbol":"f","object":"a","ip":"0x1","branches":7,"calls":2,"self":11,"total":18,"longest":7,"longest_tsc":5,"tsc_khz":1000}' \
		"$(head -n 1 <<<"$OUT")"
	same "merge_adds_summaries" '"gaps":{"overflow":2},"trace_bytes":2,"seconds":0.200000' \
		"$(tail -n 1 <<<"$OUT" | grep -o '"gaps.*0.200000')"
	run merge one two --top 1
	same "merge_top_says_more" 1 "$(grep -c '1 more (--top 0 shows all)' <<<"$OUT")"
	run merge one two --top 1 --json
	same "merge_top_in_json" 1 "$(grep -c '"rows_left":1' <<<"$OUT")"
	# A call that spans a cut is seen to be cut.
	sed '$s/"gaps"/"calls_cut":2,"gaps"/' one >cut
	same "merge_calls_cut" 1 "$("$KIPT" merge cut two 2>&1 |
		grep -c '2 calls cut at the end of a part')"
}

# refuses NAME PATTERN: of one and the file bad
refuses() {
	refused "merge_$1" 1 "$2" merge one bad
	same "merge_${1}_shows_nothing" "" "$OUT"
}

merge_bad_tests() {
	local number
	{ row b 1 18446744073709551614 1 1000; row b 1 1 1 1000; summary; } >bad
	refuses overflow '^kipt: bad: line 2: "self" makes the sum larger than 64 bits'
	{ row b 1 18446744073709551615 1 1000; summary; } >bad
	refuses saturated '^kipt: bad: line 1: "self" is as large as numbers get'
	for number in 99999999999999999999 -1 1.5 '"1"' null '{}'; do
		{ row b "$number" 1 1 1000; summary; } >bad
		refuses "number_$number" '^kipt: bad: line 1: "branches" is '
	done
	{ row b 1 1 1 2000; summary; } >bad
	refuses unit "^kipt: bad: its times are in ticks of 2000 kHz"
	{ row b 1 1 1 1000 | sed 's/,"calls"/,"ticks":1&/'; summary; } >bad
	refuses unknown '^kipt: bad: line 1: "ticks" is nothing that this kipt can add'
	{ echo '{"type":"edge","kind":"call","ip":"0x1","to":"0x2","count":1}'; summary; } >bad
	refuses kinds "^kipt: bad: line 1 is of --counts, what was before is of --totals"
	row b 1 1 1 1000 >bad
	refuses without_summary "^kipt: bad: it does not end with a summary"
	: >bad
	refuses empty "^kipt: bad: it does not end with a summary"
	head -c 80 one >bad
	refuses cut "^kipt: bad: line 1 is cut or too long"
	{ row b 1 1 1 1000; head -c 60 <(summary); echo; } >bad
	refuses no_json "^kipt: bad: line 2 is no JSON"
	{ row b 1 1 1 1000 | tr 'f' '\0'; summary; } >bad
	refuses nul "^kipt: bad: line 1 "
	for number in NaN Infinity 1e999 -1.5 '"1"' 1; do
		{ row b 1 1 1 1000; summary | sed "s/0.100000/$number/"; } >bad
		refuses "seconds_$number" '^kipt: bad: line 2: "seconds" is no time'
	done
	{ row b 1 1 1 1000; summary | sed 's/0.100000/999999999.95/'; } >bad
	refuses seconds_in_all '^kipt: bad: line 2: "seconds" makes a sum that is no time'
	{ row b 1 1 1 1000 | sed 's/"calls"/"self":7,&/'; summary; } >bad
	refuses twice '^kipt: bad: line 1 is damaged: one of its members is there twice'
	{ row b 1 1 1 1000; summary | sed 's/"overflow":1/&,&/'; } >bad
	refuses twice_in_gaps '^kipt: bad: line 2 is damaged: one of its members is there twice'
	{ row 'b:\":c\\\\' 1 1 1 1000; summary; } >bad
	same "merge_member_in_a_name" 0 "$("$KIPT" merge one bad >out 2>err; echo $?)"
	{ row b "$(printf '[%.0s' {1..5000})" 1 1 1000; summary; } >bad
	refuses nested "^kipt: bad: line 1 is no JSON"
	{ echo PERFILE2; summary; } >bad
	refuses no_output "^kipt: bad: this is no output of --json"
	# No more of a line is read than a line may have.
	refused "merge_endless_line" 1 "^kipt: /dev/zero: line 1 is cut or too long" \
		merge one /dev/zero
	for number in '[]' '7' '"x"' null '{}' '{"type":7}' '{"type":"branch"}' '{"type":"total"}' \
		'{"type":"summary"}' '{"type":"edge","count":1}'; do
		{ echo "$number"; summary; } >bad
		refuses "line_$number" "^kipt: bad: (line 1 is |this is no output of --json)"
	done
	{ row b 1 1 1 1000; summary | sed 's/overflow/flood/'; } >bad
	refuses gap '"flood" is no kind of gap'
	{ row b 1 1 1 1000; summary | sed 's/"gaps"/"rows_left":3,&/'; } >bad
	refuses top "top left out rows"
	# What was decoded of half a file ends with a summary, too.
	"$KIPT" decode turns.data $CODE_AT --totals --json >good 2>err
	head -c $(($(stat -c %s turns.data) * 9 / 10)) turns.data >half.data
	"$KIPT" decode half.data $CODE_AT --totals --json >bad 2>err
	refused "merge_half_a_recording" 1 "^kipt: bad: line [0-9]* says that decoding failed" \
		merge good bad
	"$KIPT" decode timed.pt $CODE_AT -o half.rec 2>err
	head -c -7 half.rec >cut.rec
	"$KIPT" show cut.rec --totals --json >bad 2>err
	refused "merge_half_of_records" 1 "^kipt: bad: line [0-9]* says that decoding failed" \
		merge bad
	refused "merge_no_file" 1 "cannot open missing" merge one missing
	refused "merge_folder" 1 "cannot read ." merge one .
	refused "merge_nothing" 2 "" merge
	refused "merge_bad_top" 2 "top x: a number of rows" merge one --top x
}

part_tests() {
	bytes $CODE >code
	part_equality_tests
	part_control_tests
	part_usage_tests
	merge_whole timed timed.pt $CODE_AT
	part_perf_make
	merge_whole two_cpus turns.data $CODE_AT
	merge_order_tests
	merge_known_tests
	merge_bad_tests
	part_real_tests
}
