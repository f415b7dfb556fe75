# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# kipt open and --totals: known times, and totals equal to the records they are of.
# Sourced by tool_test.sh; uses what record_tests.sh makes records with.

# enable ADDRESS, enable_lost ADDRESS, disable ADDRESS, gap KIND
enable() { echo "2 1 0 0 0xffffffff81000$1 0"; }
disable() { echo "3 2 2 0 0xffffffff81000$1 0"; }
gap() { echo "18 $1 0 0 0xffffffff81000020 5"; }

# totals_of NAME WANT: "symbol branches calls self total longest" of the records on
# standard input, in the order in which they are shown
totals_of() {
	records totals.rec
	same "$1" "$2" "$("$KIPT" show totals.rec --kallsyms kallsyms --totals \
		--json 2>err | totals_json)"
	own_file_sums perfetto "$1" totals.rec --kallsyms kallsyms
	own_file_sums firefox "$1" totals.rec --kallsyms kallsyms
	own_file_sums html "$1" totals.rec --kallsyms kallsyms
}

totals_json() {
	python3 -c 'import json, sys
for o in map(json.loads, sys.stdin):
    if o["type"] == "total":
        print(o.get("symbol"), o["branches"], o["calls"], o.get("self"),
              o.get("total"), o.get("longest"))'
}

# A function calls another and itself, then there is a gap; each time is known.
known_calls() {
	cpu 1; task 7; tsc 1000; enable 010; call 010 100; tsc 1100
	call 110 200; tsc 1400; ret 220 115; tsc 1500; call 120 100
	tsc 1550; ret 130 125; tsc 1600; ret 140 015; tsc 1700
	gap 1; tsc 2000; enable 030; call 030 300; tsc 2100; ret 310 035
}

