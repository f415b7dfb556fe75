# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# --slowest: the slowest runs of a function, what came before the slowest and what it
# called. Sourced by tool_test.sh; uses what record_tests.sh makes records with.

slow() { "$KIPT" show slow.rec --kallsyms kallsyms --slowest "$@" 2>err; }

# runs_of NAME WANT OPTION...: "symbol tsc ticks branches cpu tid gap" of each run
runs_of() {
	local name=$1 want=$2
	shift 2
	same "$name" "$want" "$(slow "$@" --json | python3 -c 'import json, sys
for o in map(json.loads, sys.stdin):
    if o["type"] == "run":
        print(o["symbol"], o.get("tsc"), o.get("ticks"), o["branches"], o.get("cpu"),
              o.get("tid"), o.get("has_gap", False))')"
}

# Three runs of "first" in task 7, one of them with calls within, another with a gap.
three_runs() {
	cpu 1; task 7; tsc 1000; enable 010; call 010 200; tsc 1010; ret 220 015
	call 012 100; tsc 1030; ret 120 017
	call 018 100; tsc 1100; call 110 200; call 210 300; tsc 1150; ret 310 215
	tsc 1400; ret 220 115; call 120 100; tsc 1450; ret 130 125; tsc 1500; ret 140 01d
	call 020 100; tsc 1510; gap 3; tsc 1600; enable 110; ret 120 025; tsc 1700
}

slowest_known_tests() {
	three_runs | records slow.rec
	runs_of "slowest_runs" "first 1030 470 7 1 7 False
first 1500 100 1 1 7 True
first 1010 20 1 1 7 False" first
	runs_of "slowest_top" "first 1030 470 7 1 7 False" first --top 1
	same "slowest_text" "Slowest runs, 2 of 3 (*: with a gap within):
      duration           from CPU  task                   branches  function
     470 ticks       30 ticks   1  7                             7  first [kernel]
     100 ticks      500 ticks   1  7                             1  * first [kernel]

Before the slowest, in its task: the calls that returned last
      10 ticks            1  second [kernel]
      20 ticks            1  first [kernel]

Within the slowest: what it called (?: the return is not in the trace)
     300 ticks            3  second [kernel]
      50 ticks            1    third [kernel]
      50 ticks            1  first [kernel]

kipt show --cpu 1 --time 30,500 --calls slow.rec --kallsyms kallsyms" \
		"$(slow first --top 2 --cpu 0-3)"
	# The command shows as much: the run, and what it called.
	# shellcheck disable=SC2046
	same "slowest_command" "first main+0x17 first second third first" "$("$KIPT" $(slow first |
		sed -n 's/^kipt //p') --no-fold 2>err | sed -n "3,8p" |
		awk '{ print $2 }' | xargs)"
	same "slowest_no_run" "main: no run begins and ends in the trace" "$(slow main)"
	# Also those of one within the other.
	same "slowest_of_two" "first second first first second" "$(slow first,second --json |
		sed -n 's/.*"symbol":"\([a-z]*\)".*/\1/p' | xargs)"
	local verb
	for verb in open show; do
		same "slowest_${verb}_command" "kipt $verb --cpu 1 --time 30,500 --calls --kallsyms=kallsyms -- slow.rec" \
			"$("$KIPT" $verb --slowest=first -t 0,1000 --kallsyms=kallsyms \
			--cpu=1 --top 3 --time -- slow.rec 2>err | sed -n '/^kipt/p')"
	done
}

# What was begun and not seen to end is no run, but counted.
slowest_rule_tests() {
	{ cpu 0; task 7; tsc 100; enable 010; call 010 100; tsc 110; task 8; tsc 200
	  enable 010; call 010 100; tsc 230; ret 120 015; task 7; tsc 240; ret 120 015
	  call 020 100; tsc 250; } | records slow.rec
	runs_of "slowest_by_task" "first 100 140 1 0 7 False
first 200 30 1 0 8 False" first
	same "slowest_unseen" "kipt: note: 1 more began whose return is not in the trace" \
		"$(grep note: err)"
	{ cpu 0; tsc 100; enable 010; call 010 100; tsc 110; jump 120 200; tsc 140
	  ret 220 015; tsc 150; } | records slow.rec
	runs_of "slowest_tail_call" "second 110 30 1 0 None False" second
	{ cpu 0; tsc 100; enable 010; call 010 500
	  echo "1 4 0 1 0xffffffff81000500 0xffffffff81000100"; tsc 150; ret 120 015
	  } | records slow.rec
	runs_of "slowest_through_a_thunk" "first 100 50 2 0 None False" first
	# Only what a listed call called is below it.
	{ cpu 0; tsc 100; enable 010; call 010 200; ret 220 015; call 020 300
	  for i in 1 2; do call 310 200; call 210 400; ret 420 215; ret 220 315; done
	  call 318 100; tsc 150; ret 120 31d; } | records slow.rec
	same "slowest_before_is_indented" "second:second:  entry:second:  entry" \
		"$(slow first | sed '1,/^Before/d;/^$/,$d;s/ .kernel.$//' |
		cut -c 30- | paste -sd:)"
	# One without a symbol is known by its number.
	{ cpu 0; tsc 100; echo "1 3 0 1 0x401000 0x402000"; tsc 150
	  echo "1 6 0 1 0x402010 0x401005"; } | records slow.rec
	same "slowest_without_a_symbol" "0x402000 100 50" "$(slow 0x402000 --json |
		python3 -c 'import json, sys
