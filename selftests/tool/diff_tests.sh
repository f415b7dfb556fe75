# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# kipt diff: two runs of known times, of which one has something slower. Sourced by
# tool_test.sh; uses what record_tests.sh and totals_tests.sh make records with.

# diff_run SLOWER FURTHER: "first" calls "second", which takes SLOWER ticks more, and
# then what the line FURTHER says
diff_run() {
	cpu 1; task 7; tsc 1000; enable 010; call 010 100; tsc 1100; call 110 200
	tsc $((1400 + $1)); ret 220 115; tsc $((1600 + $1)); ret 140 015
	tsc $((2000 + $1)); ${2:-true}
}

# kdiff ARGS...: with the symbols of these tests
kdiff() {
	run diff "$@" --kallsyms kallsyms
}

diff_json() {
	python3 -c 'import json, sys
for o in map(json.loads, sys.stdin):
    if o["type"] == "change":
        print(o.get("symbol", o.get("offset", o.get("ip"))), o.get("object"), o.get("only"),
              *("%s %d>%d%s" % (k, *o[k], "?" * (k in o.get("unsure", []))) for k in
                ("self", "total", "insns", "calls") if k in o))'
}

# A callee is slower: it comes before those that only wait for it.
diff_slower_tests() {
	diff_run 0 | records a.rec
	diff_run 300 | records b.rec
	kdiff a.rec b.rec
	same "diff_exits_0" "0 " "$STATUS $ERR"
	same "diff_text" "A: a.rec: 4 instructions, 2 calls in 1000 ticks; nothing is lost
B: b.rec: 4 instructions, 2 calls in 1300 ticks; nothing is lost
Times are ticks of the TSC: how fast it is, is not known.
Noise is up to 10 % of the larger number, and up to 0.1 % of the whole run.
Functions that differ: 3 of 3, what changed most comes first.

all functions
  self               1000 ticks ->       1300 ticks        +300 ticks    +30.0 %
  instructions                4 ->                4                 0      0.0 %
  calls                       2 ->                2                 0      0.0 %

second [kernel]
  self                300 ticks ->        600 ticks        +300 ticks   +100.0 %
  total               300 ticks ->        600 ticks        +300 ticks   +100.0 %
  instructions                1 ->                1                 0      0.0 %
  calls                       1 ->                1                 0      0.0 %

first [kernel]
  self                300 ticks ->        300 ticks           0 ticks      0.0 %
  total               600 ticks ->        900 ticks        +300 ticks    +50.0 %
  instructions                2 ->                2                 0      0.0 %
  calls                       1 ->                1                 0      0.0 %

main [kernel]
  self                400 ticks ->        400 ticks           0 ticks      0.0 %
  total              1000 ticks ->       1300 ticks        +300 ticks    +30.0 %
  instructions                1 ->                1                 0      0.0 %" "$OUT"
	kdiff b.rec a.rec --top 1
	same "diff_faster" "  self                600 ticks ->        300 ticks        -300 ticks    -50.0 %
2 more (--top 0 shows all)" "$(sed -n '/^second/{n;p};/more/p' <<<"$OUT")"
	kdiff a.rec b.rec --json
	same "diff_json" "second kernel None self 300>600 total 300>600 insns 1>1 calls 1>1
first kernel None self 300>300 total 600>900 insns 2>2 calls 1>1
main kernel None self 400>400 total 1000>1300 insns 1>1 calls 0>0" "$(diff_json <<<"$OUT")"
	same "diff_json_head" "a.rec b.rec 1000 1300 0 0 ticks 10.0 3 3" "$(head -n 1 <<<"$OUT" |
		python3 -c 'import json, sys
o = json.loads(sys.stdin.read())
a, b = o["a"], o["b"]
print(a["path"], b["path"], a["time"], b["time"], a["gaps"], b["lost"], o["unit"],
      o["noise"], o["functions"], o["changed"])')"
	kdiff a.rec b.rec --json --top 2
	same "diff_json_top" "second first" "$(diff_json <<<"$OUT" | cut -d' ' -f1 | xargs)"
}

