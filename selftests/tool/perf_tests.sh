# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2086,SC2154
#
# Recordings of perf: the container, the trace in it, and every input that is
# wrong. Sourced by tool_test.sh.

# kept_unpack DIR: a recording that is kept as kept.data, what perf printed of it as want,
# and its program, whose build id is $id; ids is perf's folder of build ids, with it
kept_unpack() {
	zstd -dcq "$1/perf.data.zst" >kept.data
	zstd -dcq "$1/branches.zst" >want
	zstd -dcq "$1/program.zst" >program
	id=$(readelf -n program | sed -n 's/.*Build ID: //p')
	rm -rf ids
	mkdir -p "ids/.build-id/${id:0:2}/${id:2}"
	cp program "ids/.build-id/${id:0:2}/${id:2}/elf"
}

make_perf() {
	python3 "$HERE/make_perf.py" "$@"
}

# packets_of FILE...: without offsets and whose they are
packets_of() {
	"$KIPT" packets "$@" 2>/dev/null | grep -v '^--' | sed 's/^ *[0-9a-f]*  //' |
		grep -v '^PAD'
}

# A trace of 300 parts, each with a PSB; its TNTs count, so that no two are alike.
perf_trace_make() {
	python3 -c '
import struct
for i in range(300):
    tnt = bytes([2 << 1 | 4 | (i & 1) << 1]) * (i % 40)
    open("many.pt", "ab").write(
        bytes([2, 0x82] * 8) + b"\x19" + struct.pack("<Q", 1000 + i)[:7] +
        b"\2\x23" + b"\x99\1" + b"\x51" + struct.pack("<I", 0x401000 + i) +
        tnt + b"\1")'
}

perf_packets_tests() {
	local form want
	want=$(packets_of many.pt)
	for form in "" pipe zstd zstd2 "pipe zstd2" thread "piece=4093" \
		"piece=4091 pipe" "snapshot" "snapshot piece=4093" "aux-sample" \
		"aux-sample zstd" "aux-sample=all piece=4093" "aux-sample=all pipe" \
		"aux-sample=index"; do
		case $form in
		*zstd*) command -v zstd >/dev/null ||
			{ skip "perf_packets ${form}" "no zstd"; continue; } ;;
		esac
		make_perf many.data many.pt $form
		same "perf_packets ${form:-file}" "$want" "$(packets_of many.data)"
	done
	make_perf many.data many.pt
	run packets many.data
	same "perf_packets_exits_0" "0" "$STATUS"
	same "perf_packets_says_whose" "-- CPU 0" "$(head -n 1 <<<"$OUT")"
	mkdir folder
	cp many.data folder/data
	same "perf_packets_folder" "$want" "$(packets_of folder)"
	make_perf many.data many.pt hole=4096
	differ "perf_packets_hole" "$want" "$(packets_of many.data)"
	run packets many.data
	same "perf_packets_hole_is_reported" "-- gap: trace that is not in the dump" \
		"$(grep '^-- gap' <<<"$OUT")"
	make_perf many.data many.pt aux-sample=long
	differ "perf_packets_bad_sample" "$want" "$(packets_of many.data)"
	same "perf_bad_sample_is_named" 1 "$("$KIPT" decode --stats many.data 2>&1 |
		grep -c "1 samples make no sense")"
	make_perf many.data many.pt lost=4096
	run packets many.data
	same "perf_packets_lost_is_reported" "-- gap: the buffer was full, tracing stopped" "$(grep '^-- gap' <<<"$OUT")"
	run packets --json many.data
	same "perf_packets_lost_is_reported_json" '{"type":"packets-gap","kind":"stopped"}' \
		"$(grep '"packets-gap"' <<<"$OUT")"
}

# Times of all CPUs count from the first of the recording.
perf_times_tests() {
	make_perf many.data many.pt two
	same "perf_times_of_two_cpus" "0 0" "$("$KIPT" decode --branches --time --json \
		many.data 2>err | python3 -c 'import json, sys
first = {}
for o in map(json.loads, sys.stdin):
    if o["type"] == "time" and o.get("kind") == "first":
        first.setdefault(o["cpu"], o["tsc"] - 1000)
print(*(first[cpu] for cpu in sorted(first)))')"
}

# Snapshots that overlap become one trace, others have a gap between them.
perf_overlap_tests() {
	local size
	size=$(stat -c %s many.pt)
	head -c $((size * 2 / 3)) many.pt >first.pt
	tail -c $((size * 2 / 3)) many.pt >second.pt
	make_perf many.data many.pt snapshot=first.pt,second.pt
	same perf_overlap "$(packets_of many.pt)" "$(packets_of many.data)"
	# Bytes that are the same by chance, and no PSB among them.
	head -c $((size / 3)) many.pt >third.pt
	head -c 200 /dev/zero >>third.pt
	{ head -c 200 /dev/zero; cat second.pt; } >fourth.pt
	make_perf many.data many.pt snapshot=third.pt,fourth.pt
	run packets many.data
	same perf_overlap_by_chance 1 "$(grep -c '^-- gap' <<<"$OUT")"
	# All places of a forged one nearly fit.
	python3 -c '
psb = bytes([2, 0x82] * 8) + b"\2\x23"
open("fifth.pt", "wb").write(psb * 60000)
open("sixth.pt", "wb").write(psb * 59000 + b"\1" + psb * 1000)'
	make_perf many.data many.pt snapshot=fifth.pt,sixth.pt
	timeout 60 "$KIPT" packets many.data >out 2>err
	same perf_overlap_forged_ends 0 $?
	same perf_overlap_forged 1 "$(grep -c '^-- gap' out)"
}

# Cut anywhere there is a sentence, and the packets are the first of all.
perf_cut_tests() {
	local form size at wrong="" short="" runs
	runs=$(fewer 60 15)
	for form in "" pipe; do
		make_perf whole.data many.pt $form piece=512
		packets_of whole.data >whole
		size=$(stat -c %s whole.data)
		for ((at = 0; at < size; at += size / runs + 1)); do
			head -c $at whole.data >cut.data
			timeout 60 "$KIPT" packets cut.data >cut 2>err
			[ $? = 1 ] && [ "$(grep -c '^kipt: ' err)" = 1 ] ||
				wrong+=" $at"
			[ "$(grep -vc '^--' cut)" -le "$(wc -l <whole)" ] || short+=" $at"
		done
		same "perf_cut_anywhere ${form:-file}" "" "$wrong"
		same "perf_cut_keeps_no_more ${form:-file}" "" "$short"
	done
	make_perf whole.data many.pt piece=512
	head -c 12000 whole.data >cut.data
	packets_of cut.data >cut
	same "perf_cut_keeps_what_came_before" "$(head -n 4900 whole)" \
		"$(head -n 4900 cut)"
}

# Any byte of the head and of the first events is wrong: no signal, no end-less loop.
perf_wrong_bytes_tests() {
	local form wrong
	for form in "" pipe zstd2; do
		[ "$form" != zstd2 ] || command -v zstd >/dev/null || continue
		make_perf whole.data many.pt $form
		wrong=$(python3 - "$KIPT" "$(fewer 250 60)" <<'PYTHON'
import random
import subprocess
import sys

whole = open("whole.data", "rb").read()
pick = random.Random(1)
for turn in range(int(sys.argv[2])):
    data = bytearray(whole)
    for _ in range(pick.choice((1, 1, 4))):
        data[pick.randrange(min(len(data), 1400))] = pick.choice(
            (0, 1, 0x7f, 0x80, 0xff, pick.randrange(256)))
    open("wrong.data", "wb").write(data)
    try:
        done = subprocess.run([sys.argv[1], "packets", "wrong.data"],
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=20)
    except subprocess.TimeoutExpired:
        print(turn, "does not end")
        continue
    if done.returncode not in (0, 1) or done.returncode and not done.stderr:
        print(turn, done.returncode)
PYTHON
		)
		same "perf_wrong_bytes ${form:-file}" "" "$wrong"
	done
}

# A stream of compressed events that ends within one.
perf_unended_tests() {
	local part
	command -v zstd >/dev/null || { skip perf_unended "no zstd"; return; }
	for part in unended=10 unended=30 begun=1 begun=7; do
		make_perf unended.data many.pt zstd $part
		refused "perf_unended_$part" 1 "compressed events end within one" \
			packets unended.data
		same "perf_unended_${part}_keeps_the_rest" "$(packets_of many.pt)" \
			"$(packets_of unended.data)"
	done
}

