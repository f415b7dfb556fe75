# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034
#
# kipt show: records made here, their views, and bad files. Sourced by
# tool_test.sh.

# Functions at round addresses; 0xffffffff81000000 is "main".
make_kallsyms() {
	cat >kallsyms <<-'END'
	ffffffff81000000 T main
	ffffffff81000100 T first
	ffffffff81000200 T second
	ffffffff81000300 T third
	ffffffff81000400 T entry
	ffffffff81000500 T __x86_indirect_thunk_rax
	ffffffff81000600 T the_end
	ffffffff81000ff0 D data
	END
}

# call FROM TO, ret FROM TO, ...: the low 12 bits of kernel addresses
call() { echo "1 3 0 1 0xffffffff81000$1 0xffffffff81000$2"; }
ret() { echo "1 6 0 1 0xffffffff81000$1 0xffffffff81000$2"; }
jump() { echo "1 4 0 1 0xffffffff81000$1 0xffffffff81000$2"; }
event() { echo "1 12 0 0 0xffffffff81000$1 0xffffffff81000$2"; }
iret() { echo "1 9 0 1 0xffffffff81000$1 0xffffffff81000$2"; }
cpu() { echo "19 0 1 $1 0 0"; }
task() { echo "5 0 1 $1 0 $1"; }
tsc() { echo "8 0 1 0 0 $1"; }

# view NAME WANT [OPTION...]: of the records on standard input
view() {
	local name=$1 want=$2
	shift 2
	records view.rec
	same "$name" "$want" \
		"$("$KIPT" show view.rec --kallsyms kallsyms "$@" 2>err)"
}

# Times count from the first of each CPU, also those of lines that are held
# back until another CPU's records came; a TSC that is less is before it.
time_tests() {
	{ cpu 1; call 010 100; tsc 1000; call 110 200; ret 220 115; tsc 900
	  call 120 300; cpu 2; tsc 70000; call 010 100; tsc 70005
	  call 110 200; cpu 3; call 010 100; } |
		view "calls_time_of_each_cpu" "== CPU 1
               main+0x10 [kernel]
                 first
             0     second
          -100     third
== CPU 2
             0 main+0x10 [kernel]
             0   first
             5     second
== CPU 3
               main+0x10 [kernel]
                 first" --time
	same "branches_time_of_each_cpu" "0
0
-100
0
5" "$("$KIPT" show view.rec --kallsyms kallsyms --time --branches 2>err |
		awk '$1 ~ /^-?[0-9]+$/ && NF > 5 { print $1 }' | head -n 6)"
}

call_view_tests() {
	{ cpu 1; call 010 100; call 110 200; ret 220 115; ret 120 015
	  call 020 300; } | view "calls_nest_and_return" "== CPU 1
main+0x10 [kernel]
  first
    second
  third"
	{ cpu 0; for i in 1 2 3; do call 010 100; call 110 200; ret 220 115
	  ret 120 015; done; call 030 300; } |
		view "calls_repeated_fold" "== CPU 0
main+0x10 [kernel]
  first  x3
    second
  third"
	{ cpu 0; for i in 1 2; do call 010 100; ret 120 015; done; } |
		view "calls_no_fold" "== CPU 0
main+0x10 [kernel]
  first
  first" --no-fold
	{ cpu 0; for i in 1 2 3; do call 010 100; ret 120 015; call 020 200
	  ret 220 025; done; } | view "calls_repeated_pairs_fold" "== CPU 0
main+0x10 [kernel]
  first  (this and the next 1: x3)
  second"
	{ cpu 0; call 010 100; event 130 400; call 410 200; ret 220 415
	  iret 430 130; call 140 300; } |
		view "calls_event_returns_to_where_it_hit" "== CPU 0
main+0x10 [kernel]
  first
    event: entry
      second
    third"
	{ cpu 0; call 010 500; call 502 508; ret 510 200; call 210 300
	  ret 320 215; ret 230 015; call 020 100; } |
		view "calls_thunk_is_what_it_leads_to" "== CPU 0
main+0x10 [kernel]
  second
    third
  first"
	{ cpu 0; call 010 100; jump 120 200; call 210 300; ret 320 215
	  ret 230 015; call 020 100; } |
		view "calls_tail_call_returns_to_the_caller" "== CPU 0
main+0x10 [kernel]
  first
    second
      third
  first"
	{ cpu 0; call 010 100; ret 120 250; call 260 300; } |
		view "calls_unknown_return_is_found_again" "== CPU 0
main+0x10 [kernel]
  first
second+0x50
  third"
	{ cpu 0; task 7; call 010 100; task 8; call 210 300; task 7
	  ret 120 015; call 020 200; task 8; ret 320 215; call 220 100; } |
		view "calls_each_task_has_its_stack" "== CPU 0
-- task 7
main+0x10 [kernel]
  first
-- task 8
second+0x10 [kernel]
  third
-- task 7
  second [kernel]
-- task 8
  first [kernel]"
	{ cpu 0; call 010 100; echo "18 1 1 0 0 77"; ret 120 015; } |
		view "calls_gap_is_shown" "== CPU 0
main+0x10 [kernel]
  first
    | gap: the CPU lost packets (overflow), at offset 77"
	{ cpu 0; call 010 100; echo "10 0 0 8 0xffffffff81000110 0x1234"; } |
		view "calls_ptwrite_is_shown" "== CPU 0
main+0x10 [kernel]
  first
    | ptwrite 0x1234 (8 bytes) at first+0x10 [kernel]"
	{ cpu 0; call 010 100; call 110 200; call 210 300; } |
		view "calls_max_depth" "== CPU 0
main+0x10 [kernel]
  first" --max-depth 2
}