# The numbers that --totals has.
diff_totals_tests() {
	known_calls | records a.rec
	{ cpu 0; } | records b.rec
	kdiff a.rec b.rec --json
	same "diff_has_what_totals_has" "$("$KIPT" show a.rec --totals --json \
		--kallsyms kallsyms 2>err | totals_json | awk '{ print $1, $3 }' | sort)" \
		"$(diff_json <<<"$OUT" | sed 's/ .*calls \([0-9]*\)>0?*/ \1/' | sort)"
}

diff_noise_tests() {
	diff_run 0 | records a.rec
	diff_run 20 | records b.rec
	kdiff a.rec a.rec
	same "diff_with_itself" "0 Nothing differs beyond that, of 3 functions." \
		"$STATUS $(tail -n 1 <<<"$OUT")"
	kdiff a.rec a.rec --noise 0 --json
	same "diff_with_itself_json" "0 1 0" "$STATUS $(wc -l <<<"$OUT") $(python3 -c '
import json, sys
print(json.loads(sys.stdin.read())["changed"])' <<<"$OUT")"
	kdiff a.rec b.rec
	same "diff_within_noise" "Nothing differs beyond that, of 3 functions." \
		"$(tail -n 1 <<<"$OUT")"
	kdiff a.rec b.rec --noise 6.2 --json
	same "diff_beyond_noise" "second" "$(diff_json <<<"$OUT" | cut -d' ' -f1 | xargs)"
	kdiff a.rec b.rec --noise 0 --json
	same "diff_no_noise" "second first main" \
		"$(diff_json <<<"$OUT" | cut -d' ' -f1 | xargs)"
	# A quarter more of something that is next to nothing of the whole.
	diff_run 900000 | records a.rec
	{ diff_run 900000; tsc 902100; } | records b.rec
	kdiff a.rec b.rec --noise 1.5 --json
	same "diff_small_beside_the_whole" "" "$(diff_json <<<"$OUT")"
	kdiff a.rec b.rec --noise 0.5 --json
	same "diff_not_so_small_beside_the_whole" "main" \
		"$(diff_json <<<"$OUT" | cut -d' ' -f1 | xargs)"
}

# diff_work SEED LONGER: a thousand rounds of equal work, of which each part takes up to
# a fifth more or less, and "second" LONGER more
diff_work() {
	python3 -c 'import random, sys
r, now, longer = random.Random(int(sys.argv[1])), 1000, int(sys.argv[2])
def spend(ticks):
    global now
    now += r.randrange(ticks * 4 // 5, ticks * 6 // 5)
    print("8 0 1 0 0 %d" % now)
def branch(kind, ip, to):
    print("1 %d 0 1 0xffffffff81000%s 0xffffffff81000%s" % (kind, ip, to))
print("19 0 1 1 0 0\n5 0 1 7 0 7\n8 0 1 0 0 1000\n2 1 0 0 0xffffffff81000010 0")
for _ in range(1000):
    branch(3, "010", "100"); spend(100)
    branch(3, "110", "200"); spend(300 + longer)
    branch(6, "220", "115"); spend(200)
    branch(6, "140", "015"); spend(400)' "$@"
}

# Equal work is not equally fast each time.
diff_equal_work_tests() {
	local seed
	diff_work 0 0 | records a.rec
	for seed in $(seq "$(fewer 10 3)"); do
		diff_work "$seed" 0 | records b.rec
		kdiff a.rec b.rec
		tail -n 1 <<<"$OUT"
	done | sort -u >work.out
	same "diff_equal_work" "Nothing differs beyond that, of 3 functions." "$(cat work.out)"
	kdiff a.rec b.rec --noise 0 --json
	same "diff_equal_work_is_not_the_same" "1 3" "$(wc -l < <(cmp a.rec b.rec)) $(
		grep -c '"type":"change"' <<<"$OUT")"
	diff_work 1 60 | records b.rec
	kdiff a.rec b.rec --json
	same "diff_equal_work_but_one" "second" \
		"$(diff_json <<<"$OUT" | sed -n '1s/ .*//p')"
}