known_tests() {
	known_calls | totals_of "totals_known" "first 4 2 300 600 600
second 1 1 300 300 300
main 2 0 100 1100 None
third 1 1 100 100 100"
	same "totals_text" "    self ticks    total ticks  longest ticks        calls     branches  function
           300            600            600            2            4  first [kernel]
           300            300            300            1            1  second [kernel]
             2 more (--top 0 shows all)" "$("$KIPT" show totals.rec \
		--kallsyms kallsyms --totals --top 2 2>err)"
	same "totals_summary" "8 branches, 8 instructions, 1 gaps (overflow 1)" \
		"$(cat err)"
	same "folded_known" "process 7;main_[k] 100
process 7;main_[k];first_[k] 250
process 7;main_[k];first_[k];first_[k] 50
process 7;main_[k];first_[k];second_[k] 300
process 7;main_[k];third_[k] 100" "$("$KIPT" show totals.rec --kallsyms kallsyms \
		--folded 2>err | LC_ALL=C sort)"
	same "folded_json" "5 800 8 main_[k],first_[k],second_[k]" "$("$KIPT" show totals.rec \
		--kallsyms kallsyms --folded --json 2>err | python3 -c 'import json, sys
stacks = [o for o in map(json.loads, sys.stdin) if o["type"] == "stack"]
print(len(stacks), sum(o["ticks"] for o in stacks), sum(o["branches"] for o in stacks),
      ",".join(max(stacks, key=lambda o: o["ticks"])["frames"]))')"
	known_calls | grep -v "^8 " | records untimed.rec
	same "folded_without_times_counts_branches" 8 "$("$KIPT" show untimed.rec \
		--kallsyms kallsyms --folded 2>err | awk '{sum += $NF} END {print sum}')"
	same "folded_without_times_says_so" 1 "$(grep -c "branches are counted" err)"
	refused "folded_is_shown_only" 2 "--folded is shown only" show totals.rec --folded \
		-o never.rec
	same "open_known" "totals.rec
8 branches in 1100 ticks, CPU 1
task 7 72.7 %
lost: 27.3 % of the time, in 1 gap:
         1   27.3 %  overflow: the CPU lost packets (overflow)

Slowest calls, the longest of each function (*: with a gap within):
    duration         from CPU  task               function
   600 ticks      0 ticks   1  7                  first [kernel]
   300 ticks    100 ticks   1  7                  second [kernel]
   100 ticks   1000 ticks   1  7                  third [kernel]

Hottest functions, by the time in themselves:
    self       total      calls   branches  function
  27.3 %   600 ticks          2          4  first [kernel]
  27.3 %   300 ticks          1          1  second [kernel]
   9.1 %  1100 ticks          0          2  main [kernel]
   9.1 %   100 ticks          1          1  third [kernel]

kipt show --calls --time totals.rec --kallsyms kallsyms
kipt show --totals totals.rec --kallsyms kallsyms
kipt show --counts totals.rec --kallsyms kallsyms
kipt show --branches --time totals.rec --kallsyms kallsyms" \
		"$("$KIPT" open totals.rec --kallsyms kallsyms 2>err)"
	sed 's/ first$/ first_function_with_a_name_of_more_characters_than_a_line/' kallsyms >kallsyms.long
	same "open_long_names" "first_function_wit... [kernel]
first_function_with_a_na... [kernel]
80" "$("$KIPT" open totals.rec --kallsyms kallsyms.long 2>err | sed -n 's/.* \(first_.*\)/\1/p')
$("$KIPT" open totals.rec --kallsyms kallsyms.long 2>err | awk '{ if (length > most) most = length }
		END { print most }')"
	same "open_json" "1 1000 2100 300 overflow 300 7 800 first 1000 1 7" \
		"$("$KIPT" open totals.rec --kallsyms kallsyms --json 2>err |
		python3 -c 'import json, sys
trace, total = [json.loads(line) for line in sys.stdin][:2]
cpu, task = trace["cpus"][0], trace["tasks"][0]
print(cpu["cpu"], cpu["first"], cpu["last"], cpu["lost"],
      *trace["lost"].keys(), *trace["lost"].values(), task["tid"],
      task["ticks"], total["symbol"], total["longest_tsc"],
      total["longest_cpu"], total["longest_tid"])')"
}

# Of a file with all branches each view has what it is of.
stored_tests() {
	local kinds="s/.*\"type\":\"branch\",\"kind\":\"\([a-z-]*\)\".*\"insns\":\([0-9]*\).*/\1 \2/p"
	{ cpu 0; tsc 100; enable 010; echo "1 1 0 3 0xffffffff81000010 0xffffffff81000012"
	  echo "1 3 0 2 0xffffffff81000014 0xffffffff81000100"; ret 120 016; } | records all.rec
	same "stored_calls" "call 5 ret 1" \
		"$("$KIPT" show all.rec --calls --json 2>err | sed -n "$kinds" | xargs)"
	run show all.rec --calls -o calls.rec
	same "stored_calls_kept" "call 5 ret 1" \
		"$("$KIPT" show calls.rec --branches --json 2>err | sed -n "$kinds" | xargs)"
	# After a gap nobody knows what was executed before.
	{ cpu 0; tsc 100; enable 010; echo "1 1 0 3 0xffffffff81000010 0xffffffff81000012"
	  gap 3; enable 014; echo "1 3 0 2 0xffffffff81000014 0xffffffff81000100"; } | records all.gap
	same "stored_calls_after_a_gap" "call 2" \
		"$("$KIPT" show all.gap --calls --json 2>err | sed -n "$kinds" | xargs)"
	# CPUs take turns: each goes on where it was.
	{ cpu 0; tsc 100; enable 010; echo "1 1 0 3 0xffffffff81000010 0xffffffff81000012"
	  cpu 1; tsc 100; enable 110; ret 120 015
	  cpu 0; echo "1 3 0 2 0xffffffff81000014 0xffffffff81000100"; } | records all.turns
	same "stored_calls_of_cpus_that_take_turns" "ret 1 call 5" \
		"$("$KIPT" show all.turns --calls --json 2>err | sed -n "$kinds" | xargs)"
	same "stored_branches" "cond 3 call 2 ret 1" \
		"$("$KIPT" show all.rec --branches --json 2>err | sed -n "$kinds" | xargs)"
}

# Whose time it is, and what is no call of its own.
rule_tests() {
	local thunk="0xffffffff81000500"
	{ cpu 0; tsc 100; enable 010; call 010 500; echo "1 4 0 1 $thunk 0xffffffff81000100"
	  tsc 150; ret 120 015; } | totals_of "totals_thunk_is_passed" \
		"first 1 1 50 50 50
main 1 0 0 50 None
__x86_indirect_thunk_rax 1 0 0 0 None"
	# What passed in it is its own, and no more than its total.
	{ cpu 0; tsc 100; enable 010; call 010 500; tsc 120; echo "1 4 0 1 $thunk 0xffffffff81000100"
	  tsc 150; ret 120 015; } | totals_of "totals_thunk_has_its_own_time" \
		"first 1 1 30 50 50
__x86_indirect_thunk_rax 1 0 20 20 None
main 1 0 0 50 None"
	{ cpu 0; tsc 100; enable 010; call 010 100; tsc 110; jump 120 200
	  tsc 140; ret 220 015; } | totals_of "totals_tail_call" \
		"second 1 1 30 30 30
first 1 1 10 40 40
main 1 0 0 40 None"
	# The call lasts while another task runs; its time is not the function's own.
	{ cpu 0; task 7; tsc 100; enable 010; call 010 100; tsc 110; task 8; tsc 200
	  call 020 300; tsc 230; ret 320 025; task 7; tsc 240; ret 120 015; } |
		totals_of "totals_task_switch" "third 1 1 30 30 30
first 1 1 20 140 140
main 2 0 0 170 None"
	# Nobody sees the end of it, or its beginning.
	{ cpu 0; tsc 100; enable 110; tsc 130; ret 120 015; call 020 200
	  tsc 190; } | totals_of "totals_ends_unseen" "second 0 1 60 60 None
first 1 0 30 30 None
main 1 0 0 60 None"
	# Not traced is neither lost nor anybody's.
	{ cpu 0; tsc 100; enable 010; call 010 100; tsc 110; disable 110; tsc 500
	  enable 110; tsc 520; ret 120 015; } |
		totals_of "totals_not_traced" "first 1 1 30 420 420
main 1 0 0 420 None"
	same "open_not_traced_is_not_lost" "2 branches in 420 ticks (92.9 % not traced), CPU 0
nothing is lost" "$("$KIPT" open totals.rec 2>err | sed -n '2p;4p')"
	# An interrupt is a call, and time of its own.
	{ cpu 0; tsc 100; enable 010; call 010 100; tsc 110; event 130 400; tsc 150
	  iret 430 130; tsc 160; ret 140 015; } |
		totals_of "totals_event" "entry 1 1 40 40 40
first 2 1 20 60 60
main 1 0 0 60 None"
	# A TSC that is set back takes no time, and no call lasts negative time.
	{ cpu 0; tsc 5000; enable 010; call 010 100; tsc 100; ret 120 015
	  call 020 200; tsc 130; ret 220 025; } |
		totals_of "totals_time_set_back" "second 1 1 30 30 30
main 2 0 0 0 None
first 1 1 0 0 None"
	{ cpu 0; tsc 100; enable 010; call 010 100; gap 3; tsc 180; enable 110
	  tsc 190; ret 120 015; } | totals_of "totals_gap_within" \
		"first 1 1 10 90 90
main 1 0 0 90 None"
	same "open_gap_within" 1 "$("$KIPT" open totals.rec --kallsyms kallsyms \
		2>err | grep -c ' 90 ticks .*  \* first ')"
	{ cpu 0; enable 010; call 010 100; ret 120 015; } |
		totals_of "totals_no_times" "main 1 0 None None None
first 1 1 None None None"
	same "open_no_times" "2 branches in unknown time, CPU 0
tasks not known: the trace does not say which task ran
Slowest calls: the trace has no times
Hottest functions, by branches:
  50.0 %           -          1          1  first [kernel]" \
		"$("$KIPT" open totals.rec --kallsyms kallsyms 2>err |
		grep -E 'unknown|tasks|Slow|Hot|first')"
	{ cpu 0; echo "25 3 0 5 0xffffffff81000010 0xffffffff81000200"; call 010 200
	  } | totals_of "totals_of_edges" "main 6 0 None None None
second 0 6 None None None"
	# A stack that is deeper than what is kept: recursion counts once all the same.
	{ cpu 0; tsc 100; enable 010
	  for ((i = 0; i < 10000; i++)); do call 110 100; done; tsc 300; } |
		totals_of "totals_deep" "first 10000 10000 200 200 None"
}

# A call whose return nobody saw is never the longest, and lasts as long as it was seen.
unseen_tests() {
	{ cpu 0; task 7; tsc 100; enable 010; call 010 100; tsc 110; disable 110
	  tsc 9000; enable 310; tsc 9010; } | totals_of "totals_goes_on_elsewhere" \
		"first 0 1 10 10 None
third 0 0 10 10 None
main 1 0 0 10 None"
	same "open_shows_no_call_without_return" "Slowest calls: none begins and ends at different times of the trace" \
		"$("$KIPT" open totals.rec --kallsyms kallsyms 2>err | grep Slowest)"
	{ cpu 0; tsc 100; enable 010; call 010 100; tsc 110; ret 120 350; tsc 150
	  } | totals_of "totals_returns_elsewhere" "third 0 0 40 40 None
first 1 1 10 10 None
main 1 0 0 10 None"
	# A return that leaves several frames was that of one of them.
	{ cpu 0; tsc 100; enable 010; call 010 100; call 110 200; tsc 150
	  ret 220 015; tsc 160; } | totals_of "totals_returns_past_a_call" \
		"second 1 1 50 50 None
main 1 0 10 60 None
first 1 1 0 50 50"
	# The kernel returns to a signal's handler; the interrupted function goes on later.
	{ cpu 0; tsc 100; enable 010; call 010 100; tsc 110; event 130 400; tsc 150
	  iret 430 250; tsc 160; } | totals_of "totals_event_ends_elsewhere" \
		"entry 1 1 40 40 None
first 1 1 10 60 None
second 0 0 10 10 None
main 1 0 0 60 None"
	{ cpu 0; tsc 100; enable 010; call 010 100; jump 120 200; tsc 150
	  jump 220 300; tsc 160; ret 310 015; } | totals_of "totals_tail_calls" \
		"second 1 1 50 50 None
third 1 1 10 10 10
main 1 0 0 60 None
first 1 1 0 60 60"
	# What passes in a gap is not the call's.
	{ cpu 0; tsc 100; enable 010; call 010 100; tsc 120; gap 3; tsc 500
	  enable 310; tsc 510; } | totals_of "totals_gap_ends_a_call" \
		"first 0 1 20 20 None
third 0 0 10 10 None
main 1 0 0 20 None"
	{ cpu 0; tsc 5000; enable 010; tsc 5100; disable 010; tsc 100; enable 010
	  call 010 100; } | totals_of "totals_unseen_after_time_set_back" \
		"main 1 0 100 0 None
first 0 1 0 0 None"
}

# CPUs that take turns lose neither time nor calls; who went elsewhere begins anew.
turns_tests() {
	{ cpu 0; task 7; tsc 100; enable 010; call 010 100; cpu 1; task 8; tsc 105
	  enable 020; call 020 200; cpu 0; task 7; tsc 150; call 110 300
	  cpu 1; task 8; tsc 155; gap 3; cpu 0; task 7; tsc 160; ret 310 115
	  cpu 1; task 8; tsc 175; enable 210; cpu 0; tsc 180; ret 120 015
	  cpu 1; tsc 185; ret 220 025; } | totals_of "totals_cpus_take_turns" \
		"first 2 1 70 80 80
second 1 1 60 80 80
third 1 1 10 10 10
main 2 0 0 160 None"
	same "open_cpus_take_turns" "6 branches in 85 ticks, CPUs 0-1
tasks 7 50.0 %, 8 37.5 %
lost: 12.5 % of the time (CPU 1 25.0 %), in 1 gap:
   80 ticks      0 ticks   0  7                  first [kernel]
   80 ticks      0 ticks   1  8                  * second [kernel]" \
		"$("$KIPT" open totals.rec --kallsyms kallsyms 2>err |
		grep -E ' in |^tasks|first|second' | sed 's/^ *\(80 ticks\)/   \1/' |
		grep -v '%.*kernel\|Slowest\|^Hottest')"
	{ cpu 0; task 7; tsc 100; enable 010; call 010 100; tsc 110; cpu 1; task 7
	  tsc 300; enable 110; tsc 310; ret 120 015; cpu 0; task 7; tsc 100000
	  ret 120 015; tsc 100010; } | totals_of "totals_back_from_another_cpu" \
		"first 2 1 20 20 None
main 1 0 10 20 None"
	# The idle thread of each CPU has the number 0.
	{ for i in 1 2; do cpu 0; task 0; tsc ${i}00; enable 010; call 010 100
	  cpu 1; task 0; tsc ${i}50; enable 010; done; cpu 0; task 0; tsc 280; ret 120 015
	  } | totals_of "totals_idle_threads_differ" "first 1 2 180 180 80
main 2 0 100 280 None"
	# Records of which nobody says whose they are, then those of a CPU.
	{ tsc 100; enable 010; call 010 100; tsc 110; ret 120 015; } | records totals.rec
	same "open_cpu_unknown" "2 branches in 10 ticks, CPU unknown
    10 ticks      0 ticks   -  -                  first [kernel]" \
		"$("$KIPT" open totals.rec --kallsyms kallsyms 2>err | grep -E ' in 1|  -  - ')"
	same "open_json_cpu_unknown" "first" "$("$KIPT" open totals.rec --json 2>err |
		python3 -c 'import json, sys
print(next(iter(json.loads(sys.stdin.readline())["cpus"][0])))')"
	{ tsc 100; call 010 100; cpu 1; tsc 110; cpu 2; tsc 130; } | records totals.rec
	same "open_one_cpu_unknown" "CPUs 1-2,unknown" \
		"$("$KIPT" open totals.rec 2>err | grep -o 'CPUs .*')"
	is_short && return
	# More CPUs than there is room for each task's calls.
	python3 -c 'for i in range(40000):
    print("19 0 1 %d 0 0" % (i % 300))
    print("5 0 1 %d 0 7" % (i + 1))
    print("8 0 1 0 0 %d" % (i + 1))
    print("1 3 0 1 0xffffffff81000010 0xffffffff81000100")' | records turns.rec
	same "totals_of_many_turns" "main 0 first 40000" "$(ulimit -v 300000
		"$KIPT" show turns.rec --kallsyms kallsyms --totals --json 2>err |
		totals_json | awk '{ print $1, $3 }' | xargs)"
	rm turns.rec
}

