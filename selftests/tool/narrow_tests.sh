# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# --cpu, --pid, --tid and --comm: which records they leave. Sourced by tool_test.sh;
# uses what record_tests.sh makes records with.

# thread TID PID
thread() { echo "5 0 1 $1 0 $2"; }

sync() { echo "21 1 0 0 0xffffffff81000$1 0"; }

# Threads 7 and 8 of process 7 and thread 9 of its own on two CPUs.
two_cpus() {
	cpu 0; thread 7 7; tsc 1000; call 010 100; thread 8 7; tsc 1100
	call 110 200; ret 220 115; thread 7 7; tsc 1200; ret 120 015
	cpu 1; thread 9 9; tsc 1050; call 010 300; thread 8 7; tsc 1150
	call 020 100
}

# left NAME WANT OPTION...: "CPU TID FROM-TO" of the branches that are left
left() {
	local name=$1 want=$2
	shift 2
	same "$name" "$want" "$("$KIPT" show narrow.rec --kallsyms kallsyms \
		--branches --json "$@" 2>err | python3 -c 'import json, sys
print(*("%s/%s:%s-%s" % (o["cpu"], o["tid"], o["ip"][-3:], o["to"][-3:])
        for o in map(json.loads, sys.stdin) if o["type"] == "branch"))')"
}

narrow_show_tests() {
	two_cpus | records narrow.rec
	left "narrow_nothing" "0/7:010-100 0/8:110-200 0/8:220-115 0/7:120-015 1/9:010-300 1/8:020-100"
	left "narrow_cpu" "1/9:010-300 1/8:020-100" --cpu 1
	left "narrow_cpus" "0/7:010-100 0/8:110-200 0/8:220-115 0/7:120-015 1/9:010-300 1/8:020-100" \
		--cpu 0-1
	left "narrow_tid" "0/8:110-200 0/8:220-115 1/8:020-100" --tid 8
	left "narrow_tids" "0/8:110-200 0/8:220-115 1/9:010-300 1/8:020-100" \
		--tid 9,8
	left "narrow_pid" "0/7:010-100 0/8:110-200 0/8:220-115 0/7:120-015 1/8:020-100" \
		--pid 7
	left "narrow_all" "1/8:020-100" --cpu 1 --pid 7 --tid 8
	left "narrow_to_nothing" "" --cpu 0 --tid 9
	same "narrow_to_nothing_has_a_summary" '"summary","records":0,' \
		"$("$KIPT" show narrow.rec --cpu 0 --tid 9 --json 2>err | grep -o '"summary",[^,]*,')"
	same "narrow_to_nothing_says_so" 1 "$(grep -c "nothing of that is in the trace" err)"
	same "narrow_calls" "== CPU 0
-- task 8
           100 first+0x10 [kernel]
           100   second
-- task 7
== CPU 1
-- task 8
           100 main+0x20 [kernel]
           100   first" "$("$KIPT" show narrow.rec --kallsyms kallsyms --calls \
		--time --tid 8 2>err)"
	same "narrow_summary" "3 branches, 3 instructions, 0 gaps" "$(cat err)"
	same "narrow_counts" "1 main+0x10 third" "$("$KIPT" show narrow.rec \
		--kallsyms kallsyms --counts --tid 9 2>err |
		awk '{ print $1, $3, $7 }')"
	"$KIPT" show narrow.rec --tid 8 -o narrowed.rec 2>err
	same "narrow_to_a_file" "3 branches, 3 instructions, 0 gaps" \
		"$("$KIPT" show narrowed.rec --stats 2>&1)"
}

# Where a gap is on a chosen CPU the task may have run in it.
narrow_gap_tests() {
	{ cpu 0; thread 7 7; call 010 100; gap 1; cpu 1; gap 1; thread 8 7
	  call 010 300; } | records narrow.rec
	same "narrow_keeps_gaps" "1 branches, 1 instructions, 2 gaps (overflow 2)" \
		"$("$KIPT" show narrow.rec --stats --tid 8 2>&1)"
	same "narrow_gaps_of_a_cpu" "1 branches, 1 instructions, 1 gaps (overflow 1)" \
		"$("$KIPT" show narrow.rec --stats --cpu 1 2>&1)"
	{ cpu 0; call 010 100; } | records narrow.rec
	left "narrow_task_unknown" "" --tid 0
}

# one_thread TID: (ticks, branches) of a thread, and what is lost, in kipt open
one_thread() {
	"$KIPT" open narrow.rec --kallsyms kallsyms --json "${@:2}" 2>err |
		python3 -c 'import json, sys
trace = json.loads(sys.stdin.readline())
task = [t for t in trace["tasks"] if t["tid"] == int(sys.argv[1])]
print(*((t.get("ticks"), t["branches"]) for t in task),
      sum(trace.get("lost", {}).values()))' "$1"
}

