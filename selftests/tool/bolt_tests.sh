# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034,SC2086
#
# --bolt and --autofdo: what read_profile.py, which shares nothing with the writer, finds in
# the files, against what it counts in the branches that --branches shows. Sourced by
# tool_test.sh; uses what coverage_tests.sh, perf_tests.sh and record_tests.sh make.

read_profile() {
	python3 "$HERE/read_profile.py" "$@" 2>&1
}

build_id_of() {
	readelf -nW "$1" | sed -n 's/.*Build ID: //p'
}

# profile_same NAME PROGRAM@BIAS VERB FILE OPTION...: files are the branches
profile_same() {
	local name=$1 program=$2 id
	shift 2
	id=$(build_id_of "${program%@*}")
	rm -f b.* a.*
	"$KIPT" "$@" --branches --json >branches 2>/dev/null
	run "$@" --bolt b --autofdo a
	same "$name" "0 same same" "$STATUS $(read_profile bolt "b.$id" branches $program $MORE) $(
		read_profile autofdo "a.$id" branches $program $MORE)"
}

# Files whose addresses are their offsets, and others; where the loader moves them and not.
bolt_walk_tests() {
	local form bias level more
	for form in "-O0 0x0" "-O0 0x555555554000" "-O2 0x10000000" \
		"-O1 0x7f0000000000 -Wl,-Ttext=0x23000"; do
		read -r level bias more <<<"$form"
		walk_make $level $more || { skip "bolt_$form" "gcc makes no program"; continue; }
		walk_trace "$bias"
		profile_same "bolt_is_branches $form" "walk@$bias" decode walk.data
	done
	for form in "--jobs 1" "--jobs 3" "--pid 100" "--sym _start"; do
		profile_same "bolt_is_branches $form" "walk@$bias" decode walk.data $form
	done
	"$KIPT" decode walk.data -o walk.rec 2>/dev/null
	profile_same "bolt_of_records" "walk@$bias" show walk.rec
	profile_same "bolt_of_opened_records" "walk@$bias" open walk.rec
	mkdir -p folder
	run decode walk.data --bolt folder
	same "bolt_in_a_folder" "0 $(md5sum <"b.$(build_id_of walk)")" \
		"$STATUS $(md5sum <"folder/$(build_id_of walk)")"
	same "bolt_says_which_file" "folder/$(build_id_of walk) has the branches of $PWD/walk" \
		"$(sed -n 's/^kipt: note: \(folder\)/\1/p' err)"
}

# Calls, returns and interrupts of a real recording, at addresses that do not move.
bolt_kept_tests() {
	local form
	if ! command -v zstd >/dev/null; then
		skip "bolt_kept" "no zstd"
		skip "bolt_of_calls_alone" "no zstd"
		return
	fi
	kept_unpack "$ROOT/selftests/perf/small"
	export PERF_BUILDID_DIR=ids
	for form in "" "--jobs 3" "--tid 201" "--time 1750us,1800us" "--comm small"; do
		profile_same "bolt_kept $form" program@0 decode kept.data $form
	done
	"$KIPT" decode kept.data --calls -o kept.rec 2>/dev/null
	refused "bolt_of_calls_alone" 1 "no jump is in the records" show kept.rec --bolt new
	unset PERF_BUILDID_DIR
}

# Many PSBs, packets that make no sense, overflows: whatever thread decodes which part.
bolt_jobs_tests() {
	local form jobs
	{ echo ".globl _start"; echo "_start: .byte 0x${CODE// /,0x}"; } >loop.s
	if ! gcc -nostdlib -static -Wl,-Ttext=0x401000 -Wl,--build-id=sha1 -o loop loop.s \
		2>/dev/null; then
		skip "bolt_jobs" "gcc makes no program"
		return
	fi
	for form in "--psb-every 20" "--psb-every 5 --trouble"; do
		python3 "$HERE/make_trace.py" loop.pt 30000 $form
		make_perf loop.data loop.pt "map=$PWD/loop@0x400000"
		profile_same "bolt_jobs $form" loop@0 decode loop.data --jobs 1
		cp "b.$(build_id_of loop)" one.bolt
		for jobs in 2 3; do
			run decode loop.data --jobs $jobs --bolt b
			same "bolt_jobs_$jobs $form" "0 $(md5sum <one.bolt)" \
				"$STATUS $(md5sum <"b.$(build_id_of loop)")"
		done
	done
	# Every branch but the first ends a range, a PSB in between or not.
	python3 "$HERE/make_trace.py" loop.pt 30000 --psb-every 20
	make_perf loop.data loop.pt "map=$PWD/loop@0x400000"
	"$KIPT" decode loop.data --branches --json >branches 2>/dev/null
	run decode loop.data --bolt b
	same "bolt_goes_on_at_a_psb" "$(($(grep -c '"type":"branch"' branches) - 1))" \
		"$(awk '/^[Ff]/ { n += $4 } END { print n }' b.*)"
}