# Two processes with functions at the same addresses, and a name that is no good.
whose_tests() {
	printf 'kipt-maps 1\nprocess 20 bad\033[1mname\nmap 401000 402000 0 a\033[31m.bin\nprocess 30 second\nmap 401000 402000 1000 b.bin\n' \
		>totals.rec.maps
	{ cpu 0; ran 20 0x2000; tsc 5; jumped 2; tsc 9; ran 30 0x3000; jumped 5
	  ran 0 0x4000; jumped 1; } | records totals.rec
	same "totals_name_processes" \
"             0              0              0            0            5  [b.bin]  -- process 30 second
             0              0              0            0            2  [a?[31m.bin]  -- process 20 bad?[1mname
             0              0              0            0            1  [b.bin]  -- CR3 0x4000" \
		"$("$KIPT" show totals.rec --totals 2>err | tail -n +2)"
	same "totals_json_names_processes" "30 5 20 2 0x4000 1" \
		"$("$KIPT" show totals.rec --totals --json 2>err |
		python3 -c 'import json, sys
print(*(str(o.get("pid", o.get("cr3", "none"))) + " " + str(o["branches"])
        for o in map(json.loads, sys.stdin) if o["type"] == "total"))')"
	same "open_no_control_characters" 0 \
		"$("$KIPT" open totals.rec 2>err | grep -c $'\033')"
	# Characters of several bytes stay whole; C1 controls, stray bytes and what turns the
	# order of characters round go.
	local long
	long=$(printf 'a\303\204%.0s' {1..60})
	printf 'kipt-maps 1\nprocess 20 \302\233m\233\351\303\204\342\200\256\nmap 401000 402000 0 %s.bin\n' \
		"$long" >totals.rec.maps
	{ cpu 0; ran 20 0x2000; tsc 5; for i in 1 2; do call 010 100; tsc ${i}0
	  ret 120 015; done; jumped 2; } | records totals.rec
	"$KIPT" open totals.rec --kallsyms kallsyms >out 2>err
	"$KIPT" show totals.rec --totals --kallsyms kallsyms >>out 2>err
	same "open_shows_whole_characters" "task 20 ??m??"$'\303\204'"??? 100.0 %" "$(python3 -c 'import sys
text = open("out", "rb").read().decode()
assert not any(0x7f <= ord(c) < 0xa0 for c in text)
sys.stdout.buffer.write(text.split("\n")[2].encode())' 2>&1)"
	rm totals.rec.maps
	cp totals.rec "it's \$a"$'\033'"file"
	same "open_names_the_file_for_a_shell" "kipt show --totals 'it'\\''s \$a?file'" \
		"$("$KIPT" open "it's \$a"$'\033'"file" 2>err | grep totals)"
	cp totals.rec ./-x
	# shellcheck disable=SC2046
	same "open_of_a_file_that_looks_like_an_option" "$("$KIPT" show --totals \
		-- -x 2>err)" "$("$KIPT" $("$KIPT" open -- -x 2>err |
		sed -n 's/^kipt \(.*--totals.*\)/\1/p') 2>err)"
	# What is too long for a command is none.
	local size
	for size in 4089 4090 4094 4104 5000 9000; do
		"$KIPT" open totals.rec --top 1 --comm "$(printf "%0*d'" $size 0)" \
			2>err >out
		echo "$? $(grep -c '^kipt show' out)"
	done >sizes
	same "open_names_no_command_that_is_too_long" "0 0" "$(sort -u sizes)"
}