perf_refused_tests() {
	make_perf swap.data many.pt swap
	refused "perf_other_byte_order" 1 "other byte order" packets swap.data
	make_perf other.data many.pt other
	refused "perf_other_trace" 1 "another kind than Intel PT" packets other.data
	: >none.pt
	make_perf none.data none.pt
	refused "perf_no_trace" 1 "has no trace" packets none.data
	head -c 1000 /dev/zero >zero.pt
	make_perf none.data zero.pt
	refused "perf_no_psb" 1 "none.data: no PSB in any part of its 1000 bytes of trace" open none.data --calls
	refused "perf_packets_no_psb" 1 "none.data: no PSB in any part of its 1000 bytes of trace" \
		packets none.data
	same "perf_packets_no_psb_shows_what_was_passed" 1 "$(grep -c '1000 bytes passed over' err)"
	printf PERFILE2 >head.data
	refused "perf_only_a_head" 1 "was cut" packets head.data
	make_perf many.data many.pt
	refused "perf_packets_no_sync" 2 "begin at a PSB" packets --no-sync many.data
}

# A program of two instructions that a file has, and a trace of it.
perf_decode_tests() {
	local form option
	bytes $CODE >page.dump
	head -c 4078 /dev/zero >>page.dump
	cp page.dump prog.dump
	bytes 00 10 40 00 00 00 00 00 >prog.addr
	bytes $TRACE >small.pt
	for form in "" pipe zstd2 thread snapshot; do
		case $form in
		zstd*) command -v zstd >/dev/null ||
			{ skip "perf_decode ${form}" "no zstd"; continue; } ;;
		esac
		make_perf small.data small.pt elf=prog $form
		run decode small.data --branches --json
		same "perf_decode ${form:-file}" "branch cond 0x401000 0x401005 None
branch jump-ind 0x401005 0x401010 None" \
			"$(json_types <<<"$OUT" | grep ^branch)"
		same "perf_decode_task ${form:-file}" "100" \
			"$(grep -m 1 '"branch"' <<<"$OUT" | grep -o '"tid":[0-9]*' | cut -d: -f2)"
	done
	# Nobody knows on which CPUs a thread ran.
	# Ranges of the kernel are known to the decoder; those of files are not.
	for form in "0 filter 0x1000/0x20" "0 filter 0x1000/0x20,stop 0xffffffff81000000/0x10" \
		"1 filter 0x1000/0x20@/bin/true" "1 start 0x1000" "1 $(printf '%0300d' 0)"; do
		make_perf small.data small.pt elf=prog "filter=${form#* }"
		run decode small.data --stats
		same "perf_ranges ${form:0:24}" "${form%% *}" "$(grep -c "traced ranges of files" err)"
	done
	make_perf small.data small.pt elf=prog thread
	run decode small.data --branches --json
	same "perf_decode_thread_has_no_cpu" "0" "$(grep -c '"cpu":' <<<"$OUT")"
	for form in branches calls; do
		run decode small.data --$form
		same "perf_decode_thread_$form" "== CPU unknown" "$(grep -m 1 '^== CPU' <<<"$OUT")"
	done
	run decode small.data --branches --json --cpu 0
	same "perf_decode_thread_is_not_of_cpu_0" "0" "$(grep -c '"branch"' <<<"$OUT")"
	# A trace that begins in a packet: what is before its first PSB does not reach into it.
	{ bytes 19 && cat small.pt; } >middle.pt
	make_perf middle.data middle.pt elf=prog
	run decode middle.data --branches --json
	same "perf_decode_from_the_middle_of_a_packet" "2" "$(grep -c '"branch"' <<<"$OUT")"
	make_perf small.data small.pt elf=prog
	run decode small.data --counts --json
	same "perf_decode_counts_have_the_process" "2" \
		"$(grep -c '"edge".*"pid":100' <<<"$OUT")"
	run decode small.data --strict --stats
	same "perf_decode_strict" "0" "$STATUS"
	make_perf small.data small.pt id=00112233445566778899aabbccddeeff00112233 elf=prog
	run decode small.data --branches --json
	same "perf_decode_never_another_build_id" "0" "$(grep -c '"branch"' <<<"$OUT")"
	grep -q "no code of .*prog: the file of this name has another build id" <<<"$ERR" &&
		ok "perf_decode_says_what_is_missing" ||
		not_ok "perf_decode_says_what_is_missing" "$ERR"
	make_perf small.data small.pt noid elf=prog
	run decode small.data --branches --json
	same "perf_decode_no_build_id" "0" "$(grep -c '"branch"' <<<"$OUT")"
	run decode small.data --branches --json --pages prog
	same "perf_decode_code_by_option" "2" "$(grep -c '"branch"' <<<"$OUT")"
	# Pieces that begin before the one before ended, by less than is ever filled up.
	for forged in 1@100,4096@94 100@0,1@1000,1@994 7@8,9@9,4096@10; do
		make_perf forged.data small.pt elf=prog forged=$forged
		run decode forged.data --stats
		same "perf_forged_pieces_decode_$forged" 0 "$STATUS"
		run packets forged.data
		same "perf_forged_pieces_$forged" 0 "$STATUS"
	done
	refused "perf_decode_filter" 1 "perf.data says itself" decode small.data \
		--filter 0x1-0x2
	printf 'kipt-maps 1\n' >small.maps
	for option in --branches "-o small.rec"; do
		# shellcheck disable=SC2086
		refused "perf_decode_maps $option" 1 "perf.data says itself what processes map" \
			decode small.data $option --maps small.maps
	done
	refused "perf_open_maps" 1 "perf.data says itself what processes map" \
		open small.data --maps small.maps
	refused "perf_decode_output_is_input" 1 "that is the file which is read" \
		decode small.data -o small.data
}

