# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034
#
# kipt crash on dumps that make_dump.py makes: it decodes the same as 'kipt decode'
# does from the same bytes, and reports what is damaged. Sourced by tool_test.sh.

# dump ARGS...: makes the dump $D
dump() {
	rm -f dump dump-*
	python3 "$HERE/make_dump.py" "$D" "$@"
}

# crash_hash CPU FORM: of the death, or of snapshot $S
crash_hash() {
	"$KIPT" crash "$D" ${S:+--snapshot "$S"} --cpu "$1" "$2" --hash 2>/dev/null
}

# decode_hash CPU FORM
decode_hash() {
	"$KIPT" decode "$D${S:+-slot$S}-cpu$1.pt" --pages "$D-code" "$2" --hash 2>/dev/null
}

# flow_same NAME CPU...: it is the same flow, and there is one
flow_same() {
	local name=$1 cpu form want
	shift
	for cpu; do
		for form in --branches --insns --counts; do
			want=$(decode_hash "$cpu" $form)
			differ "${name}_cpu${cpu}_${form#--}_is_something" \
				0 "${want%% *}"
			same "${name}_cpu${cpu}_${form#--}" "$want" \
				"$(crash_hash "$cpu" $form)"
		done
	done
}

# flow_differs_in_no_ip NAME: there are as many branches of user code as in 'kipt
# decode', and no branch has a thread
flow_differs_in_no_ip() {
	same "$1_user_code" "$("$KIPT" decode "$D-cpu0.pt" --pages "$D-code" \
		--branches --kallsyms "" 2>/dev/null |
		grep -c '^ *40[0-9a-f]* .* -> 40')" \
		"$("$KIPT" crash "$D" --cpu 0 --branches --kallsyms "" 2>/dev/null |
			grep -c '^ *40[0-9a-f]* .* -> 40')"
	same "$1_no_threads" 0 "$("$KIPT" crash "$D" --cpu 0 --branches \
		2>/dev/null | grep -c '^-- task')"
}

# reported NAME PATTERN ARGS...: kipt crash succeeds, and PATTERN is in its messages
reported() {
	local name=$1
	shift
	refused "$name" 0 "$1" crash "$D" "${@:2}"
}

# records CPU: of the dump, without those of the summary
crash_records() {
	"$KIPT" crash "$D" --cpu "$1" --json --time 2>/dev/null |
		grep -v '"type":"\(crash\|crash-cpu\|summary\)"'
}

crash_whole_tests() {
	local cpu
	dump
	flow_same "crash" 0 1
	# Symbols are the dump's; decode has none.
	"$KIPT" crash "$D" --save saved >/dev/null 2>&1
	for cpu in 0 1; do
		same "crash_records_cpu$cpu" "$("$KIPT" decode \
			"$D-cpu$cpu.pt" --pages "$D-code" --json --time \
			--meta saved/meta.json --kallsyms saved/kallsyms |
			grep -v '"type":"summary"' |
			sed 's/"cpu":0/"cpu":'$cpu'/' | md5sum)" \
			"$(crash_records $cpu | md5sum)"
	done
	run crash "$D" --summary
	same "crash_summary" "Linux 6.12.0-test died on 2023-11-14 22:13:20 UTC, 39.594 s after its TSC began
  by a panic, first on CPU 1; 1 of 1 other CPUs stopped in time
  CPU 1: 19 of 64 KiB of trace, stopped for the crash
    task 1 (101) at looping [kernel], +0.500 us
  CPU 0: 19 of 64 KiB of trace, stopped for the crash
    task 0 (100) at looping [kernel], +0.000 us" \
		"$(grep -v 'faulted' <<<"$OUT")"
	same "crash_faulted_with_a_long_name" 1 \
		"$(grep -c '^  faulted at lo\{150\}ng \[kernel\], exception 14$' \
			<<<"$OUT")"
	run crash "$D" --summary --json
	same "crash_summary_json" "crash panic 0xffffffff81001005
crash-cpu stopped 20078
crash-cpu stopped 20028" "$(python3 -c 'import json, sys
for line in sys.stdin:
    o = json.loads(line)
    print(o["type"], o.get("hook") or o["state"], o.get("bytes") or o["ip"])' \
		<<<"$OUT" 2>&1)"
	same "crash_names_of_modules" 1 \
		"$("$KIPT" crash "$D" --branches 2>/dev/null |
			grep -c -m 1 'of_a_module.1+0x5 \[first\]')"
	same "crash_last" "3
3" "$(for cpu in 0 1; do
		"$KIPT" crash "$D" --cpu $cpu --branches --last 3 --json |
			grep -c '"type":"branch"'
	done)"
	same "crash_last_are_the_last" \
		"$(crash_records 0 | grep '"type":"branch"' | tail -n 7 | md5sum)" \
		"$("$KIPT" crash "$D" --cpu 0 --last 7 --json --time \
			2>/dev/null | grep '"type":"branch"' | md5sum)"
	same "crash_to_file_and_show" "$(crash_hash 1 --branches)" \
		"$("$KIPT" crash "$D" --cpu 1 -o crash.rec >/dev/null 2>&1
		"$KIPT" show crash.rec --branches --hash)"
}

# cpus ARGS...: the CPUs that are shown, with their branches
cpus() {
	"$KIPT" crash "$D" --branches --json "$@" 2>/dev/null |
		sed -n 's/.*"type":"branch",.*"cpu":\([0-9]*\).*/\1/p' | uniq -c | xargs
}

# The CPU that died comes first; without options kipt shows it alone.
crash_died_tests() {
	dump --cpus 3
	same "crash_died_only" "100 1" "$(cpus)"
	same "crash_died_last" "7 1" "$(cpus --last 7)"
	same "crash_died_first" "7 1 7 0 7 2" "$(cpus --all-cpus --last 7)"
	same "crash_died_first_of_some" "7 1 7 2" "$(cpus --cpu 1,2 --last 7)"
	same "crash_one_cpu_is_whole" "$(decode_hash 1 --branches)" \
		"$("$KIPT" crash "$D" --cpu 1 --branches --hash 2>/dev/null)"
	same "crash_counts_are_of_all" "$("$KIPT" crash "$D" --all-cpus --counts \
		2>/dev/null | md5sum)" "$("$KIPT" crash "$D" --counts 2>/dev/null | md5sum)"
	same "crash_summary_is_of_all" "CPU 1: CPU 0: CPU 2:" "$("$KIPT" crash "$D" \
		--summary | sed -n 's/^  \(CPU .:\).*/\1/p' | xargs)"
	refused "crash_all_and_some" 2 "only one of them" crash "$D" --cpu 1 --all-cpus
	dump --cpus 3 --no-event
	same "crash_died_unknown" "100 0 100 1 100 2" "$(cpus)"
}