diff_only_tests() {
	diff_run 0 | records a.rec
	{ diff_run 0; call 030 300; tsc 2500; ret 310 035; } | records b.rec
	kdiff a.rec b.rec
	same "diff_only_in_b" "third [kernel], only in B
  self                  0 ticks ->        500 ticks        +500 ticks        new
  total                 0 ticks ->        500 ticks        +500 ticks        new
  instructions                0 ->                1                +1        new
  calls                       0 ->                1                +1        new" \
		"$(sed -n '/^third/,/calls/p' <<<"$OUT")"
	same "diff_only_comes_first" "third" "$(grep '\[kernel\]' <<<"$OUT" |
		sed -n '1s/ .*//p')"
	kdiff b.rec a.rec
	same "diff_only_in_a" "third [kernel], only in A
  self                500 ticks ->          0 ticks        -500 ticks   -100.0 %" \
		"$(sed -n '/^third/,/self/p' <<<"$OUT")"
	kdiff a.rec b.rec --sym first
	same "diff_sym_narrows_both" "Nothing differs beyond that, of 3 functions." \
		"$(tail -n 1 <<<"$OUT")"
	kdiff a.rec b.rec --time ,1
	same "diff_time_narrows_both" "Nothing differs beyond that" \
		"$(tail -n 1 <<<"$OUT" | cut -d, -f1)"
	kdiff a.rec b.rec --cpu 0
	same "diff_cpu_narrows_both" "2 Nothing differs beyond that, of 0 functions." \
		"$(grep -c 'nothing of that is in the trace' <<<"$ERR") $(tail -n 1 <<<"$OUT")"
	kdiff a.rec b.rec --tid 7 --json
	same "diff_tid_narrows_both" "third" "$(diff_json <<<"$OUT" | sed -n '1s/ .*//p')"
}

diff_gap_tests() {
	diff_run 0 | records a.rec
	{ diff_run 0; gap 1; tsc 3000; enable 030; } | records b.rec
	kdiff a.rec b.rec
	same "diff_says_what_is_lost" "A: a.rec: 4 instructions, 2 calls in 1000 ticks; nothing is lost
B: b.rec: 4 instructions, 2 calls in 2000 ticks; 1 gap, in which 1000 ticks are lost, 50.0 % of the time
What is lost is in no number: a difference with '?' may come from that alone." \
		"$(sed -n '1,3p' <<<"$OUT")"
	kdiff a.rec b.rec --json
	same "diff_json_says_what_is_lost" "0 0 1 1000" "$(head -n 1 <<<"$OUT" | python3 -c '
import json, sys
o = json.loads(sys.stdin.read())
print(o["a"]["gaps"], o["a"]["lost"], o["b"]["gaps"], o["b"]["lost"])')"
	# 1000 ticks are lost: more than that is no work of the gap.
	{ diff_run 900 "call 030 300"; gap 1; tsc 3900; enable 030; } | records b.rec
	kdiff a.rec b.rec
	same "diff_marks_what_a_loss_may_be" "second [kernel]
  self                300 ticks ->       1200 ticks        +900 ticks   +300.0 % ?
  total               300 ticks ->       1200 ticks        +900 ticks   +300.0 % ?
  instructions                1 ->                1                 0      0.0 %" \
		"$(sed -n '/^second/,/instr/p' <<<"$OUT")"
	{ diff_run 1001 "call 030 300"; gap 1; tsc 4001; enable 030; } | records b.rec
	kdiff a.rec b.rec --json
	same "diff_json_marks_what_a_loss_may_be" "second kernel None self 300>1301 total 300>1301 insns 1>1 calls 1>1
main kernel None self 400>400 total 1000>2001 insns 1>2? calls 0>0
first kernel None self 300>300 total 600>1601 insns 2>2 calls 1>1
third kernel b self 0>0 total 0>0 insns 0>0 calls 0>1?" "$(diff_json <<<"$OUT")"
	same "diff_json_has_losses_beside_each" "4 4" "$(grep -c '"type":"change"' <<<"$OUT") $(
		grep -c '"lost":\[0,1000\]' <<<"$OUT")"
	kdiff b.rec a.rec
	same "diff_marks_losses_of_either" 4 "$(grep -c ' ?$' <<<"$OUT")"
}