other_view_tests() {
	{ cpu 2; call 010 100; echo "20 0 0 3 0xffffffff81000100 0"; } |
		view "branches_view" "== CPU 2
ffffffff81000010 main+0x10 [kernel] -> ffffffff81000100 first [kernel]  call" --branches
	{ cpu 2; call 010 100; echo "20 0 0 3 0xffffffff81000100 0"; } |
		view "insns_view" "== CPU 2
ffffffff81000100 first [kernel]" --insns
	{ cpu 2; echo "17 0 131 1 0 0"; echo "17 0 0 3 0xffffffff81000100 7"; } |
		view "triggers_are_shown" "== CPU 2
              -- triggers 0x1 and others
              -- triggers 0x3 at first [kernel], 7 instructions on" --branches
	{ cpu 2; echo "3 1 3 0 0 0"; echo "3 1 2 0 0xffffffff81000100 0"; } |
		view "disable_without_address" "== CPU 2
              -- tracing ends
              -- tracing ends at first [kernel]" --branches
	{ for ip in 1 2 3; do echo "20 0 0 3 $ip 0"; done; } |
		view "insns_hash" "3 $(python3 -c '
h = 1469598103934665603
for ip in 1, 2, 3:
    h = (h ^ ip) * 1099511628211 % 2**64
print("%016x" % h)')" --insns --hash
	{ cpu 0; call 010 100; echo "18 5 1 0 0 4096"; } |
		view "stats_view" \
		"1 branches, 1 instructions, 1 gaps (ring 1)" --stats
	# The type of sums that the tool makes for itself.
	{ cpu 0; call 010 100; echo "254 0 0 0 5 7"; } |
		view "sums_in_a_file_do_not_count" \
		"1 branches, 1 instructions, 0 gaps" --stats
	{ cpu 3; call 010 100; echo "18 2 0 5 0x401000 99"
	  echo "250 9 0 0 0 0"; } | records json.rec
	same "json_is_json" "cpu branch gap unknown summary" \
		"$("$KIPT" show json.rec --json --kallsyms kallsyms |
		python3 -c 'import json, sys
print(*(json.loads(line)["type"] for line in sys.stdin))')"
	same "json_members" "call 3 0xffffffff81000010 main+0x10 [kernel] 0xffffffff81000100 first [kernel] decode 99" \
		"$("$KIPT" show json.rec --json --kallsyms kallsyms |
		python3 -c 'import json, sys
o = [json.loads(line) for line in sys.stdin]
b, g = o[1], o[2]
print(b["kind"], b["cpu"], b["ip"], b["ip_symbol"], b["to"], b["to_symbol"],
      g["kind"], g["value"])')"
}

# Symbols of a program, through mappings in a file.
user_symbol_tests() {
	local start
	printf 'int callee(void) { return 1; }\nint main(void) { return callee(); }\n' \
		>program.c
	if ! gcc -O0 -no-pie -o program program.c 2>/dev/null; then
		skip "user_symbols" "no compiler"
		return
	fi
	start=$(nm program | awk '$3 == "callee" { print $1 }')
	printf 'kipt-maps 1\nprocess 42 program\nmap 401000 402000 1000 %s\n' \
		"$PWD/program" >user.rec.maps
	{ cpu 0; task 42; echo "1 3 0 1 0x401010 0x$start"; } |
		records user.rec
	run show user.rec --kallsyms kallsyms
	if grep -q '^  callee' <<<"$OUT"; then
		ok "user_symbols"
	else
		not_ok "user_symbols" "$OUT$ERR"
	fi
	ln -sf /dev/full full.rec
	run show user.rec --maps user.rec.maps -o full.rec
	same "user_symbols_disk_full" "1 1 full.rec" "$STATUS $(grep -c ENOSPC <<<"$ERR") $(
		ls -d full.rec*)"
	# Of two programs at the same addresses nobody knows which it was; one that is mapped
	# twice is one.
	cp program second
	printf 'map 401000 402000 1000 %s\n' "$PWD/program" >>user.rec.maps
	run show user.rec --kallsyms kallsyms
	same "user_symbols_of_one_mapped_twice" "1 0" \
		"$(grep -c '^  callee' <<<"$OUT") $(grep -c 'different code' <<<"$ERR")"
	printf 'map 400000 403000 0 %s\n' "$PWD/second" >>user.rec.maps
	run show user.rec --kallsyms kallsyms
	same "user_symbols_of_two_programs" "0 1 1" "$(grep -c callee <<<"$OUT") $(
		grep -c "^  0x$(sed 's/^0*//' <<<"$start")" <<<"$OUT") $(
		grep -c 'process 42 (program) had different code at the same addresses' <<<"$ERR")"
}

bad_record_tests() {
	records version.rec --header 9 </dev/null
	refused "records_version" 1 "records of version 9" show version.rec
	{ cpu 0; } | records partial.rec
	printf 'x' >>partial.rec
	refused "records_partial" 1 "ends inside a record" show partial.rec
	: >empty
	refused "records_empty" 1 "is empty" show empty
	head -c 4096 /dev/zero >zero
	refused "records_no_header" 1 "no file of records" show zero
	refused "records_missing" 1 "cannot read nothere.*ENOENT" show nothere
	{ cpu 0; } | records good.rec
	refused "records_bad_maps" 1 "line 1 is not of a maps file" \
		show good.rec --maps zero
}

# A file that the user names has kernel symbols, whether the trace needs them or not.
bad_kallsyms_tests() {
	local verb want
	mkdir -p folder
	printf 'fetch:x:1\nbad:x:2\n' >words
	sed 's/^[0-9a-f]*/0000000000000000/' kallsyms >hidden
	for verb in "show user.rec" "open user.rec --calls" "open json.rec" "diff json.rec json.rec"; do
		for want in "nothere:cannot read kernel symbols from nothere.*ENOENT" \
			"folder:cannot read kernel symbols from folder.*EISDIR" \
			"empty:no addresses of kernel code in empty: it is no copy of /proc/kallsyms, or none that root made" \
			"words:no addresses of kernel code in words" \
			"hidden:no addresses of kernel code in hidden"; do
			# shellcheck disable=SC2086
			refused "records_bad_kallsyms $verb ${want%%:*}" 1 "${want#*:}" \
				$verb --kallsyms "${want%%:*}"
			same "records_bad_kallsyms_alone $verb ${want%%:*}" ":1:0" \
				"$OUT:$(grep -c . err):$(grep -c kptr_restrict err)"
		done
	done
	"$KIPT" show json.rec --calls --kallsyms <(cat kallsyms) >out 2>err
	same "records_kallsyms_of_a_pipe" "0 1" "$? $(grep -cw -m1 first out)"
}