# All CPUs in one order, which loses nothing and changes no CPU's own.
crash_merged_tests() {
	local cpu
	dump --cpus 3
	run crash "$D" --merged --last 400 --json --time --branches
	same "crash_merged_times" "" "$(python3 -c 'import json, sys
last = 0
for line in sys.stdin:
    o = json.loads(line)
    if o["type"] == "time":
        if o["tsc"] < last:
            print(line)
        last = o["tsc"]' <<<"$OUT")"
	for cpu in 0 1 2; do
		same "crash_merged_cpu$cpu" \
			"$("$KIPT" crash "$D" --cpu $cpu --last 400 --json \
				--branches | grep '"type":"branch"' | md5sum)" \
			"$(grep '"type":"branch","kind":"[a-z-]*","cpu":'$cpu \
				<<<"$OUT" | md5sum)"
	done
	differ "crash_merged_takes_turns" 1 "$((
		$(grep -c '"type":"cpu"' <<<"$OUT") > 3 ? 0 : 1))"
	refused "crash_merged_has_an_order" 2 "counts have no order" crash \
		"$D" --merged --counts
}

# What was decoded until Ctrl-C is shown, and is said not to be all. Where the signal comes before
# the first branch, or after the last, it comes at another time once more.
crash_cancel_tests() {
	local delay found
	dump --cpus 1 --bytes 6000000 --size $((0x600000)) --block $((0x200000))
	for delay in 0.{005,01,02,03,04,06,08,1,15,2,3,4}; do
		interrupted $delay "$KIPT" crash "$D" --merged --branches --json >out 2>err
		found="$? $(grep -c '"branch"' out | sed 's/^[1-9].*/some/')"
		[ "$found" != "1 some" ] || break
	done
	same "crash_merged_cancelled" "1 some 1 1" \
		"$found $(grep -c '"unfinished"' out) $(grep -c cancelled err)"
}

crash_save_tests() {
	rm -rf saved
	dump
	run crash "$D" --save saved
	same "crash_save_exit" 0 "$STATUS"
	same "crash_save_traces" "$(cat "$D"-cpu[01].pt | md5sum)" \
		"$(cat saved/cpu[01].pt | md5sum)"
	same "crash_save_symbols" "ffffffff81000000 T _stext
ffffffff81001000 T looping
ffffffffc0002000 T of_a_module.1	[first]" \
		"$(grep -v ' lo*ng$' saved/kallsyms | sort -u -k1,3)"
	# User code has no place there: kernel branches are the same.
	same "crash_save_decodes" \
		"$(crash_records 0 | grep '"type":"branch".*"ip":"0xffff' | md5sum)" \
		"$("$KIPT" decode saved/cpu0.pt --dir saved --json --time \
			2>/dev/null | grep '"type":"branch".*"ip":"0xffff' | md5sum)"
}

crash_ring_tests() {
	dump --bytes 200000
	flow_same "crash_ring_written_round" 0 1
	dump --bytes 1000000 --size $((0x200000)) --block 4096
	flow_same "crash_many_regions" 0
	# More than the window: cut at PSBs. The trace has one gap less than its
	# pieces have, as it has none.
	dump --cpus 1 --bytes 6000000 --size $((0x600000)) --block $((0x200000))
	flow_same "crash_large_ring" 0
	is_short || same "crash_large_ring_offsets" "$(crash_records 0 | md5sum)" \
		"$("$KIPT" decode "$D-cpu0.pt" --pages "$D-code" --json --time \
			--meta saved/meta.json --kallsyms saved/kallsyms |
			grep -v '"type":"summary"' | md5sum)"
	# A crash kernel has little memory: this counts libraries, too.
	same "crash_large_ring_in_48_MiB" "$(decode_hash 0 --branches)" \
		"$(ulimit -v 49152; crash_hash 0 --branches)"
}

# The beginning of what a CPU did, as far as it goes.
crash_prefix() {
	local name=$1 cpu=$2 got
	"$KIPT" decode "$D-cpu$cpu.pt" --pages "$D-code" --branches \
		--kallsyms "" 2>/dev/null | grep ' -> ' >whole
	"$KIPT" crash "$D" --cpu "$cpu" --branches --kallsyms "" 2>/dev/null |
		grep ' -> ' >part
	got=$(wc -l <part)
	if [ "$got" -ge "$3" ] && head -n "$got" whole | cmp - part >&2; then
		ok "$name"
	else
		not_ok "$name" "$got branches, want $3 or more of $(wc -l <whole)"
	fi
}

crash_unanswered_tests() {
	dump --states 1:1
	flow_same "crash_running_first_lap" 1
	run crash "$D" --cpu 1
	same "crash_running_is_reported" 1 \
		"$(grep -c 'did not answer; its trace up to the last byte' \
			<<<"$OUT")"
	same "crash_running_ends_with_a_gap" 1 \
		"$(grep -c 'gap: the CPU did not answer' <<<"$OUT")"
	dump --bytes 200000 --states 0:1
	crash_prefix "crash_running_later_lap" 0 20000
	run crash "$D" --cpu 0 --summary
	same "crash_running_later_lap_is_reported" 2 \
		"$(grep -c 'last PSB that is surely\|may be newer or older' \
			<<<"$OUT")"
	# A stop that was being written counts as none.
	dump --flip $((0x110c0 + 64)):3
	flow_same "crash_torn_stop" 0
	run crash "$D" --cpu 0 --summary
	same "crash_torn_stop_is_reported" 1 "$(grep -c 'did not answer' <<<"$OUT")"
	dump --states 0:0
	run crash "$D" --cpu 0 --summary
	same "crash_stopped_before" 1 \
		"$(grep -c 'had stopped before' <<<"$OUT")"
}