# diff_page NAME ARGS...: the page has what the JSON has
diff_page() {
	local name=$1
	shift
	run diff "$@" --html out.html
	same "${name}_shows_nothing_else" "0 " "$STATUS $OUT"
	same "$name" "" "$("$KIPT" diff "$@" --json 2>err | python3 "$HERE/read_diff.py" out.html \
		open.html)"
}

# Names of functions may be anything, and may not become a part of the page.
diff_html_tests() {
	{ cat kallsyms
	  echo "ffffffff81000700 T <script>window.hurt=1</script>"
	  echo "ffffffff81000800 T </td><img/src=x/onerror='hurt()'>&lt;\""; } >hostile
	diff_run 0 "call 020 700" | records a.rec
	{ diff_run 300 "call 020 800"; tsc 2600; gap 1; tsc 3000; enable 030; } | records b.rec
	"$KIPT" open a.rec --html open.html 2>err
	diff_page "diff_html" a.rec b.rec --kallsyms hostile
	run diff a.rec b.rec --kallsyms hostile
	same "diff_html_head" "$(awk '!NF && n++ { exit } 1' <<<"$OUT")" \
		"$(python3 "$HERE/read_diff.py" out.html)"
	sed 's/<main>/<img id="x"><main>/' out.html >bad.html
	same "diff_html_control" "wrong: it has an element img with {'id': 'x'}" \
		"$(python3 "$HERE/read_diff.py" bad.html)"
	sed '0,/data-n="[0-9]*/s//&1/' out.html >bad.html
	same "diff_html_control_number" 1 "$("$KIPT" diff a.rec b.rec --kallsyms hostile --json \
		2>err | python3 "$HERE/read_diff.py" bad.html open.html | grep -c '^wrong: \[\[')"
	diff_page "diff_html_top" a.rec b.rec --kallsyms hostile --top 1
	diff_page "diff_html_of_itself" a.rec a.rec --kallsyms hostile
	grep -v "^8 " <(diff_run 0) | records untimed.rec
	diff_page "diff_html_without_times" a.rec untimed.rec --kallsyms hostile
	"$KIPT" diff a.rec b.rec --kallsyms hostile --html - >standard.html 2>err
	"$KIPT" diff a.rec b.rec --kallsyms hostile --html out.html 2>err
	same "diff_html_to_standard_output" "$(md5sum <out.html)" "$(md5sum <standard.html)"
	refused "diff_html_without_a_file" 1 "cannot read absent.rec" diff a.rec absent.rec \
		--html never.html
	same "diff_html_is_not_made_without" 0 "$(find . -name never.html | wc -l)"
	refused "diff_html_or_json" 2 "--json does not go with it" diff a.rec b.rec --html o --json
	cp a.rec same.rec
	refused "diff_html_over_its_input" 1 "--html same.rec: that is the file which is read" \
		diff a.rec same.rec --html same.rec
	same "diff_html_spares_its_input" "$(md5sum <a.rec)" "$(md5sum <same.rec)"
	refused "diff_html_disk_full" 1 "cannot write to /dev/full" diff a.rec b.rec \
		--html /dev/full
}