# A copy of the kernel that only others may read is not one that is missing.
perf_kcore_tests() {
	local what weak=()
	[ "$(id -u)" != 0 ] || weak=(setpriv "--bounding-set=-dac_override,-dac_read_search")
	rm -rf copied.data
	mkdir -p copied.data/kcore_dir
	cp small.data copied.data/data
	run open copied.data --calls
	same "perf_kcore_missing" "0 0" "$STATUS $(grep -c 'cannot be read' <<<"$ERR")"
	touch copied.data/kcore_dir/{kcore,kallsyms}
	chmod 000 copied.data/kcore_dir/*
	if ! "${weak[@]}" true || "${weak[@]}" cat copied.data/kcore_dir/kcore 2>err; then
		skip "perf_kcore" "no file can be kept from this user"
		return
	fi
	"${weak[@]}" "$KIPT" open copied.data --calls >out 2>err
	same "perf_kcore_unreadable" 0 $?
	for what in kcore kallsyms; do
		same "perf_kcore_unreadable_$what" 1 "$(
			grep -c "kcore_dir/$what cannot be read (EACCES)" err)"
	done
	chmod 000 copied.data/kcore_dir
	"${weak[@]}" "$KIPT" open copied.data --calls >out 2>err
	same "perf_kcore_folder_unreadable" "0 2" "$? $(grep -c 'cannot be read (EACCES)' err)"
	chmod 700 copied.data/kcore_dir
}

# What perf need not say, or says in another manner.
perf_other_forms_tests() {
	perf_trace_make
	# A thread's buffer was full on some CPU.
	make_perf cut.data many.pt thread lost=4096
	run packets cut.data
	same "perf_thread_lost" 1 "$(grep -c 'the buffer was full' <<<"$OUT")"
	# The driver traces branches unless "pt" is set and "branch" is not.
	for form in 0:1 1:0 0x2000:1 0x2001:1; do
		make_perf form.data small.pt elf=prog config=${form%:*}
		run decode form.data --branches --json
		same "perf_config_$form" "${form#*:}" "$(grep -c '"branch".*cond' <<<"$OUT")"
	done
	# Without TSC packets (tsc=0) times of events say nothing of the trace.
	bytes $PSB 02 23 99 01 51 00 10 40 00 0e 2d 10 10 01 >untimed.pt
	for form in 0x2001:3 0x2401:1; do
		make_perf form.data untimed.pt config=${form%:*} thread over=2000 \
			"event=3:8192:1900:$(le 4 100)$(le 4 100)70726f6700000000" elf=prog
		run decode form.data --branches --json
		same "perf_times_of_the_trace_$form" "${form#*:}" "$(grep -c '"branch"' <<<"$OUT")"
		same "perf_says_that_it_has_none_$form" "$((${form#*:} / 3))" \
			"$(grep -c 'its trace has no times (tsc=0)' <<<"$ERR")"
	done
	# Whatever page tables were loaded, the only process that there was ran.
	bytes $PSB 02 43 00 20 00 00 00 00 02 23 99 01 51 00 10 40 00 06 2d 10 10 01 \
		02 43 00 40 00 00 00 00 51 00 10 40 00 06 2d 10 10 01 >tables.pt
	make_perf form.data tables.pt config=0x2001 elf=prog
	run decode form.data --branches --json
	same "perf_untimed_page_tables" 6 "$(grep -c '"branch"' <<<"$OUT")"
	# Many events with one list of numbers, and code of the kernel that is larger than any.
	make_perf whole.data small.pt elf=prog
	python3 - whole.data form.data <<'PYTHON'
import struct
import sys
data = bytearray(open(sys.argv[1], "rb").read())
ids, attr_at = len(data), struct.unpack_from("<Q", data, 24)[0]
attr = bytearray(data[attr_at:attr_at + 64])
struct.pack_into("<I", attr, 4, 64)
data += struct.pack("<12000Q", *range(1000, 13000))
struct.pack_into("<QQQ", data, 16, 80, len(data), 80 * 1500)
data += (attr + struct.pack("<QQ", ids, 8 * 12000)) * 1500
open(sys.argv[2], "wb").write(data)
PYTHON
	refused "perf_many_lists_of_numbers" 1 "more numbers than kipt keeps" packets form.data
	make_perf form.data small.pt "ksym=0xffffffffa0000000+33554432@2000:bpf_prog_1" elf=prog
	run decode form.data --branches --json
	same "perf_ksym_of_any_size" 2 "$(grep -c '"branch"' <<<"$OUT")"
	says perf_ksym_of_any_size_says_so "over more bytes, than kipt keeps"
	for form in 0x2401:1 0x2601:0 0x2403:0; do
		make_perf form.data untimed.pt config=${form%:*} over=2000 noid elf=prog
		run decode form.data --branches
		same "perf_times_at_psbs_only_$form" "${form#*:}" \
			"$(grep -c 'has times at PSBs only (mtc=0)' <<<"$ERR")"
	done
	make_perf form.data untimed.pt config=0x2601 noratio over=2000 noid elf=prog
	run decode form.data --branches
	same "perf_no_ratio_of_times" "1 0" \
		"$(grep -c 'at PSBs only (the recording does not say how often' <<<"$ERR") $(
			grep -c 'what they had mapped there' <<<"$ERR")"
	# A piece that ends within a TSC is filled up with zeros: that is not the first time.
	bytes $PSB $(le 8 0x70000003e819) 02 23 99 01 51 00 10 40 00 0e 2d 10 10 \
		$(le 8 0x70000007d019) 01 >cut.pt
	make_perf form.data cut.pt elf=prog piece=21
	run decode form.data --branches --time
	same "perf_first_time_is_whole" "" "$(grep -m 1 '[0-9]\{7\}' <<<"$OUT")"
	# A file of a virtual machine has the path of one here.
	make_perf form.data small.pt listed elf=prog \
		"event=67:5:0:$(le 4 1234)$(le 24 7)$(printf '%s/prog' "$PWD" | od -An -v -tx1 |
			tr -d ' \n')00"
	run decode form.data --branches --json
	same "perf_guest_build_id" 2 "$(grep -c '"branch"' <<<"$OUT")"
}

# whose NAME BRANCH...: the first branch of each run that whose.data has
whose() {
	local name=$1
	shift
	run decode whose.data --branches --json
	same "$name" "$(printf 'branch cond %s\n' "$@")" \
		"$(json_types <<<"$OUT" | grep -o '^branch cond [^ ]* [^ ]*')"
}

# Whose code ran where user and kernel are traced: by the CR3s, and the times of perf.
perf_whose_tests() {
	local psb="02 82 02 82 02 82 02 82 02 82 02 82 02 82 02 82" pip pip2 pip3 begin form
	local run="06 2d 10 10 3d 10 10" to_kernel="6d 00 00 00 81 ff ff"
	local prog="0x401000 0x401005" other="0x401000 0x401003"
	tsc_packet() { le 8 "$(($1 << 8 | 0x19))"; }
	pip="02 43 $(le 6 $((0x123000 >> 4)))"
	pip2="02 43 $(le 6 $((0x456000 >> 4)))" pip3="02 43 $(le 6 $((0x122000 >> 4)))"
	begin="$psb $(tsc_packet 1000) $pip 99 01 02 23 51 00 10 40 00"
	# jnz, jmp *%rbx
	{ bytes 75 03 f4 f4 f4 ff e3; head -c 4089 /dev/zero; } >whose1.dump
	{ bytes 75 01 f4 ff e3; head -c 4091 /dev/zero; } >whose2.dump
	bytes 00 10 40 00 00 00 00 00 | tee whose1.addr >whose2.addr
	# Of two processes nobody knows which ran where, and neither that the CPU was idle.
	bytes $PSB 02 23 99 01 51 00 10 40 00 0e 2d 10 10 01 >untimed.pt
	make_perf form.data untimed.pt config=0x2001 elf=whose1 pid=200 elf=whose2 turn=100@10 turn=200@3000
	run open form.data
	same "perf_untimed_has_no_task" "1 1" "$(grep -c "^tasks not known: the trace does not say which task ran" <<<"$OUT") \
$(grep -c 'its trace has no times (tsc=0).* of a CPU code and task only if one process ran' <<<"$ERR")"
	same "perf_untimed_has_no_idle_task" 0 "$("$KIPT" decode form.data --json 2>err | grep -c '"task"')"
	make_perf form.data untimed.pt config=0x2001 elf=whose1 turn=100@10
	run open form.data
	same "perf_untimed_has_the_only_task" 1 "$(grep -c '^task 100 .*100.0 %' <<<"$OUT")"
	# The trace ends; the recording goes on with another process.
	bytes $begin $run 01 $(tsc_packet 1400) >whose.pt
	make_perf whose.data whose.pt elf=whose1 pid=200 elf=whose2 turn=100@10 turn=200@3000
	whose perf_whose_last "$prog"
	# A process maps other code in the same place, while tracing is off or in the kernel.
	bytes $begin $run 01 $(tsc_packet 1400) $(tsc_packet 2000) 51 00 10 40 00 $run 01 $(tsc_packet 9000) >whose.pt
	make_perf whose.data whose.pt elf=whose1 over=1500 elf=whose2 turn=100@10
	whose perf_whose_mapped "$prog" "$other"
	bytes $begin $run $to_kernel $(tsc_packet 1400) $(tsc_packet 2000) 6d 00 10 40 00 00 00 $run 01 \
		$(tsc_packet 9000) >whose.pt
	make_perf whose.data whose.pt elf=whose1 over=1500 elf=whose2 turn=100@10
	whose perf_whose_mapped_in_kernel "$prog" "$other"
	# The last time before a return is of before the mapping, the next one is not.
	bytes $begin $run $to_kernel $(tsc_packet 1400) 6d 00 10 40 00 00 00 $run 01 $(tsc_packet 2000) >whose.pt
	make_perf whose.data whose.pt elf=whose1 over=1500 elf=whose2 turn=100@10
	whose perf_whose_mapped_meanwhile "$prog" "$other"
	# PAD, CBR, MNT and an MTC before any TMA have no time.
	for form in 00 "02 03 10 00" "02 c3 88 01 02 03 04 05 06 07 08" "59 07"; do
		bytes $begin $run $to_kernel $(tsc_packet 1400) 6d 00 10 40 00 00 00 $form \
			$run 01 $(tsc_packet 2000) >whose.pt
		make_perf whose.data whose.pt elf=whose1 over=1500 elf=whose2 turn=100@10
		whose "perf_whose_mapped $form" "$prog" "$other"
		bytes $begin $run $to_kernel $(tsc_packet 1400) $pip2 6d 00 10 40 00 00 00 $form \
			$run 01 $(tsc_packet 2000) >whose.pt
		make_perf whose.data whose.pt elf=whose1 pid=200 elf=whose2 turn=100@10 turn=200@1500
		whose "perf_whose_switched $form" "$prog" "$other"
	done
	# Both run between two times; the kernel has a page table of its own for each.
	bytes $begin $run 01 $pip3 51 00 10 40 00 $run 01 $pip2 51 00 10 40 00 $run 01 \
		$(tsc_packet 2000) >whose.pt
	make_perf whose.data whose.pt elf=whose1 pid=200 elf=whose2 turn=100@10 turn=200@1500
	whose perf_whose_both_between_times "$prog" "$prog" "$other"
	# A third one between them may be anybody, and so may be who is last.
	bytes $begin $run 01 $pip2 51 00 10 40 00 $run 01 $pip 51 00 10 40 00 $run 01 \
		$(tsc_packet 2000) >whose.pt
	make_perf whose.data whose.pt elf=whose1 pid=200 elf=whose2 turn=100@10 turn=200@1200 \
		turn=100@1500
	whose perf_whose_one_of_three "$prog" "$prog"
	bytes $begin $run $to_kernel $(tsc_packet 1400) $pip2 6d 00 10 40 00 00 00 $run 01 >whose.pt
	make_perf whose.data whose.pt elf=whose1 pid=200 elf=whose2 turn=100@10 turn=200@1500
	whose perf_whose_untimed_end "$prog"
	# An idle CPU keeps the address space.
	bytes $begin $run $to_kernel $(tsc_packet 1400) $(tsc_packet 2000) 6d 00 10 40 00 00 00 $run 01 \
		$(tsc_packet 9000) >whose.pt
	make_perf whose.data whose.pt elf=whose1 turn=100@10 turn=0@1200 turn=100@2100
	whose perf_whose_idle "$prog" "$prog"
	# Events and samples of a virtual machine are not of the processes here: exec, fork, map.
	bytes $begin $run 01 $(tsc_packet 1400) >whose.pt
	make_perf whose.data whose.pt elf=whose1 turn=100@10 \
		"event=3:0x2004:20:$(le 4 100)$(le 4 100)$(le 8 0x6e69)"
	whose perf_whose_guest "$prog"
	# perf says of a process that runs already who made it: it has a copy of nothing.
	make_perf whose.data whose.pt pid=50 elf=whose1 turn=100@10 \
		"event=7:0x2000:0:$(le 4 100)$(le 4 50)$(le 4 100)$(le 4 50)$(le 8 0)"
	run decode whose.data --branches --json
	same perf_whose_forked_before "0" "$(grep -c '"branch"' <<<"$OUT")"
	make_perf whose.data whose.pt pid=50 elf=whose1 turn=100@10 \
		"event=7:0:5:$(le 4 100)$(le 4 50)$(le 4 100)$(le 4 50)$(le 8 5)"
	whose perf_whose_forked "$prog"
}

# branches_are NAME COUNT: of what is decoded of small.data
branches_are() {
	run decode small.data --branches --json
	same "$1" "$2" "$(grep -c '"branch"' <<<"$OUT")"
}

says() {
	grep -q "$2" <<<"$ERR" && ok "$1" || not_ok "$1" "$ERR"
}

# A file without a build id is the one that was recorded if it is the same inode, and
# nothing changed it since.
perf_inode_tests() {
	make_perf other.data small.pt elf=prog
	sleep 0.1
	rm -f small.data
	make_perf small.data small.pt inode noid map=prog@0x401000
	branches_are perf_inode 2
	rm -f small.data
	make_perf small.data small.pt inode noid map=prog@0x401000 lasted=1000
	touch -d '+2000 seconds' small.data
	branches_are perf_inode_long_recording 2
	touch small.data
	branches_are perf_inode_of_a_copy 0
	says perf_inode_of_a_copy_says_so "no code of .*prog: no build id.*is a copy"
	rm -f small.data
	make_perf small.data small.pt inode noid map=prog@0x401000
	sleep 0.1
	printf '\x90' | dd of=prog bs=1 seek=1M conv=notrunc status=none
	branches_are perf_inode_changed_since 0
	says perf_inode_changed_since_says_so "no code of .*prog: no build id.*changed since.*buildid-mmap"
	make_perf small.data small.pt inode noid map=prog@0x401000
	cp prog copy
	mv copy prog
	branches_are perf_inode_another 0
}

# What a program wrote itself into memory is in no file, and nothing brings it back.
perf_memory_tests() {
	local path
	make_perf other.data small.pt elf=prog
	for path in //anon "[heap]" "anon_inode:[perf_event]" "/memfd:jit code (deleted)" \
		"/dev/zero (deleted)"; do
		make_perf small.data small.pt noid called="$path" map=prog@0x401000
		branches_are "perf_memory $path" 0
		same "perf_memory_says_so $path" \
			"kipt: note: no code of $path: the program wrote it into memory, as JIT compilers do, and recordings of perf have none of that" \
			"$(grep -e "no code" -e archive -e buildid <<<"$ERR")"
	done
	make_perf small.data small.pt noid called="[heap]" map=prog@0x401000
	run decode small.data
	same "perf_memory_name" "[heap]" "$(grep -o '\[*heap\]*' <<<"$OUT" | sort -u)"
	bytes ${TRACE//40/80} >>small.pt
	make_perf small.data small.pt noid called=//anon map=prog@0x401000 \
		noid called=/gone map=prog@0x801000
	branches_are perf_memory_and_file 0
	says perf_memory_and_file_says_so "perf archive"
	bytes $TRACE >small.pt
	make_perf small.data small.pt called=/memfd:program map=prog@0x401000
	branches_are perf_memory_with_an_id 0
	says perf_memory_with_an_id_says_so "/memfd:program: it is not on this machine"
}

# Files are found by the bytes of their paths, and shown without what no terminal shows.
perf_path_bytes_tests() {
	local folder
	for folder in "a	b" $'\374ber' $'a\nmap 401000 402000 0 b'; do
		mkdir "$folder"
		cp prog "$folder/prog"
		make_perf small.data small.pt listed map="$folder/prog@0x401000"
		branches_are "perf_path_bytes ${folder//[!a-z]/?}" 2
		run decode small.data -o small.records
		same "perf_path_bytes_kept ${folder//[!a-z]/?}" 1 "$(grep -c ^map small.records.maps)"
		rm -r "$folder"
		branches_are "perf_path_bytes_gone ${folder//[!a-z]/?}" 0
		says "perf_path_bytes_shown ${folder//[!a-z]/?}" \
			"no code of .*/$(tr '\t\n\374' '???' <<<"$folder" | head -c -1)/prog: it is not"
	done
}