crash_damage_tests() {
	local bit
	for bit in 0 5; do
		dump --flip $((0x10040)):$bit
		reported "crash_header_bit_${bit}_reported" "header at 0x10000 has a wrong"
		flow_same "crash_header_bit_$bit" 0 1
	done
	dump --drop $((0x10000)):4096
	reported "crash_header_missing_reported" "there is no good header"
	flow_same "crash_header_missing" 1
	dump --cpus 3 --flip $((0x12050)):1
	reported "crash_cpu_page_bit_reported" "CPU 1 at 0x12000 has a wrong" --summary
	reported "crash_cpu_page_bit_counted" "1 of 3 CPUs have no good page" \
		--summary
	flow_same "crash_cpu_page_bit" 0 2
	refused "crash_cpu_that_is_not_there" 1 "nothing of CPU 1 in this" \
		crash "$D" --cpu 1
	dump --flip $((0x10110 + 20)):1
	run crash "$D" --summary
	same "crash_event_bit" 1 "$(grep -c 'what it died of is not' <<<"$OUT")"
	flow_same "crash_event_bit" 0
	# The page with the 217th to the 468th block.
	dump --bytes 2000000 --size $((0x200000)) --block 4096 \
		--flip $((0x30050)):0
	reported "crash_regions_bit_reported" "1080 of 2048|bytes of its trace are not" \
		--stats --cpu 0
	crash_prefix "crash_regions_bit" 0 200000
}

crash_missing_tests() {
	# A page in the middle of the first block, which is the last in memory.
	dump --drop $((0x40d000)):4096
	reported "crash_hole_reported" "CPU 0: 4096 bytes of its trace are not in" \
		--cpu 0 --stats
	run crash "$D" --cpu 0 --branches --kallsyms ""
	same "crash_hole_is_a_gap" 1 \
		"$(grep -c 'gap: trace that is not in the dump: 4096 bytes' \
			<<<"$OUT")"
	"$KIPT" decode "$D-cpu0.pt" --pages "$D-code" --branches \
		--kallsyms "" 2>/dev/null | grep ' -> ' >whole
	grep ' -> ' <<<"$OUT" >part
	same "crash_hole_invents_nothing" "" "$(diff whole part | grep '^>')"
	differ "crash_hole_both_sides" "" \
		"$(tail -n 100 part | diff - <(tail -n 100 whole) && echo same)"
	# Code that is not resident.
	dump --drop $((0x233000)):4096
	same "crash_user_page_missing" "no-code" "$("$KIPT" crash "$D" --json |
		sed -n 's/.*"type":"gap","kind":"\([a-z-]*\)".*/\1/p' |
		sort -u)"
	head -c 4096 "$D-code.dump" | tail -c +1 >/dev/null
	tail -c 4096 "$D-code.dump" >page
	same "crash_image_helps" "$(decode_hash 0 --insns)" \
		"$("$KIPT" crash "$D" --cpu 0 --insns --hash \
			--image "page@0x401000")"
	dump
	head -c 150000 "$D" >cut
	cp cut "$D"
	reported "crash_cut_short_reported" "is cut short: 0\.[0-9]* MiB of its memory"
	dump --kdump --bytes 2000000 --size $((0x200000)) \
		--damage $((0x400000)):$((0x180000))
	reported "crash_damaged_pages_reported" \
		"384 pages of this dump could not be read" --stats
	flow_same "crash_damaged_pages" 1
	dump --kdump --bytes 2000000 --size $((0x200000))
	head -c $(($(stat -c %s "$D") * 6 / 10)) "$D" >cut
	cp cut "$D"
	reported "crash_packed_cut_short_reported" \
		"pages of this dump could not be read: .* ends before" --stats
	dump --no-vmcoreinfo
	reported "crash_without_symbols_reported" "symbols are not in the dump"
	flow_same "crash_without_symbols" 0
}

crash_choice_tests() {
	dump --version 0
	refused "crash_no_version" 1 "kipt left nothing in this dump" \
		crash "$D"
	dump --version 2
	refused "crash_other_version" 1 "pages of version 2, this one reads versions up to 1" \
		crash "$D"
	dump --older
	reported "crash_two_headers_reported" "at 0x20000: of an older crash" --summary
	flow_same "crash_two_headers" 0
	run crash "$D" --header 0x20000 --summary
	same "crash_header_chosen" 1 \
		"$(grep -c '39.094 s after its TSC' <<<"$OUT")"
	refused "crash_nothing" 1 "kipt left nothing in this dump" crash empty
	refused "crash_no_dump" 1 "cannot read junk as a dump" crash junk
	same "crash_no_dump_is_one_sentence" 1 "$("$KIPT" crash junk 2>&1 | wc -l)"
	printf PERFILE2 >perfile
	refused "crash_perf_data" 1 "it is a perf.data; 'kipt open' opens" crash perfile
	refused "crash_no_file" 1 "cannot read none.*ENOENT" crash none
	refused "crash_last_is_a_number" 2 "--last 0: allowed" crash "$D" \
		--last 0
	refused "crash_last_has_an_order" 2 "counts have no order" crash "$D" \
		--last 1 --counts
	refused "crash_header_is_a_page" 2 "address of a page" crash "$D" \
		--header 0x123
	refused "crash_cpus_are_a_list" 2 "a list of CPUs" crash "$D" --cpu x
}

# meta_ctl: of the meta.json in saved
meta_ctl() {
	grep -o '"ctl_bits":"[^"]*"' saved/meta.json
}