diff_timeless_tests() {
	diff_run 0 | records a.rec
	{ diff_run 0 "call 030 300"; gap 3; } | grep -v "^8 " | records b.rec
	kdiff a.rec b.rec
	same "diff_without_times" "0 A: a.rec: 4 instructions, 2 calls; nothing is lost
B: b.rec: 5 instructions, 3 calls; 1 gap
B has no times: calls and instructions are compared." \
		"$STATUS $(sed -n '1,2p;/times/p' <<<"$OUT")"
	same "diff_without_times_shows_none" 0 "$(grep -c 'self\|total\|ticks' <<<"$OUT")"
	kdiff b.rec a.rec --json
	same "diff_without_times_json" "main kernel None insns 2>1? calls 0>0
third kernel a insns 0>0 calls 1>0?" "$(diff_json <<<"$OUT")"
	kdiff b.rec b.rec
	same "diff_neither_has_times" 1 "$(grep -c '^Neither has times:' <<<"$OUT")"
}

# Functions of one name in one file; and processes that differ from run to run.
diff_name_tests() {
	{ cat kallsyms; echo "ffffffff81000700 t second"; } >twice
	{ diff_run 0; call 020 700; tsc 2500; ret 710 025; } | records a.rec
	diff_run 0 | records b.rec
	run diff a.rec b.rec --kallsyms twice --json
	same "diff_same_names_are_one" "second kernel None self 800>300 total 800>300 insns 2>1 calls 2>1" \
		"$(diff_json <<<"$OUT" | sed -n 1p)"
	same "diff_same_names_are_reported" \
		"kipt: note: second [kernel] was at several addresses: functions of one file and name are compared together (1 name)" \
		"$(grep second <<<"$ERR")"
}

# diff_program NAME ID: a program that calls a function, with a build id
diff_program() {
	printf '%s\n' ".globl _start, slow" "_start: call slow" "hlt" \
		".type slow, @function" "slow: ret" ".size slow, 1" |
		gcc -nostdlib -static -x assembler - -Wl,--build-id="0x$2" \
			-Wl,-Ttext=0x401000 -o "$1" 2>/dev/null
}

# diff_records FILE PROGRAM PID TICKS: in PROGRAM the call of slow() takes so long
diff_records() {
	printf 'kipt-maps 1\nprocess %s prog\nmap 401000 402000 1000 %s\n' "$3" \
		"$WORK/$2" >"$1.maps"
	{ cpu 0; task "$3"; tsc 100; echo "1 3 0 1 0x401000 0x401006"; tsc $((100 + $4))
	  echo "1 6 0 1 0x401006 0x401005"; } | records "$1"
}

# A file is the same by build id, whatever it is called; two builds by its name.
diff_build_tests() {
	mkdir -p old new
	if ! diff_program old/prog 1111111111111111 || ! diff_program new/prog 2222222222222222; then
		skip "diff_builds" "no compiler"
		return
	fi
	cp old/prog old/renamed
	diff_records a.rec old/prog 20 100
	diff_records b.rec new/prog 30 300
	kdiff a.rec b.rec
	same "diff_two_builds" "prog is another build in B: names are compared.
slow [prog]
  self                100 ticks ->        300 ticks        +200 ticks   +200.0 %" \
		"$(sed -n '/^prog/p;/^slow/{p;n;p}' <<<"$OUT")"
	strip -o old/prog.bare old/prog && strip -o new/prog.bare new/prog
	mkdir -p bare/old bare/new
	mv old/prog.bare bare/old/prog && mv new/prog.bare bare/new/prog
	diff_records c.rec bare/old/prog 20 100
	diff_records d.rec bare/new/prog 30 300
	kdiff c.rec d.rec --json
	same "diff_nameless_of_two_builds" "1 1" "$(grep -c '"only":"a"' <<<"$OUT") $(
		grep -c '"only":"b"' <<<"$OUT")"
	kdiff c.rec c.rec --noise 0
	same "diff_nameless_with_itself" 1 "$(grep -c 'Nothing differs' <<<"$OUT")"
	kdiff a.rec b.rec --json
	same "diff_two_builds_json" 1 "$(grep -c '"slow".*"other_build":true' <<<"$OUT")"
	diff_records b.rec old/renamed 30 300
	kdiff a.rec b.rec
	same "diff_renamed" "prog is renamed in B: the build id is the same.