# Some file systems say another device of a file than the kernel records: btrfs, and overlayfs
# of several file systems.
perf_device_tests() {
	local got
	make_perf other.data small.pt elf=prog
	mkdir layers upper work
	rm -f small.data
	got=$(unshare -rm bash 2>err <<SCRIPT
set -e
mount -t tmpfs none layers
mkdir layers/lower layers/all
cp prog layers/lower/program
mount -t overlay none -o lowerdir=layers/lower,upperdir=upper,workdir=work layers/all
[ \$(stat -c %d layers/all) != \$(stat -c %d layers/all/program) ]
sleep 0.1
python3 -S "$HERE/make_perf.py" small.data small.pt inode noid map=layers/all/program@0x401000
"$KIPT" decode small.data --branches --json | grep -c '"branch"'
SCRIPT
	)
	if [ -e small.data ]; then
		same perf_device_of_the_mount 2 "$got"
	else
		skip perf_device_of_the_mount "no overlayfs here: $(tail -n 1 err)"
	fi
	chmod -R u+rwx work
	rm -r layers upper work
}

# Build ids in the list that perf makes in the end, by path: of several files that had one
# path nobody knows whose it is. That of processes which ran already has no generation.
perf_listed_tests() {
	local again="listed map=prog@0x801000"
	rm -f prog
	make_perf small.data small.pt inode listed elf=prog
	branches_are perf_listed 2
	# The recording begins after the file was written.
	sleep 0.1
	rm -f small.data
	make_perf small.data small.pt inode listed map=prog@0x401000 generation=7 $again
	branches_are perf_listed_generation 2
	# Changed since the recording began, it may be the file of the later process alone.
	sleep 0.1
	chmod 700 prog
	branches_are perf_listed_generation_changed 0
	make_perf small.data small.pt inode generation=6 listed map=prog@0x401000 \
		generation=7 $again
	branches_are perf_listed_generations 0
	says perf_listed_generations_says_so "no build id of it was recorded"
	make_perf small.data small.pt inode listed map=prog@0x401000 generation=7 $again \
		generation=8 listed map=prog@0xc01000
	branches_are perf_listed_more_generations 0
	make_perf small.data small.pt inode=1,2 listed map=prog@0x401000 $again
	branches_are perf_listed_inodes 0
}

# perf has room for 20 bytes of a build id: longer ones are cut, and older perfs fill shorter
# ones up with zeros; its folder of build ids has them so, too.
perf_id_size_tests() {
	local id want
	make_perf small.data small.pt note=16 listed=old elf=prog
	branches_are perf_id_size_filled_up 2
	make_perf small.data small.pt note=16 listed elf=prog
	branches_are perf_id_size_16 2
	id=$(id_of prog)
	mkdir -p "ids/.build-id/${id:0:2}/${id:2}00000000" "new/.build-id/${id:0:2}/${id:2}"
	mv prog "ids/.build-id/${id:0:2}/${id:2}00000000/elf"
	PERF_BUILDID_DIR=ids branches_are perf_id_size_folder 2
	make_perf small.data small.pt note=16 listed=old elf=prog
	mv prog "new/.build-id/${id:0:2}/${id:2}/elf"
	PERF_BUILDID_DIR=ids branches_are perf_id_size_filled_up_folder 2
	PERF_BUILDID_DIR=new branches_are perf_id_size_new_folder 2
	rm -r ids new
	for want in "id=${id}00000001 note=16" "id=${id:0:30}0000000000 note=16" note=4; do
		make_perf small.data small.pt $want listed=old elf=prog
		branches_are "perf_id_size_not $want" 0
		says "perf_id_size_not $want says so" "prog: the file of this name has another"
	done
	for want in "" listed listed=old; do
		make_perf small.data small.pt note=32 $want elf=prog
		branches_are "perf_id_size_cut ${want:-event}" 2
	done
	id=$(id_of prog)
	make_perf small.data small.pt note=32 id=${id:0:38}00 listed elf=prog
	branches_are perf_id_size_cut_not 0
	make_perf small.data small.pt note=32 id=${id:0:32} listed elf=prog
	branches_are perf_id_size_16_not_of_32 0
}