# All is of the CPUs that were chosen, and nothing of a dump before.
crash_save_choice_tests() {
	rm -rf saved
	dump --cpus 3 --ctl 1:$((0x800))
	run crash "$D" --save saved
	same "crash_save_differs" "0 1" "$STATUS $(grep -c \
		'meta.json is of CPU 0: CPU 1 was traced in another way' <<<"$ERR")"
	run crash "$D" --save saved --cpu 1
	same "crash_save_of_a_cpu" '"ctl_bits":"0x2c05"' "$(meta_ctl)"
	same "crash_save_of_a_cpu_says_nothing" 0 "$(grep -c meta.json <<<"$ERR")"
	same "crash_save_is_of_one_dump" "cpu1.pt" "$(cd saved && printf '%s\n' *.pt)"
	: >saved/cpu1-mine.pt
	: >saved/notes
	: >saved/user-12.addr
	: >saved/user-12.dump
	run crash "$D" --save saved --cpu 0,2
	same "crash_save_of_others" '"ctl_bits":"0x2405"' "$(meta_ctl)"
	same "crash_save_spares_what_is_not_its_own" \
		"cpu0.pt cpu1-mine.pt cpu2.pt kallsyms kernel.addr kernel.dump meta.json notes" \
		"$(cd saved && printf '%s\n' * | paste -sd ' ')"
	rm saved/meta.json saved/kernel.dump
	mkdir saved/kernel.dump
	run crash "$D" --save saved --cpu 0,2
	rmdir saved/kernel.dump
	same "crash_save_failed" 1 "$STATUS"
	run crash "$D" --save saved --cpu 1
	same "crash_save_failed_is_cleared" "0 cpu1-mine.pt cpu1.pt" "$STATUS $(
		cd saved && echo *.pt)"
	rm saved/meta.json
	cp saved/cpu1.pt saved/cpu0.pt
	cp saved/cpu1.pt saved/cpu7.pt
	run crash "$D" --save saved --cpu 0,2
	same "crash_save_spares_other_folders" saved/cpu7.pt "$(echo saved/cpu7.pt*)"
}

# Threads that are not named at the time of their switch, one a line.
threads_out_of_time() {
	"$KIPT" crash "$D" --cpu 0 --json --time 2>/dev/null |
		python3 -c 'import json, sys
TSC = 0x123456789a
now = None
for line in sys.stdin:
    o = json.loads(line)
    if o["type"] == "time" and o.get("exact", True):
        now = o["tsc"]
    if o["type"] == "task" and now:
        i = (now - TSC + 1) // 100000
        if o["tid"] != 100 + i % 3:
            print(line, now, i)'
}

# Who ran, by the log and the list of processes; kernel code as it was before it
# was patched.
crash_log_tests() {
	local form
	dump
	for form in --branches --insns --counts; do
		crash_hash 0 $form
	done >without
	dump --logs
	for form in --branches --insns --counts; do
		crash_hash 0 $form
	done >with
	same "crash_patched_code_as_it_ran" "" "$(diff without with 2>&1)"
	flow_same "crash_patched" 0 1
	dump --logs --patches none
	same "crash_no_patch" 1000 "$("$KIPT" crash "$D" --cpu 0 --branches 2>/dev/null |
		grep -m 1000 -c ' -> ffff')"
	# Of no text anybody knows what it was.
	for form in missed unseen damaged; do
		dump --logs --patches $form
		reported "crash_patches_${form}_reported" "CPU 0: which code of the kernel was patched" \
			--cpu 0 --stats
		same "crash_patches_$form" "0" \
			"$("$KIPT" crash "$D" --cpu 0 --branches 2>/dev/null | grep -c ' -> ffff')"
	done
	dump --logs
	same "crash_threads" "100 101 102" "$("$KIPT" crash "$D" --json \
		--branches | sed -n 's/.*"type":"branch".*"tid":\([0-9]*\).*/\1/p' |
		sort -u | xargs)"
	same "crash_threads_by_name" "-- task 100 worker?
-- task 101 worker?
-- task 102 kthread" "$("$KIPT" crash "$D" --branches 2>/dev/null |
		grep -a -- '^-- task' | sort -u | tr '\377' '?')"
	same "crash_names_of_threads_in_json_are_utf8" 0 "$("$KIPT" crash "$D" \
		--json 2>/dev/null | iconv -f UTF-8 -t UTF-8 >/dev/null; echo $?)"
	same "crash_switches_that_are_lost" 1 "$("$KIPT" crash "$D" --cpu 0 \
		--json --branches | grep -c '"kind":"switches".*"value":9')"
	same "crash_threads_in_time" "" "$(threads_out_of_time)"
	# A part of the log is not in the dump: what comes after that part is known.
	dump --logs --drop $((0xad000)):4096
	reported "crash_threads_with_a_hole_reported" \
		"CPU 0: a part of what was noted of its threads is not in" --cpu 0
	same "crash_threads_after_a_hole" "" "$(threads_out_of_time)"
	same "crash_switches_before_a_hole" 1 "$("$KIPT" crash "$D" --cpu 0 \
		--json --branches 2>/dev/null | grep -c '"kind":"switches".*"value":32')"
	dump --logs --drop $((0xac000)):4096
	same "crash_threads_before_a_hole" 0 "$("$KIPT" crash "$D" --cpu 0 \
		--json 2>/dev/null | grep -c '"type":"task"')"
	# The page, and what it leads to.
	dump --logs --flip $((0xa6000 + 70)):1
	flow_differs_in_no_ip "crash_logs_page_bit"
	dump --logs --drop $((0xa5000)):4096
	flow_differs_in_no_ip "crash_logs_missing"
	dump --forged --logs --note
	reported "crash_forged_header_reported" "at 0x20000: not the kernel's" --summary
	reported "crash_own_header_reported" "at 0x10000 is used, it is the kernel's own" \
		--summary
	flow_same "crash_forged" 0
}

# header_is NAME ADDRESS: of the header that is used
header_is() {
	same "$1" "$2" "$("$KIPT" crash "$D" --summary --json 2>/dev/null |
		sed -n 's/.*"header":"\([0-9a-fx]*\)".*/\1/p')"
}