slow [prog]
  self                100 ticks ->        300 ticks        +200 ticks   +200.0 %" \
		"$(sed -n '/^prog/p;/^slow/{p;n;p}' <<<"$OUT")"
	# The name is taken by another build, whose functions are other ones.
	diff_records b.rec old/renamed 30 300
	echo "map 501000 502000 1000 $WORK/new/prog" >>b.rec.maps
	{ cpu 0; task 30; tsc 100; echo "1 3 0 1 0x501000 0x501006"; tsc 150
	  echo "1 3 0 1 0x401000 0x401006"; tsc 550; } | records b.rec
	kdiff a.rec b.rec --json
	same "diff_build_id_before_name" "slow prog None self 100>400
slow prog b self 0>50" "$(diff_json <<<"$OUT" | grep ^slow | cut -d' ' -f1-5)"
	diff_program new/other 3333333333333333
	diff_records b.rec new/other 30 300
	kdiff a.rec b.rec --json
	same "diff_of_another_program" "slow other b
slow prog a" "$(diff_json <<<"$OUT" | grep ^slow | cut -d' ' -f1-3)"
}

diff_refused_tests() {
	diff_run 0 | records a.rec
	refused "diff_needs_two" 2 "diff needs FILE-A FILE-B" diff a.rec
	refused "diff_needs_no_third" 2 "too many: 'c'" diff a.rec b.rec c
	refused "diff_file_missing" 1 "cannot read absent.rec: .*ENOENT" diff a.rec absent.rec
	same "diff_file_missing_is_one_sentence" "1 " "$(wc -l <<<"$ERR") $OUT"
	refused "diff_first_file_missing" 1 "cannot read absent.rec: .*ENOENT" diff absent.rec a.rec
	refused "diff_of_something_else" 1 "kallsyms is neither a perf.data nor a file of records" \
		diff a.rec kallsyms
	refused "diff_folder_of_something_else" 1 "cannot read \.: " diff . a.rec
	head -c 100 a.rec >cut.rec
	refused "diff_file_cut" 1 "cut.rec" diff a.rec cut.rec
	same "diff_file_cut_shows_nothing" "" "$OUT"
	refused "diff_noise_words" 2 "--noise x: a percentage is meant, 0 to 100" \
		diff a.rec a.rec --noise x
	refused "diff_noise_most" 2 "--noise 101: a percentage" diff a.rec a.rec --noise 101
	refused "diff_top_words" 2 "--top x: a number of lines" diff a.rec a.rec --top x
	refused "diff_has_no_views" 2 "no option '--calls'" diff a.rec a.rec --calls
	refused "diff_symfs_of_records" 1 "a.rec holds records: --symfs and --vmlinux" \
		diff a.rec a.rec --symfs .
	grep -v "^8 " <(diff_run 0) | records untimed.rec
	refused "diff_time_of_none" 1 "the trace has no times" diff a.rec untimed.rec --time 1,2
	diff_run 300 | records b.rec
	"$KIPT" diff a.rec b.rec --kallsyms kallsyms >/dev/full 2>err
	same "diff_disk_full" "1 1" "$? $(grep -c 'cannot write to standard output' err)"
	for option in --json --top=0; do
		{ "$KIPT" diff a.rec b.rec --kallsyms kallsyms $option 2>err
		  echo $? >status; } | true
		same "diff_pipe_closed_$option" 0 "$(grep -vc 'cannot write' err)"
	done
}

# Half a run is none. The signal is sent as soon as it is caught, long before the end of
# the file.
diff_cancel_tests() {
	known_calls | records a.rec
	python3 -c 'data = open("a.rec", "rb").read()
open("long.rec", "wb").write(data + data[24:] * 100000)'
	interrupted 0 "$KIPT" diff long.rec a.rec >out 2>err
	same "diff_cancelled" "1 0 1" "$? $(wc -c <out) $(grep -c cancelled err)"
	rm long.rec
}

