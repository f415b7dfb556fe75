# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2086,SC2154
#
# --time FROM,TO: which records a stretch has, and what is lost in it. Sourced by
# tool_test.sh; uses what record_tests.sh makes records with.

# stretch OPTION...: "TIME FROM-TO" of each branch
stretch() {
	"$KIPT" show stretch.rec --kallsyms kallsyms --branches "$@" 2>err |
		awk '$1 ~ /^-?[0-9]+$/ && /->/ { print $1 "/" substr($2, 14) "-" \
			substr($6, 14) }' | paste -sd " "
}

# A call of first, which calls second for 200 ticks.
one_call() {
	cpu 0; thread 7 7; tsc 1000; enable 010; call 010 100; tsc 1100
	call 110 200; tsc 1300; ret 220 115; tsc 1400; ret 120 015; tsc 1500
	call 020 300; tsc 1600
}

# stretch_totals OPTION...: "symbol self total" of each function
stretch_totals() {
	"$KIPT" show stretch.rec --kallsyms kallsyms --totals --json "$@" 2>err |
		python3 -c 'import json, sys
print(*sorted("%s %s %s" % (o["symbol"], o["self"], o["total"])
        for o in map(json.loads, sys.stdin) if o["type"] == "total"), sep=", ")'
}

stretch_known_tests() {
	one_call | records stretch.rec
	same "stretch_all" "0/010-100 100/110-200 300/220-115 400/120-015 500/020-300" \
		"$(stretch --time)"
	same "stretch_both_ends" "100/110-200 300/220-115" "$(stretch --time 100,300)"
	same "stretch_equals" "100/110-200 300/220-115" "$(stretch --time=100,300)"
	same "stretch_letter" "100/110-200 300/220-115" "$(stretch -t 100,300)"
	same "stretch_to" "0/010-100 100/110-200" "$(stretch --time ,299)"
	same "stretch_from" "300/220-115 400/120-015 500/020-300" "$(stretch --time 101,)"
	same "stretch_and_thread" "" "$(stretch --time 100,300 --tid 8)"
	same "stretch_calls" "== CPU 0
-- task 7
           150 second [kernel]
           300 first+0x15" "$("$KIPT" show stretch.rec --kallsyms kallsyms \
		--calls --time 150,350 2>err)"
	same "stretch_summary" "1 branches, 1 instructions, 0 gaps" "$(cat err)"
	# 50 ticks of first, 200 of second, 50 of first; main is below them.
	same "stretch_totals" "first 50 50, second 150 150" "$(stretch_totals --time 150,350)"
	same "stretch_between_times" "second 10 10" "$(stretch_totals --time 150,160)"
	same "stretch_counts" "1 220 115" "$("$KIPT" show stretch.rec --kallsyms kallsyms \
		--counts --time 150,350 2>err |
		awk '{ print $1, substr($2, 14), substr($6, 14) }')"
	"$KIPT" show stretch.rec --time 150,350 -o part.rec 2>err
	same "stretch_to_a_file" "300" "$("$KIPT" show part.rec --kallsyms kallsyms --time \
		--branches 2>err | awk '/->/ { print $1 }')"
	same "stretch_of_a_stretch" "300" "$("$KIPT" show part.rec --kallsyms kallsyms \
		--time 200,900 --branches 2>err | awk '/->/ { print $1 }')"
	same "stretch_screen" "part.rec
1 branches in 200 ticks, CPU 0" "$("$KIPT" open part.rec 2>err | head -n 2)"
	same "stretch_file_is_no_stretch" "5 branches" "$("$KIPT" show --time stretch.rec 2>&1 |
		grep -o "5 branches")"
}

# Times of a thread count from the first of its CPU, whoever ran then.
stretch_column_tests() {
	{ cpu 0; thread 7 7; tsc 1000; call 010 100; thread 8 7; tsc 1200; tsc 1500
	  call 020 300; cpu 1; thread 9 9; tsc 5000; call 010 100; cpu 0; tsc 1600
	  thread 8 7; call 030 200; } | records stretch.rec
	same "stretch_column_of_a_thread" "500/020-300 600/030-200" \
		"$(stretch --time --tid 8)"
	same "stretch_column_of_a_turn" "0/010-100 500/020-300 0/010-100 600/030-200" \
		"$(stretch --time)"
	same "stretch_of_a_turn" "600/030-200" "$(stretch --time 501,)"
}

# lost_of OPTION...: ticks, and ticks that are lost
lost_of() {
	"$KIPT" open stretch.rec --kallsyms kallsyms --json "$@" 2>err |
		python3 -c 'import json, sys
for cpu in json.loads(sys.stdin.readline())["cpus"]:
    print(cpu.get("ticks", 0), cpu.get("lost", 0))'
}