# Any bytes are shown somehow; nothing crashes.
random_record_tests() {
	local seed bad='' form
	for seed in $(seq "$(fewer 6 2)"); do
		python3 -c "import random
r = random.Random($seed)
packed = (22, 23, 24, 28, 29, 30)
other = [n for n in range(256) if n not in packed]
for _ in range(4000):
    print(r.choice((1, 1, 1, 1, 2, 3, 5, 18, 19, 21, r.choice(other))),
          r.randrange(16), r.choice((0, 1, 2, r.randrange(65536))),
          r.randrange(4), hex(0xffffffff81000000 + r.randrange(0x700)),
          hex(0xffffffff81000000 + r.randrange(0x700)))" | records random.rec
		for form in --calls --branches --insns --counts --totals \
			--json --stats; do
			"$KIPT" show random.rec $form --kallsyms kallsyms \
				>/dev/null 2>&1 || bad="$bad $seed$form"
		done
		# Some of them are counts, which these refuse.
		for form in "--slowest second" "--sym first" \
			"--sym first,third --slowest third --tid 1" \
			"--sym second --calls --time 5, --json"; do
			# shellcheck disable=SC2086
			"$KIPT" show random.rec $form --kallsyms kallsyms \
				>/dev/null 2>&1
			(($? <= 1)) || bad="$bad $seed$form"
		done
	done
	same "records_random_are_shown" "" "$bad"
}

# A file that kipt 0.2.0 wrote, of two CPUs' chunks decoded by two threads. It said then
# what it held.
old_record_tests() {
	zstd -dqf "$HERE/version-2.rec.zst" -o old.rec
	same "records_of_version_2_are_read" "2237 116984e3099faf88" \
		"$("$KIPT" show old.rec --branches --hash 2>/dev/null)"
	same "records_of_version_2_stats" "2237 branches, 5315 instructions, 5 gaps (decode 5)" \
		"$("$KIPT" show old.rec --stats)"
	run show old.rec -o again.rec
	same "records_of_version_2_become_new_ones" "2237 116984e3099faf88" \
		"$("$KIPT" show again.rec --branches --hash 2>/dev/null)"
	cpu 0 | records old.rec --header 1
	refused "records_of_version_1" 1 "reads versions 2 to 3" show old.rec
}

# WALK records of these bytes.
walk() {
	python3 -c '
import struct, sys
bytes = b"".join(struct.pack("<BI", *map(int, s[1:].split(","))) if s[0] == "t" else
                 struct.pack("<BIBI", 1, *map(int, s[1:].split(","))) if s[0] == "s" else
                 bytes([int(s, 0)]) for s in sys.argv[1:])
flags, aux, ip, value = struct.unpack("<HIQQ", bytes.ljust(22, b"\0"))
print(30, len(bytes), flags, aux, ip, value)' "$@"
}

# A function that calls another twice, once by a register; TYPE KIND FLAGS AUX IP VALUE. Of
# NODE records (28) FLAGS are instructions * 32 + 16, if it pushes, + kind of branch.
#  1 at 401000: 3 instructions, jz to 2, else 3	2 at 401010: 1, call of 5, returns to 3
#  3 at 401020: 4, call by a register, returns to 4	4 at 401030: 2, jmp to 1, 7 on the way
#  5 at 402000: 6, ret	6: slow	7 at 401038: none
nodes() {
	printf '%s\n' "28 1 97 1 0x401006 0x401000" "29 1 0 1 0 2" "29 0 0 1 0 3" \
		"28 3 51 2 0x401010 0x401010" "29 0 0 2 0 3" "29 1 0 2 0 5" \
		"28 6 149 3 0x40102e 0x401020" "29 0 0 3 0 4" \
		"28 5 64 4 0x401036 0x401030" "29 0 0 4 0 7" \
		"28 4 34 7 0x401038 0x401038" "29 1 0 7 0 1" \
		"28 2 198 5 0x40200a 0x402000" "28 7 0 6 0x403000 0x403000"
}

node_record_tests() {
	same "records_nodes_are_walked" \
		"branch cond 0x401010 3 branch call 0x402000 1 branch ret 0x401020 6 branch call-ind 0x402000 4 branch ret 0x401030 6 branch jump 0x401000 3 branch call-ind 0x402000 7" \
		"$({ nodes; walk s1,0,0 6 6 t3,5 6; walk 4 t3,5; } | packed_branches)"
	same "records_nodes_instructions_add_up" \
		"branch cond 0x401010 13 branch call 0x402000 1 sync reached None 7 disable branch None 100 branch unknown 0x2 6" \
		"$({ nodes; walk s1,0,10 6 t5,5; echo "21 2 0 7 0x402000 0"
		  walk s4,0,100; echo "3 1 2 0 0 0"; echo "1 0 0 6 1 2"; } |
		packed_branches)"
	same "records_nodes_up_to_one" \
		"branch call 0x402000 10 gap decode None None branch call 0x402000 1" \
		"$({ nodes; walk s2,0,9 t5,5; walk s2,0,8; echo "18 2 0 0 0 0"
		  walk s2,0,0 t5,5; } | packed_branches)"
	same "records_nodes_return_addresses_by_slot" \
		"branch ret 0x403000 6 branch ret 0x401000 6" \
		"$({ nodes; echo "29 2 0 63 0 6"; walk s5,0,0 6
		  echo "29 2 0 5 0 1"; walk s5,6,0 6; } | packed_branches)"
	same "records_nodes_target_drops_a_return_address" \
		"branch ret 0x402000 6 branch ret 0x401000 6" \
		"$({ nodes; echo "29 2 0 3 0 6"; echo "29 2 0 2 0 1"; walk s5,4,0 t3,5 6; } |
		packed_branches)"
	same "records_nodes_are_defined_anew" "branch cond 0x401010 3 branch cond 0x409000 1" \
		"$({ nodes; walk s1,0,0 6; echo "28 1 33 1 0x409000 0x409000"
		  echo "29 1 0 1 0 1"; walk s1,0,0 6; } |
		packed_branches)"
	same "records_nodes_of_two_dictionaries" "branch ret 0x402000 6 branch ret 0x402000 6" \
		"$({ nodes; walk s5,0,0; echo "24 0 1 1 0 0"; nodes; walk s5,9,0 t3,5
		  echo "24 0 1 0 0 0"; walk t3,5; } | packed_branches)"
	packed_refused "node_kind" "a node is of no kind" "28 8 0 1 0 0"
	packed_refused "link_kind" "a link is of no kind" "$(nodes)
29 3 0 1 0 1"
	packed_refused "link_of_nothing" "a link is of a node that is not defined" "29 0 0 1 0 1"
	packed_refused "link_slot" "a slot that is too large" "29 2 0 64 0 1"
	packed_refused "link_to_nothing" "goes to a node that is not defined" "$(nodes)