# A program made up a header of a newer crash, and has a say in the log: a line of
# it, or what follows a name in one, is not what the module printed.
crash_forged_log_tests() {
	local segfault="a[7]: segfault at 0 ip 0000000000401000 in crash header at 0x20000[400000+1000]"
	local own="kipt: crash header at 0x10000"
	dump --forged --note --log "$segfault"
	header_is "crash_log_name_of_a_program" 0x10000
	reported "crash_log_name_of_a_program_is_searched" "not the kernel's" --summary
	dump --forged --note --log "$segfault" --log "$own"
	header_is "crash_log_name_beside_the_kernels" 0x10000
	run crash "$D" --summary
	same "crash_log_spares_the_search" "" \
		"$(printf %s "$ERR" | grep "another header")"
	dump --forged --note --log "kipt: crash header at 0x20000" --log "$own"
	header_is "crash_log_forged_record" 0x10000
	run crash "$D" --summary
	same "crash_log_forged_record_spares_no_search" "" \
		"$(printf %s "$ERR" | grep "another header")"
	dump --forged --note --log "x $own"
	reported "crash_log_record_begins_with_it" "another header" --summary
	# The record that begins anew at the ring's begin.
	dump --forged --note --log "$segfault" --log "${own}0000"
	header_is "crash_log_digits_after" 0x10000
	run crash "$D" --summary
	same "crash_log_at_the_begin_of_the_ring" "" \
		"$(printf %s "$ERR" | grep "another header")"
	dump --forged --note
	reported "crash_header_by_hand_is_judged" "0x20000 is not the kernel's" \
		--header 0x20000 --summary
}

# What the machine survived before it died, as the module had it in memory.
crash_slot_tests() {
	local S="" kind
	dump --slots whole
	run crash "$D" --summary
	same "crash_slots_in_the_summary" \
		"The machine survived this before ('kipt crash dump --snapshot N' shows number N):
1    2023-11-14 22:13:15 UTC  warning CPU 1   looping [kernel]  task 1 (101)  2 CPUs, 60 KiB
2    2023-11-14 22:13:16 UTC  warning CPU 1   looping [kernel]  task 1 (101)  1 CPUs, 32 KiB; 3 before it are not kept
5    2023-11-14 22:13:19 UTC  warning CPU 1   looping [kernel]  0 CPUs, 4 KiB; 1 before it are not kept
Linux 6.12.0-test died on 2023-11-14 22:13:20 UTC, 39.594 s after its TSC began" \
		"$(head -n 5 <<<"$OUT")"
	run crash "$D" --summary --json
	same "crash_slots_in_json" "1 2 5 crash" "$(sed -n \
		's/.*"type":"snapshot","id":\([0-9]*\),.*/\1/p; s/.*"type":"\(crash\)".*/\1/p' \
		<<<"$OUT" | xargs)"
	run crash "$D" --snapshot 1 --summary
	same "crash_slot_summary" "Linux 6.12.0-test goes on after this, 39.144 s after its TSC began
  by a warning, first on CPU 1; 1 of 1 other CPUs stopped in time
  called at looping [kernel]
  CPU 1: 9 of 16 KiB of trace, stopped for the crash
    task 1 (101) at looping [kernel], +0.500 us
  CPU 0: 9 of 16 KiB of trace, stopped for the crash
    task 0 (100) at looping [kernel], +0.000 us" "$OUT"
	# The CPU that met it asks the others.
	run crash "$D" --snapshot 2 --summary
	same "crash_slot_others" "0 of 1 other CPUs stopped in time" \
		"$(sed -n 's/.*; //; 2p' <<<"$OUT")"
	S=1 flow_same "crash_slot" 0 1
	S=2 flow_same "crash_slot_written_round" 1
	rm -rf saved
	run crash "$D" --snapshot 1 --save saved
	same "crash_slot_saved" "$(cat "$D"-slot1-cpu[01].pt | md5sum)" \
		"$(cat saved/cpu[01].pt | md5sum)"
	for kind in 3 5; do
		refused "crash_slot_${kind}_is_none" 1 \
			"dump has no snapshot $kind to show: it has 1, 2, 5 .half written.$" \
			crash "$D" --snapshot $kind
	done
	refused "crash_slot_number" 2 "--snapshot 0: the number" crash "$D" --snapshot 0
	refused "crash_slot_of_no_dump" 2 "are of a dump" crash show 1 --snapshot 1
	# Threads by the snapshot's log, names and patches of text by the dump's.
	dump --slots whole --logs
	S=1 flow_same "crash_slot_patched" 0 1
	same "crash_slot_threads" "-- task 100 worker?
-- task 102 kthread" "$("$KIPT" crash "$D" --snapshot 1 --all-cpus --branches \
		2>/dev/null | grep -a -- '^-- task' | sort -u | tr '\377' '?')"
	# Lists that do not end, and what has no sense.
	for kind in loop others size; do
		dump --slots $kind
		reported "crash_slot_${kind}_reported" "a part of snapshot 1 is damaged" \
			--snapshot 1 --summary
		S=1 flow_same "crash_slot_$kind" 0
	done
	# A page of the trace, that of the list, that of a CPU.
	dump --slots whole --drop $((0x152000)):4096
	reported "crash_slot_hole_reported" "CPU 0: 4096 bytes of its trace are not in" \
		--snapshot 1 --cpu 0 --stats
	dump --slots whole --drop $((0x102000)):4096
	reported "crash_slot_list_cut_reported" "a part of snapshot 1 is damaged" --snapshot 1 --summary
	S=1 flow_same "crash_slot_list_cut" 0
	dump --slots whole --drop $((0x150000)):4096
	reported "crash_slot_cpu_missing_reported" "a part of snapshot 1 is damaged" \
		--snapshot 1 --summary
	S=1 flow_same "crash_slot_cpu_missing" 1
	dump --slots whole --drop $((0x101000)):4096
	refused "crash_slot_list_missing" 1 "it has 1 .half written., 2 .half written., 5" \
		crash "$D" --snapshot 1
	dump --slots whole --drop $((0x100000)):4096
	refused "crash_slots_missing" 1 "it has none, and lacks memory where 4 more" \
		crash "$D" --snapshot 1
	dump
	refused "crash_slots_of_an_older_module" 1 "no snapshot 1 to show: it has none$" \
		crash "$D" --snapshot 1
}

# set_bytes FILE OFFSET HEX...: of a file
set_bytes() {
	local file=$1 at=$2
	shift 2
	bytes "$@" | dd of="$file" bs=1 seek="$at" conv=notrunc status=none
}