# file_move HOW: moves a part of prog to where its first 2 MiB end: heads (its program
# headers, as BOLT does) or note (its build id, as patchelf may); section: a section alone has
# it, as perf inject writes code of a JIT
file_move() {
	python3 - "$1" <<'PYTHON'
import struct
import sys
data = bytearray(open("prog", "rb").read()).ljust(2 << 20, b"\0")
heads, = struct.unpack_from("<Q", data, 32)
number, = struct.unpack_from("<H", data, 56)
for at in range(heads, heads + 56 * number, 56):
    kind, _, offset, _, _, size = struct.unpack_from("<IIQQQQ", data, at)
    if kind == 4 and sys.argv[1] == "note":
        struct.pack_into("<Q", data, at + 8, len(data))
        data += data[offset:offset + size]
    if kind == 4 and sys.argv[1] == "section":
        struct.pack_into("<I", data, at, 0)
        struct.pack_into("<Q", data, 40, len(data))
        struct.pack_into("<HHH", data, 58, 64, 2, 0)
        data += bytes(64) + struct.pack("<IIQQQQIIQQ", 0, 7, 0, 0, offset, size, 0, 0, 4, 0)
if sys.argv[1] == "heads":
    struct.pack_into("<Q", data, 32, len(data))
    data += data[heads:heads + 56 * number]
open("prog", "wb").write(data)
PYTHON
}

# Build ids that are not in the begin of a file, or only in a section.
perf_far_id_tests() {
	local how
	for how in heads note section; do
		make_perf small.data small.pt elf=prog
		file_move $how
		branches_are perf_far_id_$how 2
		make_perf small.data small.pt id=11223344556677889900 elf=prog
		file_move $how
		branches_are perf_far_id_another_$how 0
	done
}

# id_of FILE: its build id
id_of() {
	readelf -n "$1" 2>/dev/null | sed -n 's/.*Build ID: //p'
}

# The recording of another machine, with copies of its files: what this machine has at
# their paths is something else.
perf_symfs_tests() {
	mkdir -p "copy$PWD" "links$PWD" no-files
	make_perf small.data small.pt elf=prog
	cp prog "copy$PWD/prog"
	symfs_branches perf_symfs_not_of_this_machine no-files 0
	says perf_symfs_missing_says_so "no code of .*prog: it is not in the folder of --symfs"
	ln -sf "$PWD/prog" "links$PWD/prog"
	symfs_branches perf_symfs_links_stay_in_it links 0
	rm prog
	symfs_branches perf_symfs copy 2
	ln -sf other "copy$PWD/prog"
	cp small.pt "copy$PWD/other"
	symfs_branches perf_symfs_another_build_id copy 0
	says perf_symfs_another_build_id_says_so \
		"no code of .*prog: .*/copy$PWD/prog has another build id"
	rm "copy$PWD/prog"
	make_perf small.data small.pt noid elf=prog
	mv prog "copy$PWD/prog"
	symfs_branches perf_symfs_no_build_id copy 2
	truncate -s 4096 "copy$PWD/prog"
	symfs_branches perf_symfs_no_build_id_too_short copy 0
	says perf_symfs_too_short_says_so "/prog is shorter than what was mapped"
	make_perf small.data small.pt elf=prog
	make_perf small.data small.pt inode=1,2 noid map=prog@0x401000 noid \
		map=prog@0x800000
	mv prog "copy$PWD/prog"
	symfs_branches perf_symfs_several_of_a_path copy 0
	refused perf_symfs_no_folder 1 "a folder is meant" decode small.data --symfs small.pt
	refused perf_symfs_nothing 1 "ENOENT" decode small.data --symfs nowhere
	refused perf_symfs_raw 1 "is no perf.data" decode small.pt --symfs no-files
	rm -r copy links no-files
}

# symfs_branches NAME FOLDER COUNT
symfs_branches() {
	run decode small.data --branches --json --symfs "$2"
	same "$1" "$3" "$(grep -c '"branch"' <<<"$OUT")"
}

# program_make [STYLE]: of two functions, with its debug file, and a trace of it; its build
# id is of this style
program_make() {
	cat >program.s <<'ASM'
	.globl _start, inner
_start:
	.type _start, @function
	jne 1f
	nop
	nop
	nop
1:	jmp *%rax
	.size _start, . - _start
	.org 16
	.type inner, @function
inner:	nop
	nop
	.size inner, . - inner
ASM
	gcc -nostdlib -static -no-pie -Wl,-Ttext=0x401000 \
		-Wl,--build-id="${1:-sha1}" -o full program.s 2>/dev/null || return 1
	objcopy --only-keep-debug full full.debug
	program_id=$(readelf -n full | sed -n 's/.*Build ID: //p')
	strip -o program full
	bytes $TRACE >small.pt
	make_perf debug.data small.pt map=program@0x400000
}

# named NAME WANT OPTION...: functions of the branches of debug.data
named() {
	local name=$1 want=$2
	shift 2
	run decode debug.data --branches "$@"
	same "$name" "$want" "$(grep -E ' (cond|jump-ind)' <<<"$OUT" |
		grep -oE '[^ ]+ \[program' | sed 's/[ +].*//' | sort -u |
		paste -sd ' ')"
}

# Names of a stripped program are where distributions put them.
perf_debug_file_tests() {
	local ids none="0x1000 0x1005 0x1010"
	program_make || { skip perf_debug_file "gcc makes no program"; return; }
	ids=.build-id/${program_id:0:2}
	named perf_debug_none "$none"
	mkdir -p .debug
	cp full.debug .debug/program.debug
	objcopy --add-gnu-debuglink=.debug/program.debug program linked
	mv linked program
	named perf_debug_link "_start inner"
	rm -r .debug
	named perf_debug_link_gone "$none"
	mkdir -p "copy$PWD" "copy/usr/lib/debug/$ids"
	cp program "copy$PWD/program"
	named perf_debug_symfs_none "$none" --symfs copy
	cp full.debug "copy/usr/lib/debug/$ids/${program_id:2}.debug"
	named perf_debug_symfs "_start inner" --symfs copy
	named perf_debug_not_of_symfs "$none"
	mkdir -p "copy/usr/lib/debug$PWD"
	mv "copy/usr/lib/debug/$ids/${program_id:2}.debug" \
		"copy/usr/lib/debug$PWD/program.debug"
	named perf_debug_symfs_link "_start inner" --symfs copy
	mkdir -p "ids/$ids/${program_id:2}"
	cp full.debug "ids/$ids/${program_id:2}/debug"
	PERF_BUILDID_DIR=ids named perf_debug_cache "_start inner"
	objcopy --only-keep-debug vmlinux "ids/$ids/${program_id:2}/debug"
	PERF_BUILDID_DIR=ids named perf_debug_cache_another "$none"
	objcopy --remove-section=.gnu_debuglink --strip-debug full mini
	xz -k mini
	objcopy --remove-section=.gnu_debuglink \
		--add-section .gnu_debugdata=mini.xz program with_mini
	mv with_mini program
	named perf_debug_mini "_start inner"
	rm -r copy ids
	program_make 0x$(printf '%02x' {1..32})
	named perf_debug_cache_long_id_none "$none"
	ids=ids/.build-id/${program_id:0:2}/${program_id:2:38}
	mkdir -p "$ids"
	cp full.debug "$ids/debug"
	PERF_BUILDID_DIR=ids named perf_debug_cache_long_id "_start inner"
	rm -r ids
}

# server_begin MODE: its port in $server_port, its process in $server
server_begin() {
	rm -rf port log asked
	: >log
	# Not the shell's function of this name: the process is to be the server.
	command python3 -S "$HERE/debug_server.py" "$1" served port log &
	server=$!
	timeout 20 sh -c 'until [ -f port ]; do sleep 0.1; done'
	server_port=$(cat port)
}

# served NAME WANT REQUESTS OPTION...: functions that are named, and what was asked for
served() {
	local name=$1 want=$2 requests=$3
	shift 3
	: >log
	DEBUGINFOD_CACHE_PATH=asked DEBUGINFOD_URLS=http://127.0.0.1:$server_port \
		named "$name" "$want" "$@"
	same "${name}_requests" "$requests" "$(sed 's,.*/,,' log | paste -sd ' ')"
}

server_end() {
	kill "$server"
	wait "$server" 2>/dev/null
}