29 0 0 1 0 0x100000001
$(walk s1,0,0 4)"
	packed_refused "walk_without_start" "nothing says where control is" "$(nodes)
$(walk 6)"
	packed_refused "walk_starts_nowhere" "control is at a node that is not defined" "$(nodes)
$(walk s70000,0,0)"
	packed_refused "walk_long" "too many steps" "$(nodes)
30 23 0 0 0 0"
	packed_refused "walk_item" "an item is of no kind" "$(nodes)
$(walk s1,0,0 9)"
	packed_refused "walk_item_cut" "an item is of no kind that there is, or cut" "$(nodes)
$(walk s1,0,0 3 1)"
	packed_refused "walk_outcome_at_a_slow_node" "an outcome is where none can be" "$(nodes)
$(walk s6,0,0 6)"
	packed_refused "walk_ret_not_taken" "an outcome is where none can be" "$(nodes)
$(walk s5,0,0 4)"
	packed_refused "walk_target_at_a_branch" "a target is where none can be" "$(nodes)
$(walk s1,0,0 t3,5)"
	packed_refused "walk_up_to_nothing" "control does not come to a node" "$(nodes)
$(walk s1,0,0 t5,2)"
	packed_refused "walk_in_circles" "too many nodes that use no packet" \
		"28 5 0 1 0 0x401000
29 0 0 1 0 1
$(walk s1,0,0 6)"
}

# A path of two branches and one without any, taken in several ways, and the
# branches that kipt shows for them. TYPE KIND FLAGS AUX IP VALUE; in PATHS
# records AUX, IP and VALUE hold five numbers.
packed_record_tests() {
	local paths="22 0 0 7 5 2
1 1 0 3 0x401000 0x401010
1 2 0 4 0x401020 0x401000
22 0 0 8 2 0"
	same "records_packed_are_shown" \
		"branch 3 branch 4 branch 10 branch 4 branch 10 branch 5 branch 4 sync 7 branch 1 branch 12 branch 4" \
		"$({ echo "$paths"; echo "23 3 0 7 0x700000008 0"
		  echo "1 1 0 5 0x401000 0x401010"; echo "23 0 1 0 0 0"
		  echo "23 1 1 7 0 0"; echo "21 2 0 2 0x401000 0"
		  echo "24 0 1 3 0 0"; echo "22 0 0 7 9 1"
		  echo "1 1 0 1 0x401000 0x401010"; echo "23 1 0 7 0 0"
		  echo "24 0 1 0 0 0"; echo "23 1 0 7 0 0"; } |
		packed_numbers)"
	same "records_packed_enable_drops_instructions" \
		"branch 3 branch 4 enable None branch 3 branch 4 branch 1" \
		"$({ echo "$paths"; echo "23 1 0 7 0 0"
		  echo "2 1 0 0 0x401000 0"; echo "23 1 0 7 0 0"
		  echo "18 1 0 0 0x401000 0"; echo "1 1 0 1 1 1"; } |
		packed_numbers | sed 's/ gap None//')"
	same "stats_of_packed_records" \
		"4 branches, 27 instructions, 0 gaps" \
		"$({ echo "$paths"; echo "23 3 0 7 0x700000008 0"
		  echo "21 2 0 1 0x401000 0"; } | records packed.rec
		"$KIPT" show packed.rec --stats)"
	local nested="$paths
22 0 0 9 3 3
1 1 0 2 0x401000 0x401010
23 2 1 7 8 0
23 1 0 8 0 0"
	same "records_packed_paths_in_paths" \
		"branch 2 branch 4 branch 4 branch 14 branch 12 branch 4 sync 13" \
		"$({ echo "$nested"; echo "23 1 0 9 0 0"
		  echo "1 1 0 2 0x401000 0x401010"
		  echo "23 2 7 8 7 0"; echo "23 1 0 8 0 0"
		  echo "21 2 0 6 0x401000 0"; } | packed_numbers)"
	same "stats_of_paths_in_paths" "6 branches, 53 instructions, 0 gaps" \
		"$("$KIPT" show packed.rec --stats)"
	packed_refused "paths_too_deep" "paths within paths within paths" \
		"$nested
22 0 0 10 0 1
23 1 0 9 0 0
23 1 0 10 0 0"
	packed_refused "path_of_itself" "paths within paths" "$paths
22 0 0 11 0 1
23 1 0 11 0 0
23 1 0 11 0 0"
	packed_refused "many_paths" "too many paths" "$paths
23 6 0 7 0 0"
	packed_refused "unknown_path" "not named" "$paths
23 1 0 9 0 0"
	packed_refused "other_dictionary" "not named" "$paths
24 0 1 1 0 0
23 1 0 7 0 0"
	packed_refused "long_path" "too many records" "22 0 0 1 0 0xffffffffff"
	packed_refused "large_number" "number is too large" \
		"22 0 0 0xffffffff 0 0"
	packed_refused "large_dictionary" "number is too large" \
		"24 0 1 0xffffffff 0 0"
	packed_refused "path_in_a_path" "none may hold" "22 0 0 1 0 2
22 0 0 1 0 0"
	packed_random_tests
}

packed_branches() {
	records packed.rec
	"$KIPT" show packed.rec --branches --json | python3 -c 'import json, sys
print(*(" ".join(str(o.get(k)) for k in ("type", "kind", "to", "insns"))
        for o in map(json.loads, sys.stdin) if o["type"] != "summary"))'
}

# Branches, SYNC and ENABLE records with their instructions, on one line.
packed_numbers() {
	records packed.rec
	"$KIPT" show packed.rec --branches --json | python3 -c 'import json, sys
print(*(o["type"] + " " + str(o.get("insns"))
        for o in map(json.loads, sys.stdin) if o["type"] != "summary"))'
}

packed_refused() {
	records packed.rec <<<"$3"
	refused "records_packed_$1_is_refused" 1 "$2" show packed.rec --branches
	refused "records_packed_$1_is_refused_by_stats" 1 "$2" \
		show packed.rec --stats
}