# elf_each_byte FILE: each byte of a dump's ELF header, of its first segments and of the note
# is set to some others, or to one of them. Prints those with which it is neither shown nor refused by a sentence.
elf_each_byte() {
	python3 - "$KIPT" "$1" $(fewer "" one) <<'END'
import subprocess
import sys
kipt, path = sys.argv[1:3]
with open(path, "r+b", buffering=0) as dump:
    for at in range(4, 64 + 3 * 56):
        dump.seek(at)
        was = dump.read(1)
        others = [b"\0", b"\1", b"\x7f", b"\xff"]
        for value in (others[at % 4:][:1] if sys.argv[3:] else others) + [was]:
            dump.seek(at)
            dump.write(value)
            if value == was:
                continue
            done = subprocess.run([kipt, "crash", path, "--summary"], capture_output=True,
                                  stdin=subprocess.DEVNULL)
            if done.returncode not in (0, 1) or done.returncode and not done.stderr:
                print(f"{at}:{value.hex()}", end=" ")
END
}

crash_elf_tests() {
	local at
	dump --note --bytes 5000 --cpus 1
	cp "$D" whole
	same "crash_elf_each_byte" "" "$(elf_each_byte "$D")"
	cp whole "$D"
	set_bytes "$D" 41 01
	reported "crash_elf_sections_do_not_count" "" --summary
	flow_same "crash_elf_sections_do_not_count" 0
	for at in 4:01 5:02 18:b7 54:20; do
		cp whole "$D"
		set_bytes "$D" "${at%:*}" "${at#*:}"
		refused "crash_elf_other_machine_${at%:*}" 1 \
			"no dump of an x86-64 machine, or its ELF header is" crash "$D"
	done
	cp whole "$D"
	set_bytes "$D" 56 00 00
	refused "crash_elf_no_segments" 1 "leads to no memory of a machine" crash "$D"
	# The last segment, of the ring: its address is after the end of all memory.
	cp whole "$D"
	at=$(od -An -tu1 -j 56 -N 1 whole)
	set_bytes "$D" $((64 + 56 * (at - 1) + 24)) 00 00 00 00 00 00 00 ff
	reported "crash_elf_senseless" "1 segments of dump are damaged" --summary
	head -c 40 whole >"$D"
	refused "crash_elf_cut_in_its_header" 1 "ends in its ELF header" crash "$D"
	dump --note --empty 70000
	flow_same "crash_elf_many_segments" 0
	set_bytes "$D" 40 00 00 00 00 00 00 00 7f
	refused "crash_elf_count_missing" 1 "does not say how many segments" crash "$D"
}

# runs PID: it does, and has not ended without anybody who waits for it
runs() {
	kill -0 "$1" 2>/dev/null && ! grep -q '^State:.*Z' "/proc/$1/status" 2>/dev/null
}

# What libkdumpfile makes of damaged files is the end of a process of its own.
crash_library_tests() {
	local deadly log pid
	deadly=$(dirname "$(realpath "$KIPT")")/deadly_kdumpfile.so
	if [ ! -e "$deadly" ]; then
		skip "crash_library" "kipt was built without libkdumpfile"
		return
	fi
	dump --kdump --bytes 200000
	export LD_PRELOAD=$deadly
	KIPT_DEADLY=open refused "crash_library_dies_at_once" 1 \
		"cannot read dump as a dump: it is damaged, and libkdumpfile" crash "$D"
	KIPT_DEADLY="read" refused "crash_library_dies_later" 0 \
		"was ended by a signal .Aborted.: the dump is damaged" crash "$D" --stats
	KIPT_DEADLY=hang timeout --foreground -k 5 -s INT 2 "$KIPT" crash "$D" >out 2>err
	same "crash_library_hangs_and_ctrl_c" "124" "$?"
	# The tool is killed, and the library's process with it.
	KIPT_DEADLY=hang "$KIPT" crash "$D" >out 2>err &
	pid=$!
	log=
	for _ in {1..100}; do
		log=$(pgrep -P $pid) && break
		sleep 0.1
	done
	kill -KILL $pid
	wait $pid 2>/dev/null
	for _ in {1..600}; do
		runs "$log" || break
		sleep 0.1
	done
	same "crash_library_ends_with_the_tool" "ended" "$(runs "$log" || echo ended)"
	unset LD_PRELOAD
}

# Helpers for drgn and crash(8) run the tool, which is found by its name.
crash_helper_tests() {
	local header='"header":"0x10000"'
	mkdir -p bin
	ln -sf "$(realpath "$KIPT")" bin/kipt
	dump
	rm -rf saved by_*
	"$KIPT" crash "$D" --save saved >/dev/null 2>&1
	# As drgn runs a script: in its own process, with the program it has open.
	printf '%s\n' 'import runpy, sys' 'sys.argv = sys.argv[3:]' \
		'runpy.run_path(sys.argv[0], {"prog": object()}, "__main__")' >drgn
	PATH=$PWD/bin:$PATH python3 drgn -c "$D" "$ROOT/tools/drgn/kipt.py" by_option \
		>/dev/null 2>&1
	same "crash_drgn_by_its_option" "" "$(diff -r saved by_option 2>&1)"
	PATH=$PWD/bin:$PATH PYTHONPATH=$ROOT/tools/drgn PYTHONDONTWRITEBYTECODE=1 \
		python3 -c 'import kipt, sys
class Program:
    core_dump_path = sys.argv[1]
kipt.kipt_save(Program, "by_program")
kipt.kipt_show(Program, "--summary", "--json")' "$D" >shown 2>/dev/null
	same "crash_drgn_by_its_program" "" "$(diff -r saved by_program 2>&1)"
	same "crash_drgn_shows" 1 "$(grep -c "$header" shown)"
	same "crash_drgn_without_a_dump" "kipt: drgn does not say which dump it reads: use kipt crash" \
		"$(PYTHONPATH=$ROOT/tools/drgn PYTHONDONTWRITEBYTECODE=1 python3 - \
			<<<'import kipt; kipt.kipt_show(object())' 2>&1)"
	if ! command -v gdb >/dev/null; then
		skip "crash_crash8" "there is no gdb"
		return
	fi
	PATH=$PWD/bin:$PATH gdb -nx -batch -ex "source $ROOT/tools/crash/kipt.crash" \
		-ex "kipt $D" -ex "kipt-save $D by_crash8" -ex "kipt" >shown 2>&1
	same "crash_crash8_shows" "2 1" "$(grep -c '^Linux 6.12.0-test died' \
		shown) $(grep -c '^usage: kipt VMCORE' shown)"
	same "crash_crash8_saves" "" "$(diff -r saved by_crash8 2>&1)"
}