# Branches by function, counted from the totals and from the branches themselves.
by_function() {
	python3 -c 'import collections, json, sys
counts = collections.Counter()
for o in map(json.loads, sys.stdin):
    if o["type"] == "branch":
        counts[o.get("ip_symbol", "-").split("+")[0].split(" ")[0]] += 1
    elif o["type"] == "total":
        counts[o.get("symbol", "-")] += o["branches"]
    elif o["type"] == "summary":
        counts["all"] = o["branches"]
        counts["sum"] = sum(counts.values()) - counts["all"]
print(*sorted(counts.items()))'
}

# Calls by function, as the call view has lines.
by_line() {
	sed -nE 's/^ *(syscall: |event: )?([a-z_]+)( \[kernel\])?( \[data\])?$/\2/p' |
		sort | uniq -c
}

# The lines of a screen that lack something: who ran ends with a share or how many more
# there are, a gap with its sentence; a function has its whole name.
lines_cut() {
	awk 'NR == FNR { names[$3] = 1; next }
		{ named = NF > 1 && $(NF - 1) in names }
		FNR == 2 && !/, CPU [0-9]+$/ || FNR == 3 && !/( %|, [0-9]+ more)$/ ||
		/^lost/ && !/gaps?:$/ || / ticks .* ticks .* [0-9]+  / && !named ||
		/^ +[0-9.]+ % .* ticks / && !named ||
		/^ +[0-9]+ +[0-9.]+ %/ && !/: .*[a-z)]$/' kallsyms -
}