# br KIND FROM TO, in hexadecimal: a branch
br() { echo "1 $1 0 1 0x$2 0x$3"; }
# What may come between two branches.
enabled() { echo "2 1 0 0 0x$1 0"; }
reached() { echo "21 2 0 1 0x$1 0"; }
started() { echo "21 1 0 0 0x$1 0"; }

# A program of three functions, and the branches of a run of it, which a model makes.
three_make() {
	cat >three.s <<-'END'
		.globl _start, one, two, three
		.type _start, @function
		.type one, @function
		.type two, @function
		.type three, @function
	_start:	mov $10, %ebx
	.Lagain:	call one
		call two
		dec %ebx
		jnz .Lagain
		jmp three
		.size _start, .-_start
	one:	test $1, %bl
		jz .Lodd
		nop
	.Lodd:	ret
		.size one, .-one
	two:	ret
		.size two, .-two
	three:	nop
		jmp three
		.size three, .-three
	END
	gcc -g -gdwarf-4 -nostdlib $1 -Wl,--build-id=sha1 -Wl,-q -o three three.s 2>/dev/null || return
	objdump -d -w three | python3 -c '
import re, sys
code = {int(a, 16): (len(b.split()), m, t) for a, b, m, t in
        re.findall(r"^ *([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\t(\w+) *(\S*)", sys.stdin.read(), re.M)}
at, ebx, stack, zero, jumps = int(sys.argv[1], 16), 0, [], False, 0
bias = int(sys.argv[2], 0)
while jumps < 4:
    size, name, text = code[at]
    to, kind = at + size, None
    if name == "mov":
        ebx = 10
    elif name == "dec":
        ebx -= 1
        zero = not ebx
    elif name == "test":
        zero = not ebx & 1
    elif name == "call":
        stack.append(to)
        to, kind = int(text, 16), 3
    elif name == "ret":
        to, kind = stack.pop(), 6
    elif name == "jmp":
        to, kind = int(text, 16), 2
        jumps += 1
    elif name in ("je", "jne") and zero == (name == "je"):
        to, kind = int(text, 16), 1
    if kind:
        print(1, kind, 0, 1, hex(at + bias), hex(to + bias))
    at = to
' "$(readelf -hW three | sed -n 's/.*Entry point address: *0x//p')" "$2" >three.branches
}

# What perf2bolt makes of it: how often each function was called or jumped to.
bolt_tool_tests() {
	local bolt=${KIPT_BOLT:-$(command -v perf2bolt-19)} form bias prof
	for form in "-static 0" "-static-pie 0x555555554000"; do
		bias=${form#* }
		three_make "${form% *}" "$bias" || { skip "bolt_tool $form" "gcc makes no program"
			continue; }
		{ cpu 0; task 7; cat three.branches; } | records three.rec
		{ echo "kipt-maps 1"; read_profile maps 7 "$PWD/three@$bias"; } >three.maps
		profile_same "bolt_three $form" "$PWD/three@$bias" show three.rec --maps three.maps
		if [ -z "$bolt" ]; then
			skip "bolt_tool_counts $form" "no perf2bolt-19"
		else
			# Under other names it needs --aggregate-only.
			"$bolt" --aggregate-only three -pa -p b.* -o three.fdata >bolt.out 2>&1
			same "bolt_tool_counts $form" "0 10 one 10 two 1 three 0 mismatch" \
				"$? $(for f in one two three; do
					awk -v f=$f '$2 != f && $5 == f && $6 == 0 { n += $8 }
						END { printf "%d %s ", n, f }' three.fdata
				done)$(sed -n 's/.*disassembled function contents: \([0-9]*\).*/\1 mismatch/p' \
					bolt.out)"
		fi
		prof=${KIPT_AUTOFDO:-$(command -v create_llvm_prof)}
		if [ -z "$prof" ]; then
			skip "autofdo_tool $form" "no create_llvm_prof"
		else
			rm -f three.prof
			# It leaves out what is rare: a thousand times as much of all.
			sed 's/:[0-9]*$/&000/' a.* >thousand
			"$prof" --profiler=text --binary=three --profile=thousand --format=text \
				--out=three.prof >prof.out 2>&1
			# FUNCTION:COUNTS OF ITS LINES:ENTRIES
			same "autofdo_tool $form" "0 one:60000:10000 _start:51000:0 three:6000:4000 " \
				"$? $(grep '^[a-z_]' three.prof | tr '\n' ' ')"
		fi
	done
}