# What a FIFO or an option of another verb would do.
crash_refusal_tests() {
	mkfifo fifo
	refused "crash_fifo" 1 "cannot read fifo: not a regular file" crash fifo
	refused "crash_folder" 1 "not a regular file" crash .
	refused "crash_list_has_no_trace" 2 "list shows no trace: --last" \
		crash list --last 3
	refused "crash_delete_has_no_trace" 2 "delete shows no trace: --cpu" \
		crash delete 1 --cpu 1
	refused "crash_delete_has_no_json" 2 "delete shows no trace: --json" \
		crash delete 1 --json
	refused "crash_delete_has_no_kallsyms" 2 \
		"delete shows no trace: --kallsyms" crash delete 1 --kallsyms ""
	refused "record_on_crash_has_no_hash" 2 "--hash is of all" record \
		--on-crash --hash -- true
	rm fifo
}

crash_form_tests() {
	local form
	for form in negative base; do
		dump --kallsyms $form
		run crash "$D" --summary
		same "crash_kallsyms_$form" 2 "$(grep -c 'at looping' <<<"$OUT")"
	done
	dump --kdump --bytes 200000
	flow_same "crash_kdump" 0 1
	dump --kdump --drop $((0x40d000)):4096
	reported "crash_kdump_hole_reported" "CPU 0: 4096 bytes of its trace are not" \
		--cpu 0 --stats
	printf 'makedumpfile\0\0\0\0' | cat - "$D" >flat
	refused "crash_flattened" 1 "makedumpfile -R" crash flat
}

# vmlinux_make FILE ADDRESS [ID]: a kernel with looping as the dump has it, in line 6
vmlinux_make() {
	cat >kernel.S <<-'END'
		.globl _stext, looping
		.type looping, @function
		_stext:
		.org 0x1000
		looping:
		jne 1f
		nop; nop; nop
		1: jmp *%rax
		.size looping, . - looping
		.section .note.GNU-stack, "", @progbits
	END
	gcc -g -nostdlib -static -no-pie -Wl,-Ttext="$2",-e,_stext \
		-Wl,-z,max-page-size=4096,--build-id="${3:-sha1}" kernel.S -o "$1"
	readelf -n "$1" | sed -n 's/^ *Build ID: /BUILD-ID=/p'
}

# at: what the summary says of where the CPUs were, with options ARGS
at() {
	"$KIPT" crash "$D" --summary "$@" 2>/dev/null | sed -n 's/.*[01]) at \(.*\),.*/\1/p' |
		sort -u | xargs
}

# installed COMMAND...: runs it where what is in the folder lib is installed below /usr/lib
installed() {
	# shellcheck disable=SC2016
	unshare -rm sh -c 'mount -t overlay overlay -o "lowerdir=$0:/usr/lib" /usr/lib &&
		"$@"' "$PWD/lib" "$@"
}

# lines_installed ARGS...: the lines that are shown
lines_installed() {
	installed "$KIPT" crash "$D" --source "$@" 2>/dev/null |
		grep -o '[a-z]*\.S:[0-9]*' | sort -u | xargs
}