# What perf recorded has times in seconds, and records have them in ticks. Uses
# timed.data, of totals_perf_tests().
diff_perf_tests() {
	local one="02 23 99 01 51 00 10 40 00 06 2D 10 10 3D 10 10 01"
	# shellcheck disable=SC2086
	bytes $PSB 19 00 10 00 00 00 00 00 $one $PSB 19 e8 13 00 00 00 00 00 $one $PSB \
		19 e8 14 00 00 00 00 00 $one >timed.pt
	make_perf later.data timed.pt elf=timed
	# shellcheck disable=SC2086
	bytes $PSB 19 00 10 00 00 00 00 00 $one $PSB 19 f4 11 00 00 00 00 00 $one >timed.pt
	make_perf timed.data timed.pt elf=timed
	run diff timed.data timed.data
	same "diff_perf_with_itself" "0 in 0.500 us; nothing is lost
Nothing differs beyond that, of 1 function." "$STATUS $(sed -n 's/^A.* in/in/p;$p' <<<"$OUT")"
	run diff timed.data later.data
	same "diff_perf" "in 1.256 us; nothing is lost
[timed]" "$(sed -n 's/^B.* in/in/p;/^\[/p' <<<"$OUT")"
	same "diff_perf_instructions" "$("$KIPT" open later.data --stats 2>&1 |
		sed -n 's/.* \([0-9]*\) instructions.*/\1/p')" "$(sed -n \
		's/^B.* \([0-9]*\) instructions.*/\1/p' <<<"$OUT")"
	run diff timed.data later.data --comm nobody
	same "diff_perf_comm" "Nothing differs beyond that, of 0 functions." \
		"$(tail -n 1 <<<"$OUT")"
	run diff timed.data later.data --json
	same "diff_perf_json" "ns 500 1256" "$(head -n 1 <<<"$OUT" | python3 -c 'import json, sys
o = json.loads(sys.stdin.read())
print(o["unit"], o["a"]["time"], o["b"]["time"])')"
	"$KIPT" open later.data -o later.rec 2>err
	run diff timed.data later.rec
	same "diff_perf_and_records_with_a_clock" "in 1.256 us; nothing is lost" \
		"$(sed -n 's/^B.* in/in/p' <<<"$OUT")"
	# As files were that said nothing of it.
	printf '\0\0\0\0' | dd of=later.rec bs=1 seek=4 conv=notrunc 2>err
	run diff timed.data later.rec
	same "diff_perf_and_records" "0 1" "$STATUS $(grep -c \
		'^How fast the TSC is, is known of A only: calls and instructions' <<<"$OUT")"
	cp later.data same.data
	refused "diff_perf_over_its_input" 1 "--html same.data: that is the file which is read" \
		diff timed.data same.data --html same.data
	same "diff_perf_spares_its_input" "$(md5sum <later.data)" "$(md5sum <same.data)"
	refused "diff_perf_without_trace" 1 "has no trace" diff timed.data none.data
	refused "diff_raw_trace" 1 "timed.pt is neither .* 'kipt decode timed.pt -o FILE'" \
		diff timed.data timed.pt
	refused "diff_symfs_missing" 1 "--symfs absent: cannot be read" \
		diff timed.data later.data --symfs absent
	refused "diff_jobs_zero" 2 "--jobs 0: allowed are 1 to" diff timed.data later.data --jobs 0
}

diff_tests() {
	diff_slower_tests
	diff_totals_tests
	diff_noise_tests
	diff_equal_work_tests
	diff_only_tests
	diff_gap_tests
	diff_html_tests
	diff_timeless_tests
	diff_name_tests
	diff_build_tests
	diff_refused_tests
	diff_cancel_tests
}