# The trace, a program and what the other option wrote keep their names.
bolt_spares_tests() {
	local id before
	id=$(build_id_of walk)
	mkdir both && cp known.rec "in.$id"
	refused bolt_of_the_trace 1 "in.$id is there and is no file that --bolt wrote" \
		show "in.$id" --maps known.maps --bolt in
	same bolt_leaves_the_trace same "$(cmp known.rec "in.$id" && echo same)"
	cp walk "both/$id"
	refused bolt_of_a_program 1 "both/$id is there and is no file" \
		show known.rec --maps known.maps --autofdo both
	same bolt_leaves_a_program same "$(cmp walk "both/$id" && echo same)"
	rm "both/$id"
	refused bolt_both_in_one_folder 1 "both/*/$id is there and is no file that --autofdo wrote" \
		show known.rec --maps known.maps --bolt both --autofdo both/
	before=$(cat "both/$id")
	refused bolt_again 0 "" show known.rec --maps known.maps --bolt both
	same bolt_again_is_the_same "$before" "$(cat "both/$id")"
	head -c -7 known.rec >cut.rec
	rm -r both && mkdir both
	refused bolt_of_half_a_file 1 "ends inside a record" \
		show cut.rec --maps known.maps --bolt both
	same bolt_of_half_a_file_is_there 2 "$(ls both | wc -l)"
	# Two programs have something there, and whose code ran is not known.
	printf 'kipt-maps 1\nprocess 7 a\nmap 401000 402000 1000 %s\nprocess 8 b\nmap 401000 402000 1000 %s\n' \
		"$PWD/walk" "$PWD/other" >two.maps
	{ cpu 0; br 1 401000 401010; br 1 401020 401030; } | records two.rec
	refused bolt_of_no_process 1 "none of the code that ran is in a file" \
		show two.rec --maps two.maps --bolt both
	rm -r both "in.$id"
}

# What ends a range, and what is in another file; read_profile.py counts it anew.
bolt_known_tests() {
	local form bias=0x10000000 other=0x20000000 copy=0x30000000 MORE
	rm -rf copy other bare both
	walk_make -O0 && cp walk copy
	# Of another build id, and of none.
	walk_make -O0 -Wl,--build-id=0x00112233445566778899aabbccddeeff && mv walk other
	walk_make -O0 -Wl,--build-id=none && mv walk bare
	cp copy walk
	{ echo "kipt-maps 1"
	  read_profile maps 7 "$PWD/walk@$bias" "$PWD/other@$other" "$PWD/copy@$copy" \
		"$PWD/bare@0x40000000"; } >known.maps
	{ cpu 0; task 7
	  br 1 10001000 10001010; br 1 10001020 10001030		# F 1010 1020
	  tsc 5; echo "9 0 0 20 0 0"; br 6 10001040 10001050		# F 1030 1040
	  br 2 10001060 10001070					# f 1050 1060
	  br 12 10001075 ffffffff81000000; br 9 ffffffff81000010 10001075
	  br 1 10001080 10001090					# F 1075 1080, no B
	  echo "18 1 0 0 0 0"; br 1 100010a0 10001000; enabled 10001000
	  br 1 10001010 10001000; started 10001000; br 1 10001010 10001000
	  reached 10001008; started 10001008; br 1 10001010 10001000	# F 1000 1010
	  reached 10001008; started 1000100a; br 1 10001010 10001000
	  task 7; br 1 10001010 10001000
	  cpu 1; task 7; br 1 10001010 10001000
	  echo "3 1 0 1 0x10001018 0"; br 7 10001020 ffffffff81000000	# F 1000 1018
	  br 8 ffffffff81000010 10001022; br 13 10001030 10001040
	  br 1 10001050 10001060
	  # Other files, twice the same one; memory that is in no file.
	  br 3 10001070 20001000; br 6 20001010 10001074; br 1 10001080 30001000
	  br 1 30001010 30001000; br 2 30001010 40001000; br 1 40001010 10001000
	  br 3 10001010 900000; br 6 900010 10001014; br 2 900000 900010
	  br 3 10001020 10000100; br 1 10001000 10001002; } | records known.rec
	for form in walk@$bias other@$other; do
		MORE="$PWD/walk@$bias $PWD/copy@$copy $PWD/other@$other $PWD/bare@0x40000000"
		# Of one build id: their counts are one file.
		[ "$form" != "walk@$bias" ] || MORE="$PWD/walk@$copy $MORE"
		profile_same "bolt_known ${form%@*}" "$PWD/$form" show known.rec --maps known.maps
	done
	same "bolt_makes_a_file_for_each_build_id" 2 "$(ls b.* | wc -l)"
	same "bolt_says_what_has_no_build_id" 1 "$(grep -c 'have no build id, .*: [1-9]' err)"
	bolt_spares_tests
	same "bolt_says_what_is_in_no_file" 1 "$(grep -c 'in no file: [1-9]' err)"
	sed '0,/^F.* /s/[0-9]*$/77777/' "b.$(build_id_of walk)" >bad
	same "bolt_control_count" 1 "$(read_profile bolt bad branches $PWD/walk@$bias $MORE |
		grep -c 77777)"
	sed '1s/^/9/' "a.$(build_id_of walk)" >bad
	same "autofdo_control_number" "wrong: " "$(read_profile autofdo bad branches \
		$PWD/walk@$bias | cut -c 1-7)"
}