# Servers are asked for what is not here and is shown, and for that once.
perf_server_tests() {
	local none="0x1000 0x1005 0x1010" server server_port
	if ! python3 -c 'import ctypes; ctypes.CDLL("libdebuginfod.so.1")' 2>/dev/null; then
		skip perf_server "no libdebuginfod"
		return
	fi
	program_make || { skip perf_server "gcc makes no program"; return; }
	mkdir served
	cp full.debug "served/$program_id.debuginfo"
	cp program "served/$program_id.executable"
	server_begin answer
	served perf_server "_start inner" debuginfo
	served perf_server_cached "_start inner" ""
	rm -r asked
	served perf_server_nothing_shown "" "" --stats
	mv program gone
	served perf_server_code "_start inner" "executable debuginfo"
	rm -r asked
	cp small.pt "served/$program_id.executable"
	served perf_server_wrong_code "" executable
	mv gone program
	mkdir .debug
	cp full.debug .debug/program.debug
	objcopy --add-gnu-debuglink=.debug/program.debug program linked
	mv linked program
	rm -rf asked
	served perf_server_offline_first "_start inner" ""
	rm -r .debug
	server_end
	# Two files have no names: both are asked for, and of a server that hangs one.
	sed 's/jmp/nop; jmp/' program.s >second.s
	gcc -nostdlib -static -no-pie -Wl,-Ttext-segment=0x500000 -Wl,--build-id=sha1 \
		-s -o second second.s
	bytes $TRACE $PSB 02 23 99 01 51 00 10 50 00 06 01 >small.pt
	make_perf debug.data small.pt map=program@0x400000 map=second@0x500000
	server_begin none
	served perf_server_404 "$none" "debuginfo debuginfo"
	server_end
	server_begin hang
	served perf_server_hangs "$none" debuginfo
	says perf_server_hangs_says_so "5 seconds in which no file came; it is not asked again"
	server_end
	rm -rf served asked
}

# Names of C++ and of both kinds of Rust.
perf_demangle_tests() {
	local endless option symbol
	program_make || { skip perf_demangle "gcc makes no program"; return; }
	objcopy --redefine-sym _start=_ZN5queue3popEi --redefine-sym inner=_RNvC5queue3pop \
		full program
	make_perf debug.data small.pt map=program@0x400000
	run decode debug.data --branches
	if grep -q "_ZN5queue3popEi" <<<"$OUT"; then
		skip perf_demangle "kipt was built without libiberty"
		return
	fi
	named perf_demangle "queue::pop"
	# Lines and JSON have different names of it: both take either.
	for option in "" --json; do
		for symbol in queue::pop _ZN5queue3popEi; do
			run decode debug.data --sym "$symbol" --stats $option
			same "perf_demangle_sym $symbol${option:+ json}" 0 "$STATUS"
		done
	done
	run decode debug.data --sym _ZN5queue3pushEi --stats
	same perf_demangle_sym_of_none 1 "$STATUS"
	objcopy --redefine-sym _start=_ZN5queue3pop17h0123456789abcdefE full program
	named perf_demangle_old_rust "inner queue::pop"
	run decode debug.data --branches --no-demangle
	same perf_no_demangle 4 "$(grep -o "_ZN5queue3pop17h[^ ]* \[" <<<"$OUT" | wc -l)"
	run decode debug.data --branches --json
	same perf_demangle_not_json 4 "$(grep -o "_ZN5queue3pop17h[^ ]* \[" <<<"$OUT" | wc -l)"
	# What libiberty would count up to for centuries.
	objcopy --redefine-sym "_start=_RNvC1a1bINtC1a1bFGzzzzzzzzz_EuE" full program
	named perf_demangle_many_lifetimes "_RNvC1a1bINtC1a1bFGzzzzzzzzz_EuE inner"
	# Each argument is twice the one before: more text than there is memory.
	endless=$(python3 -c 'print("_Z1fI1aIiiE" + "".join(
    "S0_IS%s_S%s_E" % (c, c) for c in "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") + "Evv")')
	objcopy --redefine-sym "_start=$endless" full program
	run decode debug.data --branches
	same perf_demangle_endless 4 "$(grep -oE \
		' _Z1fI1aIiiES0_IS1_S1_ES0_[^ ]*\.\.\.(\+0x5)? \[program\]' <<<"$OUT" | wc -l)"
}

# kernel_make: a vmlinux of two functions, and a trace of where it was moved to
kernel_make() {
	cat >kernel.s <<'ASM'
	.globl _text, first, last
_text:
	.type first, @function
first:	jne 1f
	nop
	nop
	nop
1:	jmp *%rax
	.size first, . - first
	.org 16
last:	nop
	nop
ASM
	gcc -nostdlib -static -no-pie -Wl,-Ttext=0xffffffff81000000 \
		-Wl,-e,_text -Wl,--build-id=sha1 -o vmlinux kernel.s 2>/dev/null || return 1
	# Moved by 0x1c000000: first at ffffffff9d000000.
	bytes $PSB 02 23 99 01 71 00 00 00 9d ff ff 06 6D 10 00 00 9d ff ff \
		61 10 00 00 9d ff ff >kernel.pt
}

# kernel_functions: those of the branches in $OUT
kernel_functions() {
	grep -E ' (cond|jump-ind)' <<<"$OUT" | grep -oE '[a-z_]+[+0-9a-fx]* \[kernel' |
		sed 's/[ +].*//' | sort -u | paste -sd ' '
}

perf_vmlinux_tests() {
	local at=0xffffffff9d000000 id
	kernel_make || { skip perf_vmlinux "gcc makes no vmlinux"; return; }
	id=$(readelf -n vmlinux | sed -n 's/.*Build ID: //p')
	make_perf kernel.data kernel.pt kernel=_text@$at kernel-id=$id
	run decode kernel.data --branches --vmlinux vmlinux
	same perf_vmlinux "first last" "$(kernel_functions)"
	run decode kernel.data --branches
	same perf_vmlinux_none 0 "$(grep -c first <<<"$OUT")"
	printf '%s\n' "${at#0x} T named_first" >kallsyms
	bytes $CODE >code
	run decode kernel.data --branches --kallsyms kallsyms --image code@$at
	same perf_kallsyms "named_first" "$(kernel_functions)"
	make_perf kernel.data kernel.pt kernel=_text@$at
	run decode kernel.data --branches --vmlinux vmlinux
	same perf_vmlinux_no_build_id "first last" "$(kernel_functions)"
	says perf_vmlinux_no_build_id_is_reported "no build id of the kernel was recorded"
	make_perf kernel.data kernel.pt kernel=_text@$at kernel-id=11$id
	refused perf_vmlinux_another 1 "another build id than the recorded kernel, 11" \
		decode kernel.data --vmlinux vmlinux
	make_perf kernel.data kernel.pt
	refused perf_vmlinux_nowhere 1 "does not say where its kernel was" \
		decode kernel.data --vmlinux vmlinux
	make_perf kernel.data kernel.pt kernel=_text@$at
	refused perf_vmlinux_no_elf 1 "is no ELF file: vmlinux is meant" \
		decode kernel.data --vmlinux kernel.pt
	strip vmlinux
	run decode kernel.data --branches --kallsyms kallsyms --vmlinux vmlinux
	same perf_vmlinux_stripped named_first "$(kernel_functions)"
	make_perf kernel.data kernel.pt kernel=_stext@$at
	refused perf_vmlinux_stripped_more 1 "has no symbol _stext" \
		decode kernel.data --vmlinux vmlinux
	refused perf_vmlinux_raw 1 "is no perf.data" decode kernel.pt --vmlinux vmlinux
}

# A file that is cut while it is decoded is no signal: its code was read before. The
# reader waits in its second page for somebody to take what it printed.
perf_file_cut_tests() {
	local printed
	cat prog.dump prog.dump >long.dump
	bytes 00 10 40 00 00 00 00 00 00 20 40 00 00 00 00 00 >long.addr
	{
		bytes $PSB 02 23 99 01 51 00 10 40 00
		python3 -c 'import sys
sys.stdout.buffer.write(b"\6\x2d\0\x10" * 20000)'
		bytes 06 2D 00 20 06 2D 10 20 3D 10 20 01
	} >long.pt
	make_perf long.data long.pt elf=long
	"$KIPT" decode long.data --branches --jobs 1 2>err | {
		head -c 1000 >/dev/null
		sleep 0.3
		truncate -s 8192 long
		tail -n 2 | head -n 1
	} | read -r printed
	same perf_file_cut_meanwhile "402005 0x2005 [long] -> 402010 0x2010 [long]  jump-ind" \
		"$printed"
}

# Names are those of the program that ran, not of one that came later at its addresses.
perf_names_tests() {
	make_perf small.data small.pt elf=prog many=exec*1
	run decode small.data --branches
	same perf_names_of_the_time "2" "$(grep -c '0x[0-9a-f]* \[prog\] ->' <<<"$OUT")"
	run decode small.data --calls
	same perf_names_of_the_time_of_calls "0x1000 [prog]" "$(grep -m 1 '^0x' <<<"$OUT")"
	run decode small.data --counts
	same perf_names_of_several_times "0" "$(grep -c '\[' <<<"$OUT")"
	run decode small.data -o small.records
	same perf_names_kept_are_sure "0" "$(grep -c '^map' small.records.maps)"
}

# The code that another kernel maps into processes has no names of this one's.
perf_other_vdso_tests() {
	local at
	at=$(python3 -c '
import ctypes
for line in open("/proc/self/maps"):
    if line.endswith("[vdso]\n"):
        first, last = (int(x, 16) for x in line.split()[0].split("-"))
        open("own.vdso", "wb").write(ctypes.string_at(first, last - first))'
	readelf -W --dyn-syms own.vdso 2>/dev/null |
		awk '/__vdso_clock_gettime/ { print $2; exit }')
	[ -n "$at" ] || { skip perf_other_vdso "no vDSO, or no readelf"; return; }
	python3 - "$at" <<'PYTHON'
import sys
at = (0x7ffff7fc0000 + int(sys.argv[1], 16)).to_bytes(6, "little")
open("vdso.pt", "wb").write(bytes([2, 0x82] * 8) + b"\2\x23\x99\1\x71" + at + b"\6\1")
PYTHON
	make_perf vdso.data vdso.pt kernel-id=$(printf '77%.0s' {1..20}) vdso=0x7ffff7fc0000
	run decode vdso.data --branches
	same perf_other_vdso "0x$(printf %x "0x$at") [vdso]" \
		"$(sed -n 's/.*tracing begins at //p' <<<"$OUT")"
	says perf_other_vdso_says_so "no code of \[vdso\]: no build id"
}

# More stops of tracing than kipt keeps change nothing where kernel code does not change.
perf_many_stops_tests() {
	make_perf few.data small.pt elf=prog
	make_perf many.data small.pt elf=prog many=stop*4200000
	run decode many.data --branches
	same "perf_many_stops" "0 $("$KIPT" decode few.data --branches 2>err)" "$STATUS $OUT"
	make_perf many.data small.pt elf=prog many=stop*4200000 lost=4096
	run decode many.data --stats
	same "perf_many_stops_and_a_loss" 0 "$STATUS"
	rm many.data
}

# However many events there are of a kind, they take seconds, and memory has a bound.
perf_many_tests() {
	local many most status
	most=$(fewer 60000 6000)
	for many in fork*$most map*$most path*$most comm*$most switch*$most cut*$most \
		info*$most attr*$most queue*$((most / 12)) map*10000,child*$most \
		fork*$most,switch*$most; do
		make_perf many.data small.pt pipe elf=prog "many=$many"
		timeout 60 "$KIPT" decode many.data --stats >/dev/null 2>err
		status=$?
		# What is lost at each byte leaves no PSB.
		same "perf_many_${many//$most/}" "$([[ $many != cut* ]]; echo $?)" $status
	done
	is_short && return
	perf_many_stops_tests
	make_perf many.data small.pt elf=prog "many=map*20000,remap*400000"
	refused perf_many_mappings 1 "more mappings of code than kipt keeps" \
		decode many.data --stats
}

# perf_real_totals NAME COMMAND...: all branches are some function's.
perf_real_totals() {
	local name=$1
	shift
	same "perf_real_totals $name" \
		"$("$@" --stats 2>/dev/null | cut -d' ' -f1)" \
		"$("$@" --totals --json 2>/dev/null | python3 -c 'import json, sys
print(sum(o["branches"] for o in map(json.loads, sys.stdin) if o["type"] == "total"))')"
}

# Traces that real CPUs wrote, as perf would have them.
perf_real_tests() {
	local name insns hash
	if [ ! -f "$TRACES/real-hardware.tar.xz" ]; then
		skip "perf_real_traces" "no traces of real CPUs in $TRACES"
		return
	fi
	tar -xf "$TRACES/real-hardware.tar.xz"
	while IFS='|' read -r _ name _ _ _ insns _ _ hash _; do
		name=${name// /} insns=${insns// /} hash=${hash// /}
		[ -f "$name.pt" ] || continue
		# Code of a guest is in no file that the host's perf knows.
		case $name in
		xdc-*)
			make_perf real.data "$name.pt"
			run decode real.data --insns --hash --pages "$name"
			;;
		*)
			make_perf real.data "$name.pt" "elf=$name.elf"
			run decode real.data --insns --hash
			;;
		esac
		same "perf_real_trace $name" "$insns $hash" "$OUT"
		perf_real_totals "$name" "$KIPT" decode real.data --pages "$name"
		calls_summary "perf $name" "$KIPT" decode real.data --pages "$name"
		[ "$name" = arcus-last ] || continue
		make_perf real.data "$name.pt" "elf=$name.elf" two
		same "perf_two_cpus_three_jobs" \
			"$("$KIPT" decode real.data --stats --jobs 1 2>/dev/null | cut -d, -f1-2)" \
			"$("$KIPT" decode real.data --stats --jobs 3 2>/dev/null | cut -d, -f1-2)"
	done <"$TRACES/README.md"
}