# narrow_same NAME TID...: each thread took as long, and lost as much time, alone
narrow_same() {
	local tid name=$1
	shift
	for tid; do
		same "$name" "$(one_thread "$tid")" "$(one_thread "$tid" --tid "$tid")"
	done
}

narrow_time_tests() {
	local view
	# A call goes on while another thread runs.
	{ cpu 0; thread 7 7; tsc 100; enable 010; call 010 100; tsc 110
	  thread 8 7; tsc 200; call 020 300; tsc 230; ret 320 025; thread 7 7
	  tsc 240; ret 120 015; tsc 250; } | records narrow.rec
	for view in "--calls --time" "--branches --time" --totals --counts --stats; do
		# shellcheck disable=SC2086
		same "narrow_to_all $view" "$("$KIPT" show narrow.rec --kallsyms kallsyms $view 2>&1)" \
			"$("$KIPT" show narrow.rec --kallsyms kallsyms $view --pid 7 --cpu 0 2>&1)"
	done
	narrow_same "narrow_time" 7 8
	same "narrow_call_goes_on" "first 20 140" "$("$KIPT" show narrow.rec --kallsyms \
		kallsyms --totals --json --tid 7 2>err | python3 -c 'import json, sys
for o in map(json.loads, sys.stdin):
    if o["type"] == "total" and o["symbol"] == "first":
        print(o["symbol"], o["self"], o["total"])')"
	# Times count from the first of the CPU, however often its tasks change.
	{ cpu 0; thread 7 7; tsc 1000; call 010 100; thread 8 7; tsc 2000
	  call 010 100; thread 7 7; tsc 3000; call 110 200; } | records narrow.rec
	same "narrow_time_column" "0 2000" "$("$KIPT" show narrow.rec --kallsyms kallsyms \
		--branches --time --tid 7 2>err |
		awk '$1 ~ /^[0-9]+$/ && /->/ { print $1 }' | paste -sd " ")"
	# A thread without a branch takes time too.
	{ cpu 0; thread 7 7; tsc 100; enable 010; call 010 100; thread 8 7; tsc 110
	  tsc 500; thread 7 7; tsc 510; ret 120 015; tsc 520; } | records narrow.rec
	narrow_same "narrow_without_branches" 7 8
	# How long a gap is does not depend on whom it is in.
	{ cpu 0; thread 7 7; tsc 100; enable 010; call 010 100; gap 1; tsc 900
	  thread 8 7; tsc 1000; call 010 300; tsc 1010; } | records narrow.rec
	narrow_same "narrow_gap" 7 8
	{ cpu 0; thread 7 7; tsc 100; enable 010; call 010 100; thread 8 7; tsc 150
	  gap 1; tsc 900; call 010 300; tsc 950; tsc 960; thread 7 7; tsc 1000
	  call 020 100; tsc 1020; } | records narrow.rec
	narrow_same "narrow_gap_of_others" 7 8
}

# EDGE records are of processes, and of nothing else.
narrow_edge_tests() {
	{ echo "27 0 1 7 0 0x1000"; echo "25 3 0 5 0x401000 0x401100"
	  echo "27 0 1 9 0 0x2000"; echo "25 3 0 6 0x401000 0x401100"; } |
		records narrow.rec
	same "narrow_edges" "6" "$("$KIPT" show narrow.rec --counts --pid 9 \
		2>err | awk '{ print $1 }')"
	same "narrow_edges_by_cpu" "" "$("$KIPT" show narrow.rec --counts --cpu 0 2>err)"
	same "narrow_edges_by_cpu_says_why" 1 "$(grep -c "by process: --cpu" err)"
}

# A gap is news for each task: where it is now is shown, whoever came first after it.
calls_after_gap_tests() {
	{ cpu 0; thread 7 7; call 010 100; gap 1; thread 8 7; sync 310; call 320 100
	  thread 7 7; sync 210; call 220 300; } | records gap.rec
	same "calls_of_each_task_after_a_gap" "main
first
| gap
third
first
second
third" "$("$KIPT" show gap.rec --kallsyms kallsyms --calls 2>err |
		sed '/^[-=]/d; s/^[ 0-9]*//; s/[+ ].*//; s/^|.*/| gap/')"
}

narrow_usage_tests() {
	refused "narrow_cpu_bad" 2 "no CPU list" show narrow.rec --cpu 0-
	refused "narrow_pid_bad" 2 "allowed are numbers" show narrow.rec --pid 7,
	refused "narrow_pid_name" 2 "allowed are numbers" show narrow.rec --pid bash
	refused "narrow_tid_large" 2 "allowed are numbers" show narrow.rec --tid 4194305
	refused "narrow_packed" 2 "only whole traces are packed" decode narrow.rec \
		--packed out --pid 7
}