crash_vmlinux_place_tests() {
	local id=${1#BUILD-ID=} place=lib/debug/boot/vmlinux-6.12.0-test
	mkdir -p lib/debug/boot "lib/debug/.build-id/${id:0:2}"
	dump --info "$1" --info KERNELOFFSET=0
	cp vmlinux $place
	same "crash_source_of_boot" "kernel.S:6 kernel.S:8" "$(lines_installed --summary)"
	chmod 666 $place
	same "crash_source_of_a_file_of_others" "" "$(lines_installed --summary)"
	chmod 644 $place
	cp other $place
	same "crash_source_of_another_kernel" "" "$(lines_installed --summary)"
	same "crash_source_of_another_kernel_is_no_note" "" \
		"$(installed "$KIPT" crash "$D" --summary --source 2>&1 >/dev/null)"
	cp vmlinux "lib/debug/.build-id/${id:0:2}/${id:2}.debug"
	same "crash_source_of_build_id" "kernel.S:6 kernel.S:8" "$(lines_installed --summary)"
	rm -r lib
}

# module_make FILE [OBJECT]: the first module of the dump; prints its build id
module_make() {
	cat >module.S <<-'END'
		.section .text.other, "ax"
		nop
		.text
		nop
		nop
		.type of_a_module.1, @function
		of_a_module.1:
		jne 1f
		nop; nop; nop
		1: jmp *%rax
		.size of_a_module.1, . - of_a_module.1
		.section .note.GNU-stack, "", @progbits
	END
	gcc -g -c module.S -o module.o && ld -r --build-id=sha1 module.o ${2:+"$2"} -o "$1"
	readelf -n "$1" | sed -n 's/^ *Build ID: //p'
}

# Of a module whose build id is that in the memory of the module.
crash_module_line_tests() {
	local id place=lib/modules/6.12.0-test/kernel/a/first.ko
	mkdir -p "${place%/*}" lib/debug/.build-id
	id=$(module_make $place)
	dump --module-id "$id"
	same "crash_source_of_a_module" "module.S:10 module.S:8" \
		"$(lines_installed --branches --cpu 0)"
	dump --module-id "00${id:2}"
	same "crash_source_of_another_module" "" "$(lines_installed --branches --cpu 0)"
	dump --module-id "$id" --module-id "00${id:2}"
	same "crash_source_of_a_module_of_two_ids" "" "$(lines_installed --branches --cpu 0)"
	dump
	same "crash_source_of_a_module_of_no_id" "" "$(lines_installed --branches --cpu 0)"
	dump --module-id "$id" --drop $((0x224000)):4096
	same "crash_source_of_a_module_left_out" "" "$(lines_installed --branches --cpu 0)"
	dump --module-id "$id"
	chmod 666 $place
	same "crash_source_of_a_module_of_others" "" "$(lines_installed --branches --cpu 0)"
	chmod 644 $place
	mkdir -p "lib/debug/.build-id/${id:0:2}"
	objcopy --only-keep-debug $place "lib/debug/.build-id/${id:0:2}/${id:2}.debug"
	objcopy --strip-debug $place
	same "crash_source_of_a_module_by_its_id" "module.S:10 module.S:8" \
		"$(lines_installed --branches --cpu 0)"
	rm -r "lib/debug/.build-id/${id:0:2}"
	objcopy -g module.o twice.o
	dump --module-id "$(module_make $place twice.o)"
	same "crash_source_of_a_name_there_is_twice" "" "$(lines_installed --branches --cpu 0)"
	rm -r lib
}

# What libelf makes of a damaged file is the end of the process that reads it.
crash_vmlinux_deadly_tests() {
	local function
	for function in elf_begin elf_nextscn; do
		echo "void *$function(void) { __builtin_trap(); }" >deadly.c
		gcc -shared -fPIC -fno-builtin -o deadly.so deadly.c
		LD_PRELOAD=$PWD/deadly.so refused "crash_vmlinux_deadly_$function" 0 \
			"process that reads vmlinux was ended by a signal" \
			crash "$D" --summary --vmlinux vmlinux
	done
}

# Lines of the kernel's source, and names that the dump has not.
crash_vmlinux_tests() {
	local size part id line="looping [kernel] (kernel.S:6)"
	id=$(vmlinux_make vmlinux 0xffffffff81000000)
	vmlinux_make other 0xffffffff81000000 0x1234567890123456 >/dev/null
	dump --info "$id" --info KERNELOFFSET=0
	same "crash_source" "$line" "$(at --source --vmlinux vmlinux)"
	same "crash_source_is_an_option" "looping [kernel]" "$(at --vmlinux vmlinux)"
	same "crash_source_json" "kernel.S:6 kernel.S:6" \
		"$("$KIPT" crash "$D" --summary --source --vmlinux vmlinux --json |
			sed -n 's/.*crash-cpu.*"at_source":"\([^"]*\)".*/\1/p' | xargs)"
	same "crash_source_of_branches" "kernel.S:6 kernel.S:8" \
		"$("$KIPT" crash "$D" --cpu 0 --branches --source --vmlinux vmlinux |
			grep -o 'kernel\.S:[0-9]*' | sort -u | xargs)"
	reported "crash_source_of_another_vmlinux_reported" "--vmlinux other: its build id is not" \
		--vmlinux other --source
	same "crash_source_of_another_vmlinux" "looping [kernel]" \
		"$(at --source --vmlinux other)"
	refused "crash_vmlinux_missing" 1 "cannot read none.*ENOENT" crash "$D" --vmlinux none
	refused "crash_delete_has_no_vmlinux" 2 "shows no trace: --vmlinux" crash delete 1 --vmlinux vmlinux
	for size in 100 3000 8000 9000; do
		head -c $size vmlinux >cut
		run crash "$D" --summary --source --vmlinux cut
		same "crash_source_of_a_vmlinux_cut_at_$size" "0 2" \
			"$STATUS $(grep -c ') at looping \[kernel\]' <<<"$OUT")"
	done
	for part in line info abbrev aranges line_str; do
		cp vmlinux cut
		python3 - cut "$(readelf -SW cut | sed -n "s/.* \.debug_$part  *PROGBITS *[0-9a-f]* \([0-9a-f]*\) .*/0x\1/p")" <<-'END'
			import sys
			with open(sys.argv[1], "r+b") as file:
			    file.seek(int(sys.argv[2], 0) + 8)
			    file.write(b"\xff" * 24)
		END
		run crash "$D" --summary --source --vmlinux cut
		same "crash_source_of_a_damaged_$part" "0 2" \
			"$STATUS $(grep -c ') at looping \[kernel\]' <<<"$OUT")"
	done
	dump --info "$id" --info KERNELOFFSET=0 --drop $((0x92000)):4096
	same "crash_names_are_missing" "0xffffffff81001000 [kernel]" "$(at)"
	same "crash_names_of_vmlinux" "$line" "$(at --source --vmlinux vmlinux)"
	reported "crash_names_of_vmlinux_reported" "names of the kernel come from vmlinux" \
		--vmlinux vmlinux
	crash_vmlinux_deadly_tests
	id=$(vmlinux_make moved 0xffffffff80800000)
	dump --info "$id" --info KERNELOFFSET=800000 --drop $((0x92000)):4096
	same "crash_source_of_a_kernel_that_was_moved" "$line" "$(at --source --vmlinux moved)"
	dump --info "$id"
	reported "crash_vmlinux_nobody_knows_where" "does not say" --vmlinux moved --source
	dump --info "$id" --info KERNELOFFSET=800001
	reported "crash_vmlinux_moved_by_nonsense" "does not say" --vmlinux moved --source
	dump
	reported "crash_vmlinux_without_build_id" "does not say" --vmlinux vmlinux --source
	same "crash_source_without_build_id" "looping [kernel]" "$(at --source --vmlinux vmlinux)"
	mkdir -p lib
	if ! installed true 2>/dev/null; then
		skip "crash_source_installed" "nothing can be mounted here"
		return
	fi
	crash_vmlinux_place_tests "$(vmlinux_make vmlinux 0xffffffff81000000)"
	crash_module_line_tests
}

crash_tests() {
	local D=dump S=""
	printf 'no dump' >junk
	python3 "$HERE/make_dump.py" empty --drop $((0x10000)):$((0x10000))
	crash_whole_tests
	crash_died_tests
	crash_save_tests
	crash_merged_tests
	crash_cancel_tests
	crash_ring_tests
	crash_unanswered_tests
	crash_damage_tests
	crash_missing_tests
	crash_choice_tests
	crash_save_choice_tests
	crash_form_tests
	crash_vmlinux_tests
	crash_log_tests
	crash_forged_log_tests
	crash_slot_tests
	crash_helper_tests
	crash_elf_tests
	crash_library_tests
	crash_refusal_tests
}