# Random calls and returns of functions that are there; whatever they are, the
# totals are those of the records, and no line of the screen lacks its end.
totals_random_tests() {
	local seed bad='' wide=''
	for seed in $(seq "$(fewer 6 2)"); do
		random_calls $seed 5000 2,3,18 | records totals.rec
		[ "$("$KIPT" show totals.rec --kallsyms kallsyms --totals --json \
			2>err | by_function)" = \
			"$("$KIPT" show totals.rec --kallsyms kallsyms --branches \
				--json 2>err | by_function)" ] || bad="$bad $seed"
		"$KIPT" open totals.rec --kallsyms kallsyms >screen 2>err
		[ "$(wc -l <screen)" -le 40 ] || wide="$wide $seed"
		[ -z "$(lines_cut <screen)" ] || wide="$wide cut$seed"
		times_add_up || bad="$bad times$seed"
	done
	same "totals_random_are_those_of_the_records" "" "$bad"
	same "open_random_shows_all_on_a_screen" "" "$wide"
}

# What functions have and what is lost is no more than there is, and no function has
# more time in itself than with what it called.
times_add_up() {
	"$KIPT" open totals.rec --kallsyms kallsyms --json 2>err | python3 -c '
import json, sys
trace, *rest = map(json.loads, sys.stdin)
totals = [o for o in rest if o["type"] == "total"]
span = sum(cpu["ticks"] for cpu in trace["cpus"])
assert span <= sum(cpu["last"] - cpu["first"] for cpu in trace["cpus"])
spent = sum(o["self"] for o in totals) + sum(trace["lost"].values())
assert spent <= span, (spent, span)
assert sum(task["ticks"] for task in trace["tasks"]) <= span
for o in totals:
    assert o["self"] <= o["total"] or o["symbol"] is None, o
    assert o.get("longest", 0) <= span, o'
}

# The calls are those of the call view.
totals_calls_tests() {
	{ cpu 0; for i in 1 2 3; do call 010 100; call 110 200; ret 220 115
	  ret 120 015; call 020 300; jump 310 600; event 610 400; call 410 500
	  echo "1 4 0 1 0xffffffff81000500 0xffffffff81000200"; ret 220 415
	  iret 430 610; ret 620 025; done; } | records totals.rec
	same "totals_calls_are_those_of_the_call_view" \
		"$("$KIPT" show totals.rec --kallsyms kallsyms --calls --no-fold \
			2>err | by_line)" \
		"$("$KIPT" show totals.rec --kallsyms kallsyms --totals --json \
			2>err | python3 -c 'import json, sys
for o in sorted(map(json.loads, sys.stdin), key=lambda o: o.get("symbol", "")):
    if o.get("calls"):
        print("%7d %s" % (o["calls"], o["symbol"]))')"
}

totals_refused_tests() {
	known_calls | records totals.rec
	refused "totals_and_counts" 2 "only one of .*--totals" \
		show totals.rec --totals --counts
	refused "totals_and_hash" 2 "--totals is shown only: --hash does not" \
		show totals.rec --totals --hash
	refused "totals_and_output" 2 "--totals is shown only: -o does not" \
		show totals.rec --totals -o new.rec
	refused "totals_and_packed" 2 "--totals is shown only: -o does not" \
		decode x.pt --totals --packed new.rec
	refused "totals_of_a_crash_and_output" 2 "--totals is shown only" \
		crash vmcore --totals -o new.rec
	refused "totals_of_a_fetch_and_hash" 2 "--totals is shown only" \
		fetch 1 --totals --hash
	refused "on_crash_or_totals" 2 "give --on-crash or --totals" \
		record --on-crash --totals -- true
	refused "open_needs_a_file" 2 "open needs FILE" open
	refused "open_no_file" 1 "cannot read nothere.*ENOENT" open nothere
	: >empty
	refused "open_empty" 1 "empty is empty: there is no trace in it" open empty
	same "open_empty_shows_nothing" "" "$OUT"
	head -c 4096 /dev/zero >zero
	refused "open_no_trace" 1 "no PSB in its 4096 bytes" open zero
	printf 'x' >>totals.rec
	refused "open_partial" 1 "ends inside a record" open totals.rec \
		--kallsyms kallsyms
	same "open_partial_shows_what_was_read" "8 branches in 1100 ticks, CPU 1
lost: the file is cut
lost: 27.3 % of the time, in 1 gap:" "$(sed -n '2p;4,5p' <<<"$OUT")"
	{ cpu 0; } | records cut.rec
	printf 'x' >>cut.rec
	same "open_partial_is_not_whole" "lost: the file is cut" \
		"$("$KIPT" open cut.rec 2>err | sed -n 4p)"
	same "open_partial_json" True "$("$KIPT" open cut.rec --json 2>err |
		python3 -c 'import json, sys
print(json.loads(sys.stdin.readline())["cut"])')"
	{ cpu 0; } | records none.rec
	same "open_nothing_in_it" "0 branches in unknown time, CPU 0" \
		"$("$KIPT" open none.rec 2>err | sed -n 2p)"
	known_calls | records totals.rec
	local option
	echo >code
	for option in --strict "--image code@0x1000" "--jobs 1" "--memory 1M" \
		"--packed refused.rec" "--filter 0x1-0x2" "--stop-at 0x1-0x2"; do
		# shellcheck disable=SC2086
		refused "open_records_${option%% *}" 2 "totals.rec holds records; --image.* are for traces" \
			open totals.rec $option
	done
	same "open_records_packed_makes_no_file" "" "$(ls refused.rec 2>err)"
	same "open_top" "1 1 main" "$("$KIPT" open totals.rec --kallsyms kallsyms \
		--top 1 --json 2>err | grep -c '"total"') $("$KIPT" open totals.rec \
		--kallsyms kallsyms --top 1 2>err | grep -c '^ *[0-9]* ticks') $(
		{ cpu 0; jump 010 100; jump 020 200; jump 120 200; } | records top.rec
		"$KIPT" open top.rec --kallsyms kallsyms --top 1 2>err |
			sed -n '/^Hottest/,/^$/s/ \[kernel\]$//p' | awk '{ print $NF }')"
	{ cpu 0; for ((i = 100; i < 200; i++)); do
		echo "1 3 0 1 0x401000 0x5${i}00"; done; } | records top.rec
	same "open_top_0_is_all" 101 "$("$KIPT" open top.rec --top 0 2>err |
		sed -n '/^Hottest/,/^$/p' | grep -c ' %')"
	run open totals.rec --kallsyms kallsyms --counts
	same "open_is_show_where_a_view_is_asked_for" \
		"$("$KIPT" show totals.rec --kallsyms kallsyms --counts 2>err)" "$OUT"
}