# Refused or not, but with a sentence and not by a signal.
packed_random_tests() {
	local seed bad='' form
	for seed in $(seq "$(fewer 8 3)"); do
		python3 -c "import random
r = random.Random($seed)
for _ in range(3000):
    kind = r.choice((22, 22, 23, 23, 23, 23, 24, 1, 21, 28, 29, 30))
    print(kind, r.randrange(6), r.randrange(5), r.randrange(9),
          r.randrange(4) + (r.randrange(4) << 32), r.randrange(3))
    if kind == 22 and r.randrange(400):
        for _ in range(2):
            print(r.choice((1, 2, 3, 23)), 1, 0, 1, 0, 0)" |
			records random.rec
		for form in --calls --branches --counts --totals --stats; do
			"$KIPT" show random.rec $form >/dev/null 2>err
			[ $? -le 1 ] || bad="$bad $seed$form"
		done
	done
	same "records_packed_random_end_well" "" "$bad"
}

# Nothing that was there is lost before there is something in its place.
output_tests() {
	{ cpu 0; call 010 100; } | records good.rec
	cp good.rec copy.rec
	ln -s good.rec link.rec
	echo "no records are in here, it is a text" >text.rec
	refused "output_is_the_input" 1 "-o good.rec: that is the file which is read" \
		show good.rec -o good.rec
	refused "output_is_the_input_by_another_name" 1 "that is the file" \
		show good.rec -o ./link.rec
	rm link.rec
	refused "output_of_nothing" 1 "is no file of records" \
		show text.rec -o good.rec
	refused "output_of_nothing_new" 1 "is no file of records" \
		show text.rec -o new.rec
	same "output_is_not_made_of_nothing" "" "$(ls new.rec 2>/dev/null)"
	same "output_keeps_what_was_there" "$(md5sum <copy.rec)" \
		"$(md5sum <good.rec)"
	refused "output_cannot_be_made" 1 "cannot make none/x.rec.*ENOENT" \
		show good.rec -o none/x.rec
	head -c 24 good.rec >header.rec
	run show header.rec -o new.rec
	same "output_of_no_record_is_a_file" "$(md5sum <header.rec)" \
		"$(md5sum <new.rec)"
	{ cpu 0; call 010 100; call 010 100; } | records view.rec
	run show view.rec -o good.rec
	run show good.rec -o view.rec
	run show copy.rec -o good.rec
	same "output_replaces_longer" "$(md5sum <copy.rec)" \
		"$(md5sum <good.rec)"
	run show copy.rec --insns
	same "show_says_that_there_are_no_instructions" \
		"kipt: note: copy.rec holds no instructions: they are only in files that were made with --insns" \
		"$(grep note <<<"$ERR")"
	printf 'kipt-maps 1\nprocess 7 old\n' >good.rec.maps
	run show copy.rec -o good.rec
	same "output_drops_older_mappings" "0 good.rec" "$STATUS $(echo good.rec*)"
	echo "my notes" >good.rec.maps
	run show copy.rec -o good.rec
	same "output_spares_what_are_no_mappings" "0 my notes" "$STATUS $(cat good.rec.maps)"
	rm good.rec.maps
	same "output_to_standard_output" "$(md5sum <copy.rec)" \
		"$("$KIPT" show copy.rec -o - | md5sum)"
}

# BRANCH records are counted, EDGE records were.
count_tests() {
	{ cpu 0; for i in 1 2 3; do call 010 100; ret 120 015; done
	  call 010 200; echo "25 3 0 5 0xffffffff81000010 0xffffffff81000200"; } |
		view "counts_view" \
"           6 ffffffff81000010 main+0x10 [kernel] -> ffffffff81000200 second [kernel]  call
           3 ffffffff81000010 main+0x10 [kernel] -> ffffffff81000100 first [kernel]  call
           3 ffffffff81000120 first+0x20 [kernel] -> ffffffff81000015 main+0x15 [kernel]  ret" \
		--counts
	same "counts_top" "           6 ffffffff81000010 main+0x10 [kernel] -> ffffffff81000200 second [kernel]  call
             2 more (--top 0 shows all)" \
		"$("$KIPT" show view.rec --kallsyms kallsyms --counts --top 1 \
			2>err)"
	same "counts_summary" "12 branches, 0 gaps" "$(cat err)"
	same "counts_json" "edge call 6 edge call 3 edge ret 3 summary None None" \
		"$("$KIPT" show view.rec --kallsyms kallsyms --counts --json |
		python3 -c 'import json, sys
print(*(" ".join((o["type"], str(o.get("kind")), str(o.get("count"))))
        for o in map(json.loads, sys.stdin)))')"
	same "counts_hash" "12 $(python3 -c '
h = 1469598103934665603
b = 0xffffffff81000000
for n in ((b + 0x10, b + 0x200, 3, 6), (b + 0x10, b + 0x100, 3, 3),
          (b + 0x120, b + 0x15, 6, 3)):
    for v in n:
        h = (h ^ v) * 1099511628211 % 2**64
print("%016x" % h)')" "$("$KIPT" show view.rec --counts --hash)"
	run show view.rec --branches --kallsyms kallsyms
	differ "counts_are_pointed_to" "" "$(grep -e --counts <<<"$ERR")"
	refused "counts_top_is_a_number" 2 "top x: a number" \
		show view.rec --counts --top x
	refused "counts_and_calls" 2 "only one of" show view.rec --counts --calls
}

# space TGID CR3: the edges that follow are of that process; 0: not known.
space() { echo "27 0 $(($2 ? 1 : 3)) $1 0 $2"; }
kernel_space() { echo "27 0 1 0 0 0"; }
# edge COUNT [FROM TO]: a jump
edge() { echo "25 2 0 $1 ${2:-0x401000} ${3:-0x401010}"; }
# ran PID CR3: that process runs from here on; PID 0: not known.
ran() { echo "4 0 1 0 0 $2"; echo "5 0 $(($1 ? 1 : 3)) $1 0 $1"; }
# jumped COUNT [FROM TO]: as edge, by BRANCH records
jumped() { for ((n = $1; n; n--)); do echo "1 2 0 1 ${2:-0x401000} ${3:-0x401010}"; done; }

# Whose the edges on standard input are, and how often: "10 1 20 2".
owners() {
	records spaces.rec
	"$KIPT" show spaces.rec --kallsyms kallsyms --counts --json \
		2>err | owners_of_json
}

owners_of_json() {
	python3 -c 'import json, sys
print(*(str(o.get("pid", o.get("cr3", "none"))) + " " + str(o["count"])
        for o in map(json.loads, sys.stdin) if o["type"] == "edge"))'
}