# Recordings that are kept, against what perf printed of them.
perf_kept_tests() {
	local dir name id
	for dir in "$ROOT"/selftests/perf/small/; do
		name=$(basename "$dir")
		if ! command -v zstd >/dev/null; then
			skip "perf_kept $name" "no zstd"
			continue
		fi
		kept_unpack "$dir"
		PERF_BUILDID_DIR=ids run decode kept.data --branches --json
		same "perf_kept_branches $name" "$(md5sum <want)" \
			"$(json_types <<<"$OUT" | awk '/^branch/ {
				print substr($3, 3), substr($4, 3) }' | md5sum)"
		same "perf_kept_totals $name" "$(wc -l <want)" \
			"$(PERF_BUILDID_DIR=ids "$KIPT" decode kept.data --totals \
				--json 2>/dev/null | python3 -c 'import json, sys
print(sum(o["branches"] for o in map(json.loads, sys.stdin) if o["type"] == "total"))')"
		# Its list of build ids comes after the events. What is there is shown.
		head -c -1 kept.data >cut.data
		PERF_BUILDID_DIR=ids run decode cut.data --branches --json
		same "perf_kept_cut_after_its_events $name" "1 $(grep -c '"type":"branch"' <<<"$OUT")" \
			"$STATUS $(wc -l <want)"
		says "perf_kept_cut_after_its_events_says_so $name" "it was cut after its events"
		# As perf buildid-cache makes it. The file is called as it was where it ran.
		rm -rf ids written.data
		mkdir -p "ids/usr/bin/the-program/$id" "ids/.build-id/${id:0:2}"
		cp program "ids/usr/bin/the-program/$id/elf"
		ln -s "../../usr/bin/the-program/$id" "ids/.build-id/${id:0:2}/${id:2}"
		same "perf_kept_object $name" "[$name]" \
			"$(PERF_BUILDID_DIR=ids "$KIPT" decode kept.data --branches 2>/dev/null |
			grep -o '\[[^]]*\]' | sort -u)"
		same "perf_kept_comm $name" "$(wc -l <want) 0" "$(
			for comm in "$name" nobody; do
				PERF_BUILDID_DIR=ids "$KIPT" decode kept.data \
					--comm "$comm" --branches --json 2>/dev/null |
					grep -c '"type":"branch"'
			done | paste -sd " ")"
		PERF_BUILDID_DIR=ids run decode kept.data --strict --stats
		same "perf_kept_no_gaps $name" "0" "$STATUS"
		PERF_BUILDID_DIR=ids run decode kept.data --calls
		grep -q "task [0-9]* $name" <<<"$OUT" && ok "perf_kept_calls $name" ||
			not_ok "perf_kept_calls $name" "$(head -n 20 <<<"$OUT")"
	done
}

# What each kind of recording of each perf has, branch by branch, against what that perf
# printed; differences by class, as many in all as docs/perf.md says.
perf_recorded_tests() {
	if ! command -v zstd >/dev/null; then
		skip perf_recorded "no zstd"
		return
	fi
	recorded_compare "$ROOT/selftests/perf"
	perf_guest_tests
	perf_unswitched_tests
	perf_place_tests
	perf_packed_tests
	same "perf_recorded_classes" \
		"$(sed -n 's/^| `\([a-z-]*\)` | \([0-9]*\) |.*/\1 \2/p' "$ROOT/docs/perf.md")" \
		"$(awk '{ sum[$1] += $2 } END { for (i in sum) print i, sum[i] }' classes | sort)"
}

# edited NAME HOW...: kept.data is that recording, as another machine would have made it
edited() {
	local file=kept.data
	recorded_unpack "$ROOT/selftests/perf/$1"
	[ ! -d kept.data ] || file=kept.data/data
	shift
	python3 "$HERE/edit_perf.py" $file "$@"
}

# open_edited OPTION...: what is shown of it, on standard output
open_edited() {
	PERF_BUILDID_DIR=ids timeout 20 "$KIPT" open kept.data "$@" 2>err
}