# However many functions, tasks and processes there are, memory has a bound, and each
# branch counts.
totals_many_tests() {
	is_short && return
	records_by many.rec '
for i in range(400000):
    if not i % 4:
        out.append(record(5, 0, 1, 100 + i // 4, 0, 100 + i // 4))
    out.append(record(8, 0, 1, 0, 0, i + 1))
    out.append(record(1, 3, 0, 1, 0x400000 + i * 37, 0x800000 + i * 4099))'
	same "totals_of_many_functions" "400000 others" "$(
		ulimit -v 500000
		"$KIPT" show many.rec --totals --json 2>err | python3 -c 'import json, sys
totals = [o for o in map(json.loads, sys.stdin) if o["type"] == "total"]
print(sum(o["branches"] for o in totals),
      *(o["object"] for o in totals if o.get("object")))')"
	rm many.rec
	# Whatever the addresses are, the time for each is the same.
	records_by many.rec '
for i in range(150000):
    out.append(record(5, 0, 1, 100 + i, 0, 100 + i))
    out.append(record(1, 3, 0, 1, 0x400000, 0x500000 - (i + 2)))'
	same "totals_of_forged_addresses" "150000 150000" "$(
		ulimit -t 10
		for view in --totals --counts; do
			"$KIPT" show many.rec $view --json 2>err | python3 -c 'import json, sys
print(sum(o["count" if o["type"] == "edge" else "branches"]
          for o in map(json.loads, sys.stdin) if o["type"] != "summary"))'
		done | xargs)"
	rm many.rec
}

# A note says once what had no room; sums end at the largest number there is.
totals_limits_tests() {
	records_by many.rec '
for i in range(66000):
    if i < 9000:
        out.append(record(19, 0, 1, i, 0, 0))
    out.append(record(5, 0, 1, 1 + i, 0, 1 + i))
    out.append(record(1, 2, 0, 1, 0x400000, 0x400010))'
	"$KIPT" open many.rec >out 2>err
	same "open_reports_its_limits" "kipt: note: there are more than 65534 processes
kipt: note: there are more than 65536 threads
kipt: note: there are more than 8192 CPUs" "$(sed -n 's/:[^:]*$//;/more than/p' err)"
	"$KIPT" show many.rec --totals --json 2>err | python3 -c 'import json, sys
print(sum(o.get("branches") for o in map(json.loads, sys.stdin)
          if o["type"] == "total"))' >out
	same "totals_beyond_its_limits_count" 66000 "$(cat out)"
	known_calls | records totals.rec
	same "open_reports_no_limit_that_is_not_reached" 0 \
		"$("$KIPT" open totals.rec 2>&1 >out | grep -c "more than")"
	rm many.rec
	{ cpu 0; gap 1; for i in 1 2 3; do tsc 1; tsc 0xffffffffffffffff; done
	  } | records totals.rec
	same "open_sums_end" "18446744073709551615 18446744073709551615" \
		"$("$KIPT" open totals.rec --json 2>err | python3 -c 'import json, sys
cpu = json.loads(sys.stdin.readline())["cpus"][0]
print(cpu["ticks"], cpu["lost"])')"
}

# show_cancelled OPTION...: Ctrl-C amid a file: exit status in $STATUS, output in "out", errors
# in "err". The pipe holds less than what is written into it before the signal, and nobody
# opens it before the signal is caught.
show_cancelled() {
	local pid
	[ -p wait.rec ] || mkfifo wait.rec
	known_calls | records totals.rec
	python3 -c 'data = open("totals.rec", "rb").read()
open("more.rec", "wb").write(data[24:] * 1000)'
	"$KIPT" show wait.rec --kallsyms kallsyms "$@" >out 2>err &
	pid=$!
	{
		cat totals.rec more.rec
		kill -INT $pid
		cat more.rec more.rec
	} >wait.rec 2>/dev/null
	wait $pid
	STATUS=$?
}

# What came until then is shown, and is not taken for all.
totals_cancel_tests() {
	local form
	for form in --counts --stats; do
		show_cancelled $form
		same "cancelled_$form" "1 1" "$STATUS $(grep -c '^kipt: cancelled: ' err)"
		same "cancelled_${form}_shows_what_came" 1 "$(($(cat out err | wc -l) > 1))"
	done
	cp totals.rec cancelled.rec
	show_cancelled -o cancelled.rec
	same "cancelled_records" "1 1" "$STATUS $(grep -c '^kipt: cancelled: ' err)"
	refused "cancelled_records_say_so" 0 "the file is not whole: what made it was cancelled" \
		show cancelled.rec --kallsyms kallsyms -o copy.rec
	run show cancelled.rec --kallsyms kallsyms --pid 999 -o empty.rec
	same "cut_though_nothing_was_chosen" "1" "$("$KIPT" show empty.rec 2>&1 | grep -c "is not whole")"
	for form in cancelled copy; do
		same "${form}_records_are_cut" "lost: the file is cut" \
			"$("$KIPT" open $form.rec --kallsyms kallsyms 2>err | sed -n 4p)"
	done
	"$KIPT" show cancelled.rec --kallsyms kallsyms --totals --json >out 2>err
	refused "cancelled_records_are_not_merged" 1 "the file is not whole" merge out
	{ cpu 0; call 010 100; echo "28 0 0 7 0 0"; call 010 100; } | records broken.rec
	refused "open_broken" 1 "packed records make no sense" open broken.rec --kallsyms kallsyms
	same "open_broken_is_cut" "lost: the file is cut" "$(sed -n 4p <<<"$OUT")"
	"$KIPT" show broken.rec --kallsyms kallsyms --totals --json >out 2>err
	refused "broken_is_not_merged" 1 "the file is not whole" merge out
	show_cancelled --totals --json
	same "totals_cancelled_exits_1" 1 $STATUS
	same "totals_cancelled_says_so" 1 "$(grep -c '^kipt: cancelled: ' err)"
	same "totals_cancelled_shows_what_came" "first" \
		"$(totals_json <out | sed -n '1s/ .*//p')"
	refused "totals_cancelled_are_not_merged" 1 "the file is not whole" merge out
}

# open_perf NAME WANT: the lines 2 to 5 that it has of timed.data
open_perf() {
	run open timed.data
	same "$1" "$2" "$(sed -n '2,5p' <<<"$OUT" | grep .)"
}

# What perf recorded: two PSBs 500 ticks apart, of which each has two branches.
totals_perf_tests() {
	local one="02 23 99 01 51 00 10 40 00 06 2D 10 10 3D 10 10 01"
	bytes $CODE >timed.dump
	head -c 4078 /dev/zero >>timed.dump
	bytes 00 10 40 00 00 00 00 00 >timed.addr
	# shellcheck disable=SC2086
	bytes $PSB 19 00 10 00 00 00 00 00 $one $PSB 19 f4 11 00 00 00 00 00 $one >timed.pt
	make_perf timed.data timed.pt elf=timed
	open_perf "open_perf" "4 branches in 0.500 us (100.0 % not traced), CPU 0
task 100 prog 0.0 %
nothing is lost"
	same "open_perf_exits_0" 0 "$STATUS"
	same "open_perf_names_the_commands" "kipt decode --calls --time timed.data
kipt decode --totals timed.data
kipt decode --counts timed.data
kipt decode --branches --time timed.data
kipt packets timed.data" "$(tail -n 5 <<<"$OUT")"
	run open timed.data --time
	same "open_perf_says_time_once" "kipt decode --calls timed.data --time" \
		"$(grep -e ' --calls' <<<"$OUT")"
	# Right after --time the name would be a stretch.
	cp timed.data 5,6
	run open 5,6
	same "open_perf_like_a_stretch" "kipt decode --calls --time ./5,6
kipt packets 5,6" "$(sed -n '/--calls/p;$p' <<<"$OUT")"
	rm 5,6
	same "open_perf_totals" "4 0 [timed]" "$("$KIPT" open timed.data --totals \
		2>err | awk 'NR == 2 { print $5, $4, $6 }')"
	make_perf timed.data timed.pt elf=timed two
	open_perf "open_perf_two_cpus" "8 branches in 0.500 us (100.0 % not traced), CPUs 0-1
task 100 prog 0.0 %
nothing is lost"
	make_perf timed.data timed.pt elf=timed lost=40
	open_perf "open_perf_gap" "4 branches in 0.500 us, CPU 0
task 100 prog 0.0 %
lost: 100.0 % of the time, in 2 gaps:
         1  100.0 %  stopped: the buffer was full, tracing stopped"
	make_perf timed.data timed.pt
	run open timed.data
	same "open_perf_no_code" "no-code" "$(grep -o 'no-code' <<<"$OUT")"
	run open timed.data --strict
	same "open_perf_strict" 1 "$STATUS"
	refused "open_perf_filter" 1 "perf.data says itself" open timed.data \
		--filter 0x1-0x2
	: >none.pt
	make_perf none.data none.pt
	refused "open_perf_no_trace" 1 "has no trace" open none.data
	same "open_perf_no_trace_shows_nothing" "" "$OUT"
	run open timed.pt --image timed.dump@0x401000
	same "open_raw" "4 branches in 500 ticks (100.0 % not traced), CPU 0
kipt decode --totals timed.pt --image timed.dump@0x401000" \
		"$(sed -n '2p;/totals/p' <<<"$OUT")"
}

# cyc CYCLES TSC: a time, and the core cycles since the one before
cyc() { echo "8 0 1 0 $1 $2"; }

totals_cycles_tests() {
	{
		cpu 1; task 7; tsc 1000; enable 010; call 010 100; cyc 40 1010; ret 120 015
		cyc 15 1020; call 020 200; cyc 60 1020; ret 210 025
		# Cycles of what is lost are of no function.
		gap 1; cyc 99 1100; enable 030; cyc 5 1110; call 030 300; cyc 7 1120; disable 310
	} | sed 's/^1 \([0-9]*\) 0 [0-9]* /1 \1 0 30 /' | records cycles.rec
	run show cycles.rec --kallsyms kallsyms --totals --json
	same totals_cycles "first 30 40
main 90 20
second 30 60
third 0 7" "$(python3 -c 'import json, sys
for o in sorted((o for o in map(json.loads, sys.stdin) if o["type"] == "total"),
                key=lambda o: o["symbol"]):
    print(o["symbol"], o["insns"], o["cycles"])' <<<"$OUT")"
	echo "$OUT" >cycles.json
	run show cycles.rec --kallsyms kallsyms --totals
	same totals_cycles_text "cycles IPC
20 4.50 main
40 0.75 first
7 0.00 third
60 0.50 second" "$(awk '{ print $(/cycles/ ? 7 : 4), $(/cycles/ ? 8 : 5), /cycles/ ? "" : $8 }' \
		<<<"$OUT" | sed 's/ $//')"
	run merge cycles.json cycles.json
	same totals_cycles_merged "40 4.50 main
80 0.75 first
14 0.00 third
120 0.50 second" "$(awk '/kernel/ { print $4, $5, $8 }' <<<"$OUT")"
	run show cycles.rec --branches --time --json
	same totals_cycles_of_times "40 15 60 99 5 7" "$(grep -o '"cycles":[0-9]*' <<<"$OUT" |
		cut -d: -f2 | paste -sd " ")"
	known_calls | records cycles.rec
	run show cycles.rec --kallsyms kallsyms --totals --json
	same totals_no_cycles 0 "$(grep -c cycles <<<"$OUT")"
}

# How long each call lasted until its return; of repeated calls the sum.
calls_lasted_tests() {
	local want
	{
		cpu 1; task 7; tsc 1000; enable 010; call 010 100; cyc 40 1010; call 110 300
		cyc 4 1014; ret 310 115; cyc 6 1020; ret 120 015; call 010 100; cyc 50 1030
		call 110 300; cyc 8 1038; ret 310 115; cyc 2 1040; ret 120 015; cyc 15 1050
		# Cycles in which nothing is traced are of no call.
		call 020 200; cyc 60 1060; disable 210; cyc 1000 2000; enable 210; cyc 30 2010
		ret 220 025; call 030 300; gap 1
	} | sed 's/^1 \([0-9]*\) 0 [0-9]* /1 \1 0 20 /' | records lasted.rec
	same calls_lasted "== CPU 1
-- task 7
             0 main+0x10 [kernel]
             0   first  x2  40 ticks, 110 cycles, IPC 1.45
            10     third  12 ticks, 12 cycles, IPC 3.33" \
		"$("$KIPT" show lasted.rec --kallsyms kallsyms --calls --time 2>err | head -5)"
	same calls_lasted_away "            50   second  960 ticks, 90 cycles, IPC 0.22" \
		"$("$KIPT" show lasted.rec --kallsyms kallsyms --calls --time 2>err |
			grep "second  ")"
	same calls_lasted_no_fold "20 ticks, 4 ticks, 20 ticks, 8 ticks, 960 ticks," \
		"$("$KIPT" show lasted.rec --kallsyms kallsyms --calls --time --no-fold 2>err |
			grep -o "[0-9]* ticks," | paste -sd " ")"
	# A gap that loses no time, instructions up to where tracing ends, a call whose return
	# nobody saw, and cycles without time.
	{
		cpu 1; tsc 1000; enable 010; call 010 100; cyc 10 1010; gap 17; cyc 400 1100
		echo "3 2 2 100 0xffffffff81000110 0"; cyc 1000 1200; enable 110; cyc 4 1210
		ret 120 015; call 020 200; tsc 1220; call 210 300; tsc 1230; ret 310 015
		call 020 200; call 210 300; ret 310 215; ret 220 025
		call 030 300; cyc 7 1230; ret 310 035
	} | records lasted.rec
	same calls_lasted_gap "             0   first  210 ticks, 414 cycles, IPC 0.25" \
		"$("$KIPT" show lasted.rec --kallsyms kallsyms --calls --time 2>err |
			grep "first  ")"
	same calls_lasted_unseen "           210   second  x2
           220     third
           230   third  7 cycles, IPC 1.29" \
		"$("$KIPT" show lasted.rec --kallsyms kallsyms --calls --time 2>err |
			sed -n '/second/,$p')"
	# Of a stretch its share.
	{ cpu 1; tsc 1000; enable 010; call 010 100; cyc 5000 2000; ret 110 015; } |
		records lasted.rec
	for want in 990,1100:50 0,500:2500 500,990:2450; do
		same "totals_cycles_stretch $want" "${want#*:}" "$("$KIPT" show lasted.rec \
			--kallsyms kallsyms --totals --json --time "${want%:*}" 2>err |
			grep -o '"cycles":[0-9]*' | cut -d: -f2 | head -1)"
	done
	same calls_lasted_unasked 0 "$("$KIPT" show lasted.rec --kallsyms kallsyms --calls 2>err |
		grep -c ticks)"
}

totals_tests() {
	known_tests
	calls_lasted_tests
	totals_cycles_tests
	stored_tests
	rule_tests
	unseen_tests
	turns_tests
	whose_tests
	totals_random_tests
	totals_calls_tests
	totals_refused_tests
	totals_many_tests
	totals_limits_tests
	totals_cancel_tests
}
