# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# --lost: each stretch of time that is not in the trace, and sums equal to those of
# kipt open. Sourced by tool_test.sh; uses what record_tests.sh makes records with.

lost_known_tests() {
	{ cpu 3; task 7; tsc 1000; enable 010; call 010 100; tsc 1100; gap 1; task 8
	  tsc 1500; enable 020; tsc 1600; call 020 100; gap 16; gap 8; tsc 1700; } |
		records lost.rec
	same "lost_text" "CPU           from       duration  task before        task after         why
  3      100 ticks      400 ticks  7                  8                  overflow: the CPU lost packets (overflow)
  3      600 ticks      100 ticks  8                  -                  hw-error: the CPU reported an error of its trace output
                 1      400 ticks  overflow
                 1      100 ticks  hw-error
                 1        0 ticks  code-dropped
                 3      500 ticks  in all" "$("$KIPT" show lost.rec --lost 2>err)"
	same "lost_json" "overflow 3 1100 1000 400 7 8 hw-error 3 1600 1000 100 8 None" \
		"$("$KIPT" show lost.rec --lost --json 2>err | python3 -c 'import json, sys
for o in map(json.loads, sys.stdin):
    if o["type"] == "lost":
        print(*(o.get(key) for key in ("kind", "cpu", "tsc", "first", "ticks", "tid",
                                       "tid_after")), end=" ")' | sed 's/ $//')"
	same "lost_in_a_stretch" "  3      200 ticks       50 ticks  8                  -                  overflow: the CPU lost packets (overflow)" \
		"$("$KIPT" show lost.rec --lost --time 200,250 2>err | sed -n 2p)"
	{ cpu 0; call 010 100; } | records lost.rec
	same "lost_nothing" "                 0        0 ticks  in all" \
		"$("$KIPT" show lost.rec --lost 2>err)"
	refused "lost_output" 2 "--lost is shown only" show lost.rec --lost -o out
	refused "lost_hash" 2 "--lost is shown only" show lost.rec --lost --hash
	refused "lost_and_totals" 2 "only one of" show lost.rec --lost --totals
}

# A TSC that was set back is before the first; the idle task is a task.
lost_set_back_tests() {
	{ cpu 3; thread 0 0; tsc 1000; enable 010; call 010 100; tsc 900; gap 1
	  tsc 950; call 110 200; tsc 960; } | records lost.rec
	same "lost_after_a_tsc_was_set_back" "3 -100 0" "$("$KIPT" show lost.rec \
		--kallsyms kallsyms --lost 2>err | awk 'NR == 2 { print $1, $2, $6 }')"
}

lost_tests() {
	lost_known_tests
	lost_set_back_tests
	same "lost_sums_as_open" "10 streams" "$(python3 "$HERE/stretch_random.py" "$KIPT" \
		kallsyms 10 lost)"
}
