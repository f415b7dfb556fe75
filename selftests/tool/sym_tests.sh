# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# --sym: only calls of chosen functions and what they call, as they are in the whole
# trace. Sourced by tool_test.sh; uses what record_tests.sh makes records with.

# sym_of NAME WANT OPTION...: "CPU TID FROM-TO" of the branches that are left
sym_of() {
	local name=$1 want=$2
	shift 2
	same "$name" "$want" "$("$KIPT" show sym.rec --kallsyms kallsyms \
		--branches --json "$@" 2>err | python3 -c 'import json, sys
print(*("%s/%s:%s-%s" % (o["cpu"], o.get("tid", "-"), o["ip"][-3:], o["to"][-3:])
        for o in map(json.loads, sys.stdin) if o["type"] == "branch"))')"
}

# Task 7 calls third within first, and alone; task 8 comes in between.
sym_calls() {
	cpu 0; task 7; tsc 1000; enable 010; call 010 100; tsc 1100; call 110 300
	tsc 1150; task 8; call 410 200; ret 220 415; tsc 1200; task 7; ret 310 115
	tsc 1300; ret 120 015; call 020 300; tsc 1400; ret 310 025; jump 030 040; tsc 1500
}

sym_known_tests() {
	sym_calls | records sym.rec
	sym_of "sym_one" "0/7:010-100 0/7:110-300 0/7:310-115 0/7:120-015" --sym first
	sym_of "sym_within" "0/7:110-300 0/7:310-115 0/7:020-300 0/7:310-025" --sym third
	sym_of "sym_two" "0/7:010-100 0/7:110-300 0/8:410-200 0/8:220-415 0/7:310-115 0/7:120-015" \
		--sym first,second
	sym_of "sym_and_time" "0/7:110-300 0/7:310-115" --sym first --time 100,299
	sym_of "sym_and_tid" "0/8:410-200 0/8:220-415" --sym first,second --tid 8
	sym_of "sym_and_another_cpu" "" --sym first --cpu 1
	same "sym_calls" "== CPU 0
-- task 7
             0 main+0x10 [kernel]
             0   first  300 ticks
           100     third  100 ticks
-- task 8
-- task 7
           300   third [kernel]  100 ticks" "$("$KIPT" show sym.rec --kallsyms kallsyms --calls --time \
		--sym first,third --tid 7 2>err)"
	same "sym_summary" "6 branches, 6 instructions, 0 gaps" "$(cat err)"
	same "sym_slowest" "third 1100 100 third 1300 100" "$("$KIPT" show sym.rec \
		--kallsyms kallsyms --sym third --slowest third --json 2>err |
		python3 -c 'import json, sys
print(*(word for o in map(json.loads, sys.stdin) if o["type"] == "run"
        for word in (o["symbol"], o["tsc"], o["ticks"])))')"
	"$KIPT" show sym.rec --kallsyms kallsyms --sym third -o out.rec 2>err
	same "sym_to_a_file" "$("$KIPT" show sym.rec --kallsyms kallsyms --time --sym third \
		2>err)" "$("$KIPT" show out.rec --kallsyms kallsyms --time 2>err)"
	rm -f out.rec out.rec.maps
}

# Where it begins and where it ends.
sym_rule_tests() {
	local to="0xffffffff81000100"
	{ cpu 0; tsc 100; enable 010; call 010 100; tsc 110; gap 3; tsc 180; enable 110
	  ret 120 015; call 020 200; } | records sym.rec
	sym_of "sym_goes_on_after_a_gap" "0/-:010-100 0/-:120-015" --sym first
	same "sym_keeps_gaps_within" "2 branches, 2 instructions, 1 gaps (overflow 0)" \
		"$("$KIPT" show sym.rec --kallsyms kallsyms --sym first --stats 2>&1 |
		sed 's/([^)]*)/(overflow 0)/')"
	{ cpu 0; tsc 100; enable 010; gap 1; enable 010; call 010 100; tsc 110; gap 3
	  tsc 180; enable 210; ret 220 315; call 320 200; tsc 190; } | records sym.rec
	sym_of "sym_ends_by_a_gap" "0/-:010-100" --sym first
	same "sym_lost" "2 10 70" "$("$KIPT" show sym.rec --kallsyms kallsyms \
		--sym first --lost --json 2>err | python3 -c 'import json, sys
lost = [o for o in map(json.loads, sys.stdin) if o["type"] == "lost"]
print(len(lost), lost[0]["ticks"], lost[1]["ticks"])')"
	# A thunk, or the PLT, leads to it; its call is the function's.
	{ cpu 0; tsc 100; enable 010; call 010 500; tsc 120
	  echo "1 4 0 1 0xffffffff81000500 $to"; tsc 150; ret 120 015
	  call 020 200; } | records sym.rec
	sym_of "sym_through_a_thunk" "0/-:010-500 0/-:500-100 0/-:120-015" --sym first
	same "sym_through_a_thunk_lasts_as_long" "first 100 50" "$("$KIPT" show sym.rec \
		--kallsyms kallsyms --sym first --slowest first --json 2>err |
		python3 -c 'import json, sys