# A gap loses the part of it that is in the stretch.
stretch_gap_tests() {
	{ cpu 0; thread 7 7; tsc 1000; enable 010; call 010 100; tsc 1100; gap 1
	  thread 8 7; tsc 1500; enable 020; tsc 1600; call 020 100; tsc 1700; } |
		records stretch.rec
	same "stretch_gap_whole" "700 400" "$(lost_of)"
	same "stretch_gap_within" "100 100" "$(lost_of --time 200,300)"
	same "stretch_gap_last_part" "300 100" "$(lost_of --time 400,)"
	same "stretch_gap_begin" "150 50" "$(lost_of --time 0,150)"
	same "stretch_gap_end" "200 0" "$(lost_of --time 500,)"
	same "stretch_gap_after" "150 0" "$(lost_of --time 550,)"
	same "stretch_gap_over" "100 0" "$(lost_of --time 600,)"
	same "stretch_gap_of_a_thread" "100 100" "$(lost_of --time 200,300 --tid 8)"
	same "stretch_gap_is_counted" "gaps (overflow 1)" "$("$KIPT" show stretch.rec --stats \
		--time 200,300 2>&1 | grep -o "gaps.*")"
}

stretch_random_tests() {
	local streams
	streams=$(fewer 40 8)
	same "stretch_random" "$streams streams" "$(python3 "$HERE/stretch_random.py" "$KIPT" \
		kallsyms $streams branches sums threads)"
}

# window NAME KHZ FILE [OPTION...]: what is passed over makes no difference
window() {
	same "$1" "10 stretches" "$(python3 "$HERE/window_random.py" "$KIPT" "$2" 10 "${@:3}")"
}

# Called by decode_tests.sh, whose code it decodes.
window_tests() {
	bytes $CODE >prog.dump
	head -c 4078 /dev/zero >>prog.dump
	bytes 00 10 40 00 00 00 00 00 >prog.addr
	python3 "$HERE/make_trace.py" timed.pt 100000 --times --trouble --psb-every 20
	window "window_raw" 0 timed.pt --image code@0x401000
	window "window_raw_in_3_jobs" 0 timed.pt --image code@0x401000 --jobs 3
	same "window_says_how_much" "decoded 0.00 of 0.10 MiB of trace" "$("$KIPT" decode \
		timed.pt --image code@0x401000 --stats --time 20000,21000 |
		grep -o "decoded.*trace")"
	same "window_of_another_cpu" "0 1" "$("$KIPT" decode timed.pt --image code@0x401000 \
		--branches --json --cpu 7 2>err | grep -c '"branch"') $(grep -c \
		"nothing of that is in the trace" err)"
	make_perf timed.data timed.pt elf=prog two
	window "window_perf" 1000000 timed.data
	same "window_perf_of_a_cpu" "decoded 0.10 of 0.20 MiB of trace" "$("$KIPT" decode \
		timed.data --stats --cpu 1 2>err | grep -o "decoded.*of trace")"
	make_perf hole.data timed.pt elf=prog hole=20000
	window "window_perf_hole" 1000000 hole.data
	refused "window_units_need_a_frequency" 1 "how many ticks that is" decode timed.pt \
		--image code@0x401000 --time 5us,6us
}

stretch_usage_tests() {
	one_call | records stretch.rec
	refused "stretch_backwards" 2 "the stretch ends before it begins" show stretch.rec \
		--time 5,4
	refused "stretch_unit_unknown" 2 "--time 5ns,4sm: allowed is FROM,TO" show \
		stretch.rec --time 5ns,4sm
	refused "stretch_empty" 2 "allowed is FROM,TO" show stretch.rec --time=,
	refused "stretch_word" 2 "allowed is FROM,TO" show stretch.rec --time=now
	refused "stretch_long" 2 "allowed is FROM,TO" show stretch.rec --time=1,2,3
	refused "stretch_units_need_a_frequency" 1 "how many ticks that is" show stretch.rec \
		--time 5us,6us
	refused "stretch_packed" 2 "only whole traces are packed" decode stretch.rec \
		--packed out --time 5,6
	local word
	for word in x,y 1e9 1,2,3 5 ,x; do
		refused "stretch_word_apart $word" 2 "--time $word: allowed is FROM,TO" \
			show stretch.rec --time $word
	done
	cp stretch.rec 5.rec
	refused "stretch_is_no_file" 0 "" show --time 5.rec
	refused "stretch_of_fetch" 2 "--time 1,2: fetch shows all" fetch 1 --time 1,2
	refused "stretch_of_record" 2 "--time 1,2: record shows all" record --time 1,2 -- true
	refused "stretch_is_for_files" 2 "takes no value" fetch 1 --time=5,6
	{ cpu 0; call 010 100; } | records timeless.rec
	refused "stretch_without_times" 1 "the trace has no times" show timeless.rec --time 5,6
}

stretch_tests() {
	stretch_known_tests
	stretch_column_tests
	stretch_gap_tests
	stretch_random_tests
	stretch_usage_tests
}