# Processes use the same addresses; the kernel's are the same in all.
space_tests() {
	local kernel="0xffffffff81000010 0xffffffff81000100"
	same "counts_of_two_processes" "30 7 20 5" \
		"$({ cpu 0; task 10; space 20 0x2000; edge 5
		  space 30 0x3000; edge 7; } | owners)"
	same "counts_of_a_process_add_up" "20 12" \
		"$({ cpu 0; space 20 0x2000; edge 5; cpu 1; edge 1
		  space 20 0x3000; edge 6; } | owners)"
	same "counts_of_unknown_processes" "0x4000 3 0x5000 2 none 1" \
		"$({ cpu 0; task 10; space 0 0x4000; edge 2; space 0 0x5000
		  edge 2; space 0 0; edge 1; space 0 0x4000; edge 1
		  } | owners)"
	# shellcheck disable=SC2086
	same "counts_of_the_kernel_are_of_all" "none 9 20 4 30 4" \
		"$({ cpu 0; task 10; kernel_space; edge 5 $kernel
		  space 20 0x2000; edge 4; edge 3 $kernel; kernel_space
		  edge 1 $kernel; space 30 0x3000
		  edge 4 0xffffffff81000010 0x401010; } | owners)"
	# shellcheck disable=SC2086
	same "counts_of_branches_are_of_who_runs" \
		"none 3 20 2 0x4000 1 0x5000 1 30 1" \
		"$({ cpu 0; ran 20 0x2018; jumped 2; jumped 1 $kernel
		  ran 30 0x3000; jumped 1; jumped 2 $kernel; ran 0 0x4000
		  jumped 1; ran 0 0x5fff; jumped 1; } | owners)"
	same "counts_of_a_guest_are_nobodys" "none 1" \
		"$({ cpu 0; echo "4 0 5 0 0 0x4000"; jumped 1; } | owners)"
	space_text_tests
	same "edges_one_by_one" "20 None None 30 None None" \
		"$({ cpu 0; task 10; space 20 0x2000; edge 5
		  space 30 0x3000; edge 7; } | records spaces.rec
		"$KIPT" show spaces.rec --json | python3 -c 'import json, sys
print(*(str(o["pid"]) + " %s %s" % (o.get("tid"), o.get("ip_symbol"))
        for o in map(json.loads, sys.stdin) if o["type"] == "edge"))')"
}

# The text names processes where there are several; a hash does not depend on them.
space_text_tests() {
	printf 'kipt-maps 1\nprocess 20 first one\nmap 401000 402000 0 a.bin\nprocess 30 second\nmap 401000 402000 1000 b.bin\n' \
		>view.rec.maps
	{ cpu 0; task 10; space 20 0x2000; edge 5; space 30 0x3000; edge 7
	  space 0 0x4000; edge 2 5 6; space 0 0; edge 1 5 6; kernel_space
	  edge 9 0xffffffff81000010 0xffffffff81000100; } |
		view "counts_name_processes" \
"           9 ffffffff81000010 main+0x10 [kernel] -> ffffffff81000100 first [kernel]  jump
           7           401000 0x1000 [b.bin] -> 401010 0x1010 [b.bin]  jump  -- process 30 second
           5           401000 0x0 [a.bin] -> 401010 0x10 [a.bin]  jump  -- process 20 first one
           2                5 0x5 -> 6 0x6  jump  -- CR3 0x4000
           1                5 0x5 -> 6 0x6  jump  -- process unknown" \
		--counts
	same "counts_hash_knows_no_process" "24 $(python3 -c '
h = 1469598103934665603
b = 0xffffffff81000000
for n in (0x401000, 0x401010, 2, 12), (b + 0x10, b + 0x100, 2, 9), (5, 6, 2, 3):
    for v in n:
        h = (h ^ v) * 1099511628211 % 2**64
print("%016x" % h)')" "$("$KIPT" show view.rec --counts --hash)"
	{ cpu 0; space 20 0x2000; edge 5; kernel_space
	  edge 9 0xffffffff81000010 0xffffffff81000100; } |
		view "counts_of_one_process_do_not_name_it" \
"           9 ffffffff81000010 main+0x10 [kernel] -> ffffffff81000100 first [kernel]  jump
           5           401000 0x0 [a.bin] -> 401010 0x10 [a.bin]  jump" \
		--counts
	rm view.rec.maps
}

branch_hash_tests() {
	{ cpu 0; call 010 100; echo "1 1 0 1 5 6"; } | records hash.rec
	same "branches_hash" "2 $(python3 -c '
h = 1469598103934665603
for v in 0xffffffff81000010, 0xffffffff81000100, 5, 6:
    h = (h ^ v) * 1099511628211 % 2**64
print("%016x" % h)')" "$("$KIPT" show hash.rec --branches --hash)"
	same "calls_hash" "1 $(python3 -c '
h = 1469598103934665603
for v in 0xffffffff81000010, 0xffffffff81000100:
    h = (h ^ v) * 1099511628211 % 2**64
print("%016x" % h)')" "$("$KIPT" show hash.rec --calls --hash)"
}

record_tests() {
	make_kallsyms
	call_view_tests
	calls_user_tests
	time_tests
	other_view_tests
	user_symbol_tests
	bad_record_tests
	bad_kallsyms_tests
	random_record_tests
	old_record_tests
	node_record_tests
	packed_record_tests
	output_tests
	count_tests
	space_tests
	branch_hash_tests
	totals_tests
	perfetto_tests
	firefox_tests
	html_tests
	diff_tests
	narrow_show_tests
	narrow_gap_tests
	narrow_time_tests
	narrow_edge_tests
	calls_after_gap_tests
	narrow_usage_tests
	stretch_tests
	lost_tests
	slowest_tests
	sym_tests
}

# A program of the functions outer, inner, handler and far, each 256 bytes from 0x401000 on, and a
# label without a type.
calls_program() {
	local name
	{
		for name in outer inner handler far _start __x86_return_thunk _dlstart \
			_rt0_amd64_linux siglongjmp; do
			echo ".globl $name; .type $name,@function; .p2align 8; $name: .fill 200,1,0x90"
			echo ".size $name, 200"
		done
		echo ".globl label; .p2align 8; label: ret; .fill 200,1,0x90"
	} >calls.s
	gcc -nostdlib -static -Wl,-Ttext=0x401000 -o calls.program calls.s 2>/dev/null || return
	printf 'kipt-maps 1\nprocess 7 program\nmap 401000 402000 1000 %s/calls.program\n' "$PWD" >calls.maps
}