for o in map(json.loads, sys.stdin):
    if o["type"] == "run":
        print(o["ip"], o["tsc"], o["ticks"])')"
	# Without times the branches decide.
	{ cpu 0; enable 010; call 010 100; ret 120 015; call 020 100; call 110 200
	  ret 220 115; ret 120 025; } | records slow.rec
	runs_of "slowest_no_times" "first None None 3 0 None False
first None None 1 0 None False" first
	same "slowest_no_times_text" "Slowest runs, 2 of 2, by their branches as the trace has no times (*: with a gap within):
             -              -   0  -                             3  first [kernel]
             -            1  second [kernel]
kipt show --cpu 0 --calls slow.rec --kallsyms kallsyms" "$(slow first |
		grep -E '^Slow| 3 |second|^kipt')"
}

# However many calls are within, 60 lines are shown: none that was left out is longer.
slowest_many_tests() {
	{ cpu 0; tsc 1000; enable 010; call 010 100
	  for ((i = 0; i < 100; i++)); do
		echo "1 3 0 1 0xffffffff81000110 0xffffffff81000200"
		tsc $((2000 + i * 100 + i)); ret 220 115; tsc $((2000 + (i + 1) * 100))
	  done; tsc 20000; ret 120 015; } | records slow.rec
	same "slowest_lines" "60 40" "$(slow first | awk '/second \[kernel\]/ { lines++ }
		/more, none of them longer/ { more = $1 } END { print lines, more }')"
	same "slowest_lines_are_the_longest" "1000 41 42 43" "$(slow first |
		awk '/second/ { print $1 }' | sort -n | sed -n '1,3p;$p' | sort -rn |
		awk 'NR == 1 { last = $1 } { a[NR] = $1 } END { print last, a[4], a[3], a[2] }')"
	is_short && return
	records_by slow.rec '
base = 0xffffffff81000000
for i in range(300000):
    out.append(record(5, 0, 1, 1 + i % 20000, 0, 1 + i % 20000))
    out.append(record(8, 0, 1, 0, 0, 100 + i * 10))
    out.append(record(1, 3, 0, 1, base + 0x10, base + 0x100))
    out.append(record(8, 0, 1, 0, 0, 105 + i * 10))
    out.append(record(1, 6, 0, 1, base + 0x120, base + 0x15))'
	same "slowest_memory_has_a_bound" 10 "$(ulimit -v 300000
		slow first --json | grep -c '"run"')"
}

slowest_refused_tests() {
	three_runs | records slow.rec
	refused "slowest_unknown" 1 "^kipt: --slowest frist: no function of that name ran in the trace, or in what was chosen of it; near it: first" \
		show slow.rec --kallsyms kallsyms --slowest frist
	refused "slowest_unknown_of_two" 1 "slowest nothere: no function" \
		show slow.rec --kallsyms kallsyms --slowest first,nothere
	refused "slowest_of_nothing" 2 "slowest : names of functions" \
		show slow.rec --kallsyms kallsyms --slowest ""
	refused "slowest_needs_a_symbol" 2 "slowest needs a value: SYMBOL" \
		show slow.rec --slowest
	refused "slowest_and_totals" 2 "only one of .*--slowest" \
		show slow.rec --slowest first --totals
	refused "slowest_and_output" 2 "--slowest is shown only: -o does not" \
		show slow.rec --slowest first -o new.rec
	refused "slowest_and_hash" 2 "--slowest is shown only: --hash does not" \
		open slow.rec --slowest first --hash
	{ cpu 0; echo "25 3 0 5 0xffffffff81000010 0xffffffff81000200"; } | records slow.rec
	refused "slowest_of_counts" 1 "--slowest second: the branches were only counted" \
		show slow.rec --kallsyms kallsyms --slowest second
}

slowest_tests() {
	slowest_known_tests
	slowest_rule_tests
	slowest_many_tests
	slowest_refused_tests
}