bolt_refused_tests() {
	local kind option id
	rm -f new.*
	id=$(build_id_of walk)
	for kind in bolt autofdo; do
		for option in "-o x.rec" --hash --stats --json; do
			refused "${kind}_and_$option" 2 \
				"--$kind writes a file of its own: ${option%% *} does not" \
				show known.rec --$kind new $option
		done
		refused "${kind}_to_standard_output" 2 "--$kind writes a file for each build id" \
			show known.rec --$kind -
		refused "${kind}_and_totals" 2 "only one of .*--$kind" show known.rec \
			--totals --$kind new
		refused "${kind}_nowhere" 1 "--$kind: cannot make files in none.*ENOENT" show \
			known.rec --$kind none/new
		same "${kind}_nowhere_in_one_sentence" 1 "$(grep -c '^kipt: ' err)"
		ln -sf /dev/full "full.$id"
		refused "${kind}_full" 1 "cannot write to full.$id.*ENOSPC" show known.rec --maps \
			known.maps --$kind full
		same "${kind}_full_in_one_sentence" 1 "$(grep '^kipt: ' err | grep -cv ': note: ')"
		echo mine >"mine.$id"
		{ cpu 0; br 1 900000 900010; } | records none.rec
		refused "${kind}_of_no_file" 1 "--$kind: none of the code that ran is in a file" \
			show none.rec --$kind mine
		{ cpu 0; task 7; br 1 40001000 40001010; br 1 40001020 40001000; } | records bare.rec
		refused "${kind}_without_build_ids" 1 "none of the files whose code ran can be read and has a build id" \
			show bare.rec --maps known.maps --$kind mine
		{ cpu 0; task 7; insn 0x10001000 1; } | records insns.rec
		refused "${kind}_without_branches" 1 "no branch is in the trace" show insns.rec \
			--$kind mine
		{ cpu 0; echo "27 0 0 7 0 0"; echo "25 1 0 3 0x10001000 0x10001010"; } |
			records edges.rec
		refused "${kind}_of_counts" 1 "branches were only counted" show edges.rec --$kind mine
		same "${kind}_keeps_what_was_there" mine "$(cat "mine.$id")"
	done
	refused "bolt_of_one_name" 2 "give each another name" show known.rec --bolt new \
		--autofdo new
	same "bolt_makes_no_file_of_nothing" "" "$(ls new.* 2>/dev/null)"
}

bolt_tests() {
	local MORE=
	bolt_walk_tests
	bolt_kept_tests
	bolt_jobs_tests
	bolt_tool_tests
	bolt_known_tests
	bolt_refused_tests
}