# user_calls NAME WANT: "1 KIND FROM TO" is a branch, "2 AT" tracing that begins, "3 KIND AT
# [TO]" that ends, "18 KIND AT" a gap, "4 CR3" another address space, "5 TASK" another task;
# addresses are those within the program, or of the kernel.
user_calls() {
	python3 -c '
import sys
address = lambda word: int(word, 16) if len(word) > 6 else 0x401000 + int(word, 16)
print("19 0 1 0 0 0\n5 0 1 7 0 7")
for line in sys.stdin:
    kind, *words = line.split()
    if kind == "18":
        print("18", words[0], 0, 0, address(words[1]), 5)
    elif kind == "1":
        print("1", words[0], 0, 1, address(words[1]), address(words[2]))
    elif kind == "2":
        print("2 1 0 0", address(words[0]), 0)
    elif kind == "4":
        print("4 0 2 0 0", int(words[0], 16))
    elif kind == "5":
        print("5 0 1", words[0], "0", words[0])
    else:
        print("3", words[0], 0 if words[2:] else 2, 0, address(words[1]),
              address(words[2]) if words[2:] else 0)' | records user.rec
	[ "$1" = depth ] || same "$1" "$2" "$("$KIPT" show user.rec --kallsyms kallsyms \
		--maps calls.maps --calls 2>err | grep -v "^==\|^--\|tracing" | sed 's/ \[calls\.program\]//')"
}

# user_calls_depth: how many handlers are the most in a stack
user_calls_depth() {
	user_calls depth >/dev/null
	"$KIPT" show user.rec --maps calls.maps --folded 2>err |
		awk '{ n = gsub(/handler/, ""); if (n > most) most = n } END { print most }'
}

# What no call and no return shows: longjmp, exceptions, signals, new programs.
calls_user_tests() {
	local kernel=ffffffff81000400 entry
	calls_program || { skip calls_user "gcc makes no program"; return; }
	user_calls calls_longjmp "outer+0x10
  inner
    far
  inner" <<-END
	2 010
	1 3 010 100
	1 3 110 300
	1 4 310 050
	1 3 060 100
	END
	user_calls calls_jump_table "outer+0x10
  inner
    far" <<-END
	2 010
	1 3 010 100
	1 4 110 150
	1 3 160 300
	END
	user_calls calls_signal "outer+0x10
  inner
    handler
      far
    far" <<-END
	2 010
	1 3 010 100
	3 2 120
	2 200
	1 3 210 300
	1 6 310 215
	3 1 220
	2 122
	1 3 130 300
	END
	user_calls calls_signal_in_a_handler "outer+0x10
  handler
    far
      inner
        outer
      outer
  outer" <<-END
	2 010
	3 2 020
	2 200
	1 3 210 300
	3 2 320
	2 100
	1 3 110 000
	1 6 010 115
	3 1 120
	2 320
	1 3 330 000
	1 6 010 335
	1 6 340 215
	3 1 220
	2 020
	1 3 030 000
	END
	user_calls calls_siglongjmp "outer+0x10
  inner
    handler
      far
  inner" <<-END
	2 010
	1 3 010 100
	3 2 120
	2 200
	1 3 210 300
	1 4 310 050
	1 3 060 100
	END
	user_calls calls_signal_and_kernel "outer+0x10
  inner
    event: entry [kernel]
    handler
      far
      syscall: entry [kernel]
    far" <<-END
	2 010
	1 3 010 100
	1 12 120 $kernel
	1 9 ${kernel%0}8 200
	1 3 210 300
	1 6 310 215
	1 7 220 $kernel
	1 9 ${kernel%0}8 120
	1 3 130 300
	END
	user_calls calls_handler_that_does_not_return "outer+0x10
  inner
    handler
    far
  far
  inner" <<-END
	2 010
	1 3 010 100
	3 2 120
	2 200
	3 1 220
	2 150
	1 3 160 300
	1 6 310 165
	1 6 170 015
	1 3 020 300
	1 6 310 025
	1 3 030 100
	END
	user_calls calls_handler_that_does_not_return_and_kernel "outer+0x10
  inner
    event: entry [kernel]
    handler
      syscall: entry [kernel]
    far
  far" <<-END
	2 010
	1 3 010 100
	1 12 120 $kernel
	1 9 ${kernel%0}8 200
	1 7 220 $kernel
	1 9 ${kernel%0}8 150
	1 3 160 300
	1 6 310 165
	1 6 170 015
	1 3 020 300
	END
	user_calls calls_signal_in_the_same_handler "outer+0x10
  handler
    handler
    far
  inner" <<-END
	2 010
	3 2 020
	2 200
	3 2 220
	2 200
	3 1 230
	2 220
	1 3 230 300
	1 6 310 235
	3 1 240
	2 020
	1 3 030 100
	END
	user_calls calls_signal_in_the_same_handler_and_kernel "outer+0x10
  event: entry [kernel]
  handler
    event: entry [kernel]
    handler
      far" <<-END
	2 010
	1 12 020 $kernel
	1 9 ${kernel%0}8 200
	1 12 220 $kernel
	1 9 ${kernel%0}8 200
	1 3 230 300
	END
	user_calls calls_handler_that_returns_for_its_caller "outer+0x10
  outer
    inner
      handler
  far" <<-END
	2 010
	1 3 010 000
	1 3 050 100
	3 2 120
	2 200
	1 6 210 015
	1 3 020 300
	END
	# The kernel has no signals, and leaves what it entered by returns alone.
	user_calls calls_kernel_elsewhere "main+0x10 [kernel]
  event: entry
  first
  second" <<-END
	2 ffffffff81000010
	1 12 ffffffff81000020 $kernel
	1 9 ${kernel%0}8 ffffffff81000100
	1 6 ffffffff81000110 ffffffff81000025
	1 3 ffffffff81000030 ffffffff81000200
	END
	user_calls calls_kernel_jump "main+0x10 [kernel]
  first
    event: entry
      second" <<-END
	2 ffffffff81000010
	1 3 ffffffff81000010 ffffffff81000100
	1 12 ffffffff81000120 $kernel
	1 4 ffffffff81000410 ffffffff81000150
	1 3 ffffffff81000160 ffffffff81000200
	END
	# A function that is so small that setjmp() returns near its start.
	user_calls calls_longjmp_to_a_small_function "outer+0x10
  inner
    handler
      siglongjmp
    far" <<-END
	2 010
	1 3 010 100
	3 2 120
	2 200
	1 3 210 800
	1 4 810 118
	1 3 120 300
	END
	# The restorer's code is at 900: it ends handler, and far begins.
	user_calls calls_pending_signals "outer+0x10
  handler
    label
  far
    label
  inner" <<-END
	2 010
	3 2 020
	2 200
	1 6 210 900
	3 1 902
	2 300
	1 6 310 900
	3 1 902
	2 020
	1 3 030 100
	END
	user_calls calls_new_program_in_a_handler "outer+0x10
  handler
_start
  far" <<-END
	2 010
	3 2 020
	2 200
	3 1 210
	2 400
	1 3 410 300
	END
	same calls_signals_that_nobody_sees_the_end_of 8 "$({ echo 2 050; for number in {1..40}; do
		printf '%s\n' "3 2 060" "2 200" "1 3 210 800" "1 4 810 350"; done; } |
		user_calls_depth)"
	user_calls calls_gap_before_a_handler "outer+0x10
  | gap: the CPU lost packets (overflow), at offset 5