for o in map(json.loads, sys.stdin):
    if o["type"] == "run":
        print(o["symbol"], o["tsc"], o["ticks"])')"
	# Records of calls only, and the instructions of the others count.
	{ cpu 0; enable 010; call 010 500; echo "1 4 0 5 0xffffffff81000500 $to"
	  call 110 200; ret 220 115; ret 120 015; } | records sym.rec
	sym_of "sym_calls_only" "0/-:010-500 0/-:500-100 0/-:110-200 0/-:220-115 0/-:120-015" \
		--sym first
	same "sym_calls_are_no_jumps" "4 branches, 9 instructions, 0 gaps" \
		"$("$KIPT" show sym.rec --kallsyms kallsyms --sym first --calls \
		-o out.rec 2>&1)"
	rm -f out.rec out.rec.maps
	# The trace begins within it.
	{ cpu 0; enable 110; call 110 300; ret 310 115; ret 120 015; jump 020 030
	  } | records sym.rec
	sym_of "sym_found_within" "0/-:110-300 0/-:310-115 0/-:120-015" --sym first
	# It went elsewhere meanwhile.
	{ cpu 0; task 7; tsc 100; enable 010; call 010 100; tsc 110; cpu 1; task 7
	  tsc 300; enable 210; tsc 310; jump 210 220; cpu 0; task 7; tsc 400; jump 220 230
	  } | records sym.rec
	sym_of "sym_ends_where_a_task_moves" "0/7:010-100" --sym first
}

# Calls and returns of two tasks on each of two CPUs, gaps among them: totals_as_whole
# SEED says what of a function differs in what --sym leaves.
sym_random() {
	python3 -c 'import random, sys
rng = random.Random(int(sys.argv[1]))
base, starts, tsc, cpu = 0xffffffff81000000, (0x100, 0x200, 0x300, 0x400), 1000, 0
stacks = {tid: [0] for tid in (7, 8, 9, 10)}
task = {0: 7, 1: 9}
fresh = set(stacks)
def turn():
    print("19 0 1", cpu, "0 0")
    run()
def run():
    print("5 0 1", task[cpu], "0", task[cpu])
    if task[cpu] in fresh:
        print("2 1 0 0", base + 0x10, "0")
    fresh.discard(task[cpu])
turn()
for _ in range(rng.randrange(20, 300)):
    stack, what = stacks[task[cpu]], rng.choice("ccccrrrrttttjkGT")
    if what == "c" and len(stack) < 20:
        to = rng.choice(starts)
        print("1 3 0 1", base + stack[-1] + 0x10 + 0x10 * len(stack) % 0x80, base + to)
        stack.append(to)
    elif what == "r" and len(stack) > 1:
        gone = stack.pop()
        print("1 6 0 1", base + gone + 0xf0,
              base + stack[-1] + 0x15 + 0x10 * len(stack) % 0x80)
    elif what == "t":
        tsc += rng.randrange(1, 500)
        print("8 0 1 0 0", tsc)
    elif what == "j":
        print("1 4 0 1", base + stack[-1] + 0x90, base + stack[-1] + 0xa0)
    elif what == "k":
        task[cpu] = (15 if cpu == 0 else 19) - task[cpu]
        run()
    elif what == "G":
        print("18 3 0 0", base, "5")
        print("2 1 0 0", base + stack[-1] + 0x12, "0")
    elif what == "T":
        cpu = 1 - cpu
        turn()' "$1"
}

totals_as_whole() {
	python3 -c 'import json, subprocess, sys
def totals(*words):
    text = subprocess.run([sys.argv[1], "show", "sym.rec", "--kallsyms", "kallsyms",
                           "--totals", "--json", *words],
                          capture_output=True, text=True).stdout
    return {o["symbol"]: o for o in map(json.loads, text.splitlines())
            if o["type"] == "total"}
whole = totals()
for name in sorted(whole):
    if name == "main":
        continue
    part = totals("--sym", name).get(name)
    if part != whole[name]:
        print("seed", sys.argv[2], whole[name], part)' "$KIPT" "$1"
}

sym_random_tests() {
	local seed wrong=""
	for seed in $(seq "$(fewer 12 4)"); do
		sym_random "$seed" | records sym.rec
		wrong+=$(totals_as_whole "$seed" || echo "seed $seed has no answer")
	done
	same "sym_totals_are_those_of_the_whole" "" "$wrong"
}

sym_refused_tests() {
	sym_calls | records sym.rec
	refused "sym_unknown" 1 "^kipt: --sym thirt: no function of that name ran in the trace.*; near it: third" \
		show sym.rec --kallsyms kallsyms --sym first,thirt
	refused "sym_empty_name" 2 "sym first,: names of functions with commas" show \
		sym.rec --kallsyms kallsyms --sym first,
	refused "slowest_empty_name" 2 "slowest : names of functions" show \
		sym.rec --kallsyms kallsyms --slowest ""
	refused "sym_needs_a_name" 2 "sym needs a value: NAME" show sym.rec --sym
	refused "sym_and_packed" 2 "only whole traces are packed" \
		decode x.pt --sym first --packed out.rec
	{ cpu 0; echo "25 3 0 5 0xffffffff81000010 0xffffffff81000200"; } | records sym.rec
	refused "sym_of_counts" 1 "--sym second: the branches were only counted" \
		show sym.rec --kallsyms kallsyms --counts --sym second
	{ cpu 0; jump 110 120; } | records sym.rec
	run show sym.rec --kallsyms kallsyms --sym first
	same "sym_never_called" "0 kipt: note: no call of first is in the trace" \
		"$STATUS $(grep note <<<"$ERR")"
}

sym_tests() {
	sym_known_tests
	sym_rule_tests
	sym_random_tests
	sym_refused_tests
}