# Of a guest no recording has the code, and its addresses are no symbols of this machine:
# before and after it all is as if it was not there.
perf_guest_tests() {
	local mode
	recorded_unpack "$ROOT/selftests/perf/6.12-both"
	open_edited --branches >all
	edited 6.12-both guest 8 20
	open_edited --branches >some
	same perf_guest_before "$(sed '/VMX non-root/,$d' some)" \
		"$(head -n "$(grep -n 'VMX non-root' some | head -n 1 | cut -d: -f 1)" all | sed '$d')"
	same perf_guest_after "$(tail -n 300 all)" "$(tail -n 300 some)"
	same perf_guest_says_so 1 "$(grep -c 'a part of the trace is of guests' err)"
	open_edited --branches --json >lines
	same perf_guest_nothing_is_named "12 0" "$(python3 - lines <<-'END'
	import json, sys
	contexts = named = guest = 0
	for line in map(json.loads, open(sys.argv[1])):
	    if line["type"] == "context":
	        guest = line.get("flags", 0) & 4
	        contexts += bool(guest)
	    elif guest and line["type"] != "time":
	        named += "ip_symbol" in line or "to_symbol" in line or line["type"] == "branch"
	print(contexts, named)
	END
	)"
	edited 6.12-both guest 0 100000
	for mode in --branches --calls --totals --counts --insns --folded; do
		open_edited $mode >some
		same "perf_guest_alone $mode" 0 "$(grep -c -e '\[kernel\]' -e '\[kinds\]' some)"
	done
	open_edited --counts --json >lines
	same perf_guest_edges_say_so "$(grep -c '"edge"' lines)" \
		"$(grep -c '"edge".*"guest":true' lines)"
}

# Packed, each branch is of the same task, also where the kernel switches.
perf_packed_tests() {
	local kind option
	for kind in 6.12-bpf 6.1-tracepoints new-tracepoints; do
		recorded_unpack "$ROOT/selftests/perf/$kind"
		for option in -o --packed; do
			open_edited $option kept.rec
			"$KIPT" show kept.rec --branches --json 2>err | grep '"branch"' >all$option
		done
		same "perf_packed $kind" "" "$(cmp all-o all--packed 2>&1)"
	done
	rm -r kept.data
}

# Who ran before the first switch of a CPU its event says, and without events nobody knows.
perf_unswitched_tests() {
	recorded_unpack "$ROOT/selftests/perf/6.12-processes"
	open_edited --branches >all
	edited 6.12-processes no-starts
	open_edited --branches >some
	same perf_first_switch "$(md5sum <all)" "$(md5sum <some)"
	edited 6.12-processes no-switches
	open_edited --branches >some
	same perf_no_switches "0 1" "$(grep -c -e task -e ' -> ' some) $(
		grep -c 'who ran when was not recorded' err)"
	recorded_unpack "$ROOT/selftests/perf/6.12-user"
	open_edited --branches >all
	edited 6.12-user no-switches
	open_edited --branches >some
	same perf_no_switches_one_process "$(grep ' -> ' all | md5sum)" "$(grep ' -> ' some | md5sum)"
}

# Each gap is at a packet that kipt packets shows, also after what kipt puts into the trace.
perf_place_tests() {
	edited 6.12-processes no-mappings
	open_edited --branches --json >lines
	"$KIPT" packets kept.data --json >packets 2>/dev/null
	same perf_places "True 0" "$(python3 - lines packets <<-'END'
	import json, sys
	cpu, packets = None, set()
	for line in map(json.loads, open(sys.argv[2])):
	    cpu = line["cpu"] if line["type"] == "packets-of" else cpu
	    packets.add((cpu, line.get("offset")))
	gaps = [(o["cpu"], o["value"]) for o in map(json.loads, open(sys.argv[1])) if o["type"] == "gap"]
	print(len(gaps) > 200, sum(gap not in packets for gap in gaps))
	END
	)"
	open_edited --branches >some
	same perf_no_mappings_says_so 1 "$(grep -c 'does not say what they had mapped' err)"
	edited 6.12-processes no-info
	open_edited --branches >some
	same perf_no_info "kipt: kept.data: it has trace, but not the event that says how it was recorded (AUXTRACE_INFO): it was cut, or changed" \
		"$(cat err)"
	edited 6.12-processes reuse
	open_edited --branches >some
	same perf_reused_number 1 "$(grep -c '1 times a process got the number of one' err)"
	recorded_unpack "$ROOT/selftests/perf/6.12-both"
	open_edited --branches >some
	same perf_nothing_missing 0 "$(grep -c 'is missing' err)"
	rm -r kept.data
}

# quiet NAME COMMAND...: it exits with 0 and says nothing on its standard error
quiet() {
	local name=$1
	shift
	"$@" >out 2>err
	same "$name" "0 " "$? $(cat err)"
}

# What perf itself says of written.data, the recording of the folder $1. Branches are
# in want.
perf_reads_written() {
	local cache=${KIPT_CACHE:-/var/cache/kipt}/perf kernel some=
	if command -v perf >/dev/null; then
		some=1
		perf_reads_it "$1" perf
	fi
	for kernel in 6.1 6.12 new; do
		[ -x "$cache/$kernel/perf" ] || continue
		some=1
		perf_reads_it "$1 $kernel" "$cache/$kernel/perf"
	done
	[ "$some" ] || skip "perf_written_script $1" "no perf"
}

# perf_reads_it NAME PERF
perf_reads_it() {
	local name=$1 itrace="--itrace=b" perf
	perf="$2 --buildid-dir $PWD/ids"
	rm -f injected.data
	quiet "perf_written_script $name" $perf script $itrace -F ip,addr,flags \
		-i written.data
	same "perf_written_script_branches $name" "$(md5sum <want)" "$(grep -vE \
		'^ *tr (strt|end)' out | sed 's/=>//' | awk '{ print $(NF - 1), $NF }' |
		md5sum)"
	$perf report $itrace --stdio -i written.data >out 2>err
	same "perf_written_report $name" 0 "$?"
	quiet "perf_written_inject $name" $perf inject -i written.data -o injected.data
	same "perf_written_injected_branches $name" \
		"$($perf script $itrace -i written.data 2>&1)" \
		"$($perf script $itrace -i injected.data 2>&1)"
}

# Recordings that the tool wrote itself, from the events of those that are kept.
perf_written_tests() {
	local dir name id program
	program=$(dirname "$KIPT")/perf_write_test
	[ -x "$program" ] || { skip perf_written "it is not built beside the tool"; return; }
	for dir in "$ROOT"/selftests/perf/small/; do
		name=$(basename "$dir")
		command -v zstd >/dev/null || { skip "perf_written $name" "no zstd"; continue; }
		kept_unpack "$dir"
		quiet "perf_written $name" "$program" kept.data written.data
		same "perf_written_is_private $name" 600 "$(stat -c %a written.data)"
		PERF_BUILDID_DIR=ids run decode written.data --branches --json
		same "perf_written_branches $name" "$(md5sum <want)" \
			"$(json_types <<<"$OUT" | awk '/^branch/ {
				print substr($3, 3), substr($4, 3) }' | md5sum)"
		PERF_BUILDID_DIR=ids run decode written.data --strict --stats
		same "perf_written_no_gaps $name" "0" "$STATUS"
		perf_reads_written "$name"
	done
	perf_full_tests "$program"
}

# A missing folder, what is there and a full disk each give a sentence; what is there stays.
perf_full_tests() {
	"$1" kept.data /no-folder/written.data 2>err
	same "perf_written_nowhere" "1 1" "$? $(grep -c 'cannot make.*ENOENT' err)"
	echo mine >victim
	ln -s victim link.data
	"$1" kept.data link.data 2>err
	same "perf_written_follows_no_link" "1 1 mine" \
		"$? $(grep -c 'cannot make.*EEXIST' err) $(cat victim)"
	(trap '' XFSZ; ulimit -f 1; exec "$1" kept.data full.data 2>err)
	same "perf_written_full" "1 1" "$? $(grep -c 'cannot write to full.data.*EFBIG' err)"
}

perf_tests() {
	perf_trace_make
	perf_packets_tests
	perf_times_tests
	perf_overlap_tests
	perf_cut_tests
	perf_wrong_bytes_tests
	perf_unended_tests
	perf_refused_tests
	perf_decode_tests
	perf_kcore_tests
	others_tests
	perf_other_forms_tests
	perf_whose_tests
	totals_perf_tests
	diff_perf_tests
	perf_inode_tests
	perf_device_tests
	perf_memory_tests
	perf_path_bytes_tests
	perf_listed_tests
	perf_id_size_tests
	perf_far_id_tests
	perf_symfs_tests
	perf_vmlinux_tests
	perf_debug_file_tests
	perf_demangle_tests
	perf_server_tests
	inline_tests
	perf_file_cut_tests
	perf_names_tests
	perf_other_vdso_tests
	perf_many_tests
	perf_kept_tests
	perf_recorded_tests
	perf_written_tests
	perf_real_tests
}