handler
  far" <<-END
	2 010
	3 2 020
	18 1 020
	2 200
	1 3 210 300
	END
	for entry in 400 600 700; do
		user_calls calls_new_program_$entry "outer+0x10
$(printf '%s\n' _start x _dlstart _rt0_amd64_linux | sed -n "$((${entry%00} - 3))p")
  far" <<-END
		2 010
		3 1 020
		2 $entry
		1 3 ${entry%00}10 300
		END
	done
	# Page tables with bit 12 are those of the same program for its own code; the entry code
	# of a new one has no name in a stripped file.
	user_calls calls_new_program_and_kernel "outer+0x10
  syscall: entry [kernel]
  inner
    syscall: entry [kernel]
      first
inner+0x60
  far
  syscall: entry [kernel]
  handler" <<-END
	4 5000
	2 010
	1 7 020 $kernel
	4 4000
	4 5000
	1 8 ${kernel%0}8 022
	1 3 030 100
	1 7 120 $kernel
	4 4000
	1 3 ffffffff81000410 ffffffff81000100
	4 8000
	1 6 ffffffff81000110 ffffffff81000415
	4 9000
	1 8 ${kernel%0}8 160
	1 3 170 300
	1 6 310 175
	1 7 176 $kernel
	1 8 ${kernel%0}8 178
	1 3 180 200
	END
	# Task 8 runs, with its page tables, before a record says so.
	user_calls calls_task_named_late "0x401010
  syscall: entry [kernel]
outer+0x10
  syscall: entry [kernel]
  inner
    far
      inner" <<-END
	5 8
	4 8000
	2 010
	1 7 020 $kernel
	5 7
	4 4000
	1 8 ${kernel%0}8 010
	1 7 020 $kernel
	4 8000
	1 8 ${kernel%0}8 022
	1 3 030 100
	5 8
	4 4000
	5 7
	1 3 040 300
	1 3 050 100
	END
	# In the gap another task's page tables came into use: which, nobody knows.
	user_calls calls_page_tables_lost "outer+0x10
  inner
    handler
      syscall: entry [kernel]
        | gap: the CPU lost packets (overflow), at offset 5
        entry+0x10
      far" <<-END
	4 8000
	2 010
	1 3 030 100
	1 3 110 200
	1 7 220 $kernel
	4 4000
	18 1 120
	2 ${kernel%00}10
	1 8 ${kernel%00}18 222
	1 3 230 300
	4 8000
	1 6 330 235
	1 6 240 115
	END
	user_calls calls_hook "outer+0x10
  inner
    handler
      label
        far
  far" <<-END
	2 010
	1 3 010 100
	1 2 100 200
	1 3 210 900
	1 4 905 10e
	1 3 120 300
	1 6 310 125
	1 6 130 215
	1 6 220 015
	1 3 020 300
	END
	user_calls calls_of_address_ranges "inner+0x10
handler
  far
inner
  far" <<-END
	2 110
	3 1 120 900
	2 200
	1 3 210 300
	1 6 310 215
	3 1 220 900
	2 100
	1 3 110 300
	END
	user_calls calls_unknown_return_by_a_thunk "outer+0x10
inner+0x30
  far" <<-END
	2 010
	1 2 010 500
	1 3 504 510
	1 6 520 130
	1 3 140 300
	END
	user_calls calls_label_without_a_type "outer+0x10
  label" <<-END
	2 010
	1 3 010 900
	END
	# A mapping of other code over a part of an older one: which was there when, nobody knows.
	cp calls.program calls.other
	echo "map 401080 4010a0 1480 $PWD/calls.other" >>calls.maps
	user_calls calls_hidden "outer+0x10" <<-END
	2 010
	1 1 020 094
	1 1 094 094
	1 1 094 040
	1 1 040 050
	END
	same totals_hidden "2 None [None]
2 outer [calls.program]" "$("$KIPT" show user.rec --maps calls.maps --totals --json 2>err | python3 -c '
import json, sys
for row in map(json.loads, sys.stdin):
    if row["type"] == "total":
        print(row["branches"], row.get("symbol"), "[%s]" % row.get("object"))' | sort)"
	calls_stub_tests
}

# Stubs have no symbols, and what comes before them may have one without a size.
calls_stub_tests() {
	local got plt init
	echo 'extern void *out(void); void *call(void) { out(); return out; }' >calls.c
	gcc -shared -fPIC -O1 -o calls.program calls.c 2>/dev/null ||
		{ skip calls_stubs "gcc makes no library"; return; }
	read -r plt got init <<<"$(readelf -WSs calls.program | sed 's/^ *\[ *[0-9]*\]//' | awk '
		$1 == ".plt" { plt = $3 } $1 == ".plt.got" { got = $3 }
		$8 == "_init" { init = $2 }
		END { printf "%s %s %s", plt, got, init }' | sed 's/\b0*1//g')"
	[ -n "$init" ] || { skip calls_stubs "no .plt.got"; return; }
	printf 'kipt-maps 1\nprocess 7 program\nmap 401000 402000 1000 %s/calls.program\n' "$PWD" >calls.maps
	user_calls calls_stubs "_init+0x4
  __cxa_finalize@plt
  0x1$plt" <<-END
	2 $(printf %03x $((0x$init + 4)))
	1 3 $(printf %03x $((0x$init + 4))) $got
	1 6 $got $(printf %03x $((0x$init + 9)))
	1 3 $(printf %03x $((0x$init + 4))) $plt
	END
}
