# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2086,SC2154,SC2034
#
# kipt decode: a small trace whose code is in this file, and every kind of wrong
# input. Sourced by tool_test.sh.

# 401000: jnz 401005; 401002: nop nop nop; 401005: jmp *rax; 401010: nop
CODE="75 03 90 90 90 ff e0 cc cc cc cc cc cc cc cc cc 90 90"
# PSB, PSBEND, MODE.Exec 64, TIP.PGE 401000, TNT T, TIP 401010, FUP 401010,
# TIP.PGD: the jump is taken, an interrupt leaves at 401010.
TRACE="$PSB 02 23 99 01 51 00 10 40 00 06 2D 10 10 3D 10 10 01"

json_types() {
	awk 'function member(name, text) {
		if (!match($0, "\"" name "\":(\"[^\"]*\"|[0-9]+)"))
			return "None"
		text = substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3)
		gsub("\"", "", text)
		return text
	}
	{ print member("type"), member("kind"), member("ip"), member("to"), member("value") }'
}

small_trace_tests() {
	bytes $CODE >code
	bytes $TRACE >small.pt
	run decode small.pt --image code@0x401000 --branches --json
	same "decode_branches" "branch cond 0x401000 0x401005 None
branch jump-ind 0x401005 0x401010 None" \
		"$(json_types <<<"$OUT" | grep ^branch)"
	same "decode_exits_0" 0 "$STATUS"
	run decode small.pt --image code@0x401000 --strict --stats
	same "decode_strict_without_gap" 0 "$STATUS"
	run decode small.pt --image code@0x401000 --insns --hash
	same "decode_insns_hash" "2 $(python3 -c '
h = 1469598103934665603
for ip in 0x401000, 0x401005:
    h = (h ^ ip) * 1099511628211 % 2**64
print("%016x" % h)')" "$OUT"
	# The same code as a page dump; the later source counts.
	{ bytes $CODE; head -c 4078 /dev/zero; } >page.dump
	bytes 00 10 40 00 00 00 00 00 >page.addr
	head -c 18 /dev/zero >wrong
	run decode small.pt --image wrong@0x401000 --pages page --insns --hash
	same "decode_pages" "2" "${OUT% *}"
	bytes ${TRACE/06/04} >other.pt
	run decode other.pt --image code@0x401000 --insns --hash
	differ "decode_control_flipped_bit" "2" "${OUT% *}"
	run decode small.pt --image code@0x401000 -o small.rec
	run show small.rec --branches --json
	same "decode_to_file_and_show" "2" \
		"$(json_types <<<"$OUT" | grep -c ^branch)"
	run decode small.pt --image code@0x401000 --calls -o calls.rec
	run show calls.rec -o again.rec
	# What such a file has not is said of it, and of what is made of it.
	same "show_of_calls_alone" "1 0 0 1" "$(for shown in "calls.rec --branches" \
		"calls.rec --calls" "small.rec --branches" "again.rec --totals"; do
		"$KIPT" show $shown 2>&1 | grep -c "made with --calls"
	done | xargs)"
}

# An ELF file is placed by its segments.
elf_tests() {
	printf 'void _start(void) { __asm__("jmp *%%rax"); }\n' >elf.c
	if ! gcc -O1 -nostdlib -static -no-pie -o elf elf.c 2>/dev/null; then
		skip "decode_elf" "no compiler"
		return
	fi
	local start jump
	start=$(readelf -h elf | awk '/Entry point/ { print $4 }')
	jump=$(objdump -d elf | awk '/jmp +\*%rax/ { sub(":", "", $1); print $1 }')
	bytes $PSB 02 23 99 01 51 $(le 4 "$start") 4D $(le 4 "$start") >elf.pt
	run decode elf.pt --image elf --branches --json
	same "decode_elf_own_address" "0x$jump" "$(first_branch)"
	bytes $PSB 02 23 99 01 51 $(le 4 $((start + 0x100000))) \
		4D $(le 4 $((start + 0x100000))) >elf.pt
	run decode elf.pt --image "elf@$((0x500000))" --branches --json
	same "decode_elf_moved" "$(printf '0x%x' $((0x$jump + 0x100000)))" \
		"$(first_branch)"
}

# What meta.json says: outcomes are not in the trace; the TSC's upper byte.
meta_tests() {
	bytes $PSB 19 08 07 06 05 04 03 02 02 23 99 01 51 00 10 40 00 \
		2D 10 10 >distnt.pt
	printf '{"ctl_bits": "0x80000000002000", "tsc": "0x500000000000000"}' \
		>distnt.json
	run decode distnt.pt --image code@0x401000 --json --time \
		--meta distnt.json
	same "decode_meta_distnt_resumes" "enable resume 0x401010" \
		"$(json_types <<<"$OUT" | grep resume | cut -d' ' -f1-3)"
	same "decode_meta_tsc" "$((0x502030405060708))" \
		"$(grep -o '"tsc":[0-9]*' <<<"$OUT" | cut -d: -f2)"
	printf '{"ctl_bits": null, "tsc": null, "tsc_khz": null}' >null.json
	refused "decode_meta_null" 0 "" decode distnt.pt --image code@0x401000 --meta null.json
	run decode distnt.pt --image code@0x401000 --json --time
	differ "decode_control_without_meta" "enable resume 0x401010" \
		"$(json_types <<<"$OUT" | grep resume | cut -d' ' -f1-3)"
}

# 401000: jmp 401005; 401005: jmp 401010; 401010: nop; jmp *rax. Tracing ends
# where the second jump leaves the range, and the TIP.PGD does not say where it
# went (SKL014): only who knows the range knows that 401005 is it.
filter_tests() {
	local none="branch 0x401000 0x401005
branch 0x401005 0x401010
disable 0x401011 None" range="branch 0x401000 0x401005
disable 0x401005 None"

	bytes eb 03 90 90 90 eb 09 cc cc cc cc cc cc cc cc cc 90 ff e0 >jumps
	bytes $PSB 02 23 99 01 51 00 10 40 00 01 >skl014.pt
	same "decode_filter_of_the_command_line" "$range" \
		"$(jumps --filter 0x401000-0x40100f)"
	same "decode_filter_by_size" "$range" \
		"$(jumps --filter 0x401000/0x10)"
	same "decode_filter_stop_at" "$range" \
		"$(jumps --stop-at 0x401010-0x401010)"
	printf '{"filters": [{"kind": "trace", "first": "0x401000", "last": "0x40100f"}]}' \
		>filter.json
	same "decode_filter_of_meta" "$range" "$(jumps --meta filter.json)"
	same "decode_filter_counts_more_than_meta" "$none" \
		"$(jumps --meta filter.json --filter 0x401000-0x401fff)"
	same "decode_control_without_filter" "$none" "$(jumps)"
	same "decode_control_wide_filter" "$none" \
		"$(jumps --filter 0x401000-0x401010)"
	same "decode_filter_first_address_is_in" "$none" \
		"$(jumps --filter 0x401000-0x401005 --filter 0x401010-0x401010)"
	mkdir saved
	cp skl014.pt saved/cpu0.pt
	cp filter.json saved/meta.json
	{ cat jumps; head -c 4077 /dev/zero; } >saved/user.dump
	bytes 00 10 40 00 00 00 00 00 >saved/user.addr
	run decode saved/cpu0.pt --dir saved --branches --json
	same "decode_filter_of_saved" "$range" "$(jumps_of <<<"$OUT")"
	refused "decode_filter_symbol" 2 "give the addresses it was made with" \
		decode skl014.pt --filter vfs_read
	refused "decode_filter_bad" 2 "the last address is less" \
		decode skl014.pt --filter 0x2-0x1
	refused "decode_filter_five" 2 "more than 4 ranges" decode skl014.pt \
		--filter 0x1-0x2 --filter 0x1-0x2 --filter 0x1-0x2 \
		--filter 0x1-0x2 --stop-at 0x1-0x2
	for entry in '{}' '[1]' '[{"kind": "trace"}]' \
		'[{"kind": null, "first": null, "last": "0x1"}]' \
		'[{"kind": "odd", "first": "0x1", "last": "0x2"}]' \
		'[{"kind": "stop", "first": "0x2", "last": "0x1"}]' \
		'[{"kind": "stop", "first": "two", "last": "0x1"}]'; do
		printf '{"filters": %s}' "$entry" >bad.json
		refused "decode_meta_filter_bad ${entry//[\"# ]/}" 1 \
			"its filters are no address ranges" \
			decode skl014.pt --meta bad.json
	done
}

jumps_of() {
	python3 -c 'import json, sys
for o in map(json.loads, sys.stdin):
    if o["type"] in ("branch", "disable"):
        print(o["type"], o["ip"], o.get("to"))'
}

jumps() {
	"$KIPT" decode skl014.pt --image jumps@0x401000 --branches --json "$@" \
		2>/dev/null | jumps_of
}

first_branch() {
	json_types <<<"$OUT" | awk '/^branch/ { print $3; exit }'
}

bad_input_tests() {
	: >empty
	refused "decode_empty" 1 "empty is empty" decode empty
	refused "decode_missing" 1 "cannot read nothere.*ENOENT" decode nothere
	refused "decode_folder" 1 "not a regular file" decode .
	head -c 5000 /dev/zero >zero
	local verb
	for verb in "decode zero" "open zero" "open zero --json" "decode zero --totals" \
		"decode zero --insns --jobs 4 --part 2/2"; do
		# shellcheck disable=SC2086
		refused "decode_no_psb $verb" 1 "no PSB in its 5000 bytes" $verb
		same "decode_no_psb_alone $verb" ":1" "$OUT:$(grep -c . err)"
	done
	refused "decode_image_missing" 1 "cannot read nothere.*ENOENT" \
		decode small.pt --image nothere@0x401000
	refused "decode_image_bad_address" 1 "'4o1000' is no address" \
		decode small.pt --image code@4o1000
	refused "decode_image_raw_needs_address" 1 "no ELF file: say where" \
		decode small.pt --image code
	: >empty
	refused "decode_image_empty" 1 "empty is empty" decode small.pt --image empty@0x401000
	refused "decode_image_runs_over" 1 "do not fit into the address space" \
		decode small.pt --image code@0xfffffffffffffff0
	refused "decode_dir_missing" 1 "cannot read --dir nothere.*ENOENT" \
		decode small.pt --dir nothere
	refused "decode_dir_is_a_file" 1 "cannot read --dir code.*ENOTDIR" \
		decode small.pt --dir code
	head -c 100 page.dump >short.dump
	cp page.addr short.addr
	refused "decode_pages_sizes" 1 "names 1 pages.*has 100 bytes, not 4096" \
		decode small.pt --pages short
	mkdir -p bare
	refused "decode_dir_without_pages" 1 "no .addr file" decode small.pt --dir bare
	printf '[1]' >bad.json
	refused "decode_meta_bad" 1 "cannot read bad.json as a JSON object" \
		decode small.pt --meta bad.json
}

# Whatever is missing is a gap that says where.
gap_tests() {
	run decode --json small.pt
	same "decode_no_code_is_a_gap" "gap no-code 0x401000" \
		"$(json_types <<<"$OUT" | grep '^gap' | head -n 1 | cut -d' ' -f1-3)"
	"$KIPT" decode small.pt >out 2>err
	same "decode_no_code_says_how" 1 "$(grep -c "no code was given: --dir, --pages or" err)"
	"$KIPT" decode small.pt --image code@0x401000 >out 2>err
	same "decode_with_code_says_nothing" 0 "$(grep -c "no code was given" err)"
	refused "decode_strict_fails_on_a_gap" 1 "1 gaps" \
		decode small.pt --strict
	bytes $TRACE 4D 00 >cut.pt
	run decode --json cut.pt --image code@0x401000
	same "decode_truncated_is_a_gap" "gap truncated 33" \
		"$(json_types <<<"$OUT" | awk '/^gap/ { print $1, $2, $5 }')"
	bytes $TRACE 05 05 $TRACE >bad.pt
	run decode --json bad.pt --image code@0x401000
	same "decode_bad_bytes_are_a_gap" "gap decode 33" \
		"$(json_types <<<"$OUT" | awk '/^gap/ { print $1, $2, $5 }')"
	same "decode_goes_on_at_the_next_psb" 4 \
		"$(json_types <<<"$OUT" | grep -c ^branch)"
}

# 401000: jmp 401010; 401010: jmp *rax, to 401000. After each PSB the first
# jumps twice and the second once, in one of two address spaces; another PCID is
# not another space. In a guest the space has no name.
counts_tests() {
	local once="02 23 99 01 51 00 10 40 00 4D 00 10 40 00 01"
	local first="02 43 00 01 00 00 00 00" second="02 43 00 02 00 00 00 00"
	local pcid="02 43 80 01 00 00 00 00" guest="02 43 01 02 00 00 00 00"

	bytes eb 0e cc cc cc cc cc cc cc cc cc cc cc cc cc cc ff e0 >loop
	bytes $PSB $first $once $PSB $second $once $PSB $pcid $once >three.pt
	for n in {1..200}; do cat three.pt; done >spaces.pt
	run decode spaces.pt --image loop@0x401000 --branches -o spaces.rec
	for jobs in 1 3; do
		run decode spaces.pt --image loop@0x401000 --counts --json \
			--jobs $jobs
		same "decode_counts_by_space_with_${jobs}_jobs" \
			"$("$KIPT" show spaces.rec --counts --json 2>err |
			owners_of_json)" "$(owners_of_json <<<"$OUT")"
	done
	same "decode_counts_by_space" "0x1000 800 0x2000 400 0x1000 400 0x2000 200" \
		"$(owners_of_json <<<"$OUT")"
	run decode spaces.pt --image loop@0x401000 --counts
	differ "decode_counts_text" "" "$(grep -- "-- CR3 0x2000$" <<<"$OUT")"
	run decode spaces.pt --image loop@0x401000 --counts --hash
	same "decode_counts_hash_knows_no_space" \
		"$("$KIPT" show spaces.rec --counts --hash)" "$OUT"
	bytes $PSB $guest $once $PSB $once >guest.pt
	run decode guest.pt --image loop@0x401000 --counts --json
	same "decode_counts_of_a_guest" "none 4 none 2" \
		"$(owners_of_json <<<"$OUT")"
}

# A host that runs a guest, whose addresses are those of a function of the host.
guest_tests() {
	local mode
	python3 "$HERE/make_guest.py"
	for mode in --branches --calls --totals --counts --insns --folded "--branches --json" \
		"--counts --json"; do
		# shellcheck disable=SC2086
		run decode guest.pt --dir guest $mode
		same "guest_is_not_the_host $mode" "0 0" "$STATUS $(grep -c host_other <<<"$OUT")"
	done
	run decode guest.pt --dir guest --branches
	same "guest_entry" 3 "$(grep -c 'vmx_vcpu_run+0x1 \[kernel\] -> .*\[guest\]  vmentry' \
		<<<"$OUT")"
	same "guest_exit" 3 "$(grep -c '\[guest\] -> .* vmx_vmexit \[kernel\]  vmexit' <<<"$OUT")"
	run decode guest.pt --dir guest --calls
	same "guest_has_no_calls" "host_caller [kernel];vmx_vcpu_run  x3;host_helper" \
		"$(grep -v -e '|' -e '==' <<<"$OUT" | sed 's/^ *//' | paste -sd ';')"
	run decode guest.pt --dir guest --totals
	same "guest_time_is_not_the_hosts" "host_caller host_helper vmx_vcpu_run vmx_vmexit" \
		"$(grep -o '[a-z_]* \[kernel\]' <<<"$OUT" | cut -d' ' -f1 | sort | xargs)"
	# Where its code is there nothing of it is the host's either, nor where trace is lost in it.
	run decode guest-far.pt --dir guest --pages guest-code --totals
	same "guest_with_code" "0 3" \
		"$(grep -c host_other <<<"$OUT") $(awk '/ \[guest\]$/ { print $5 }' <<<"$OUT")"
	run decode guest-far.pt --dir guest --pages guest-code --branches
	same "guest_with_code_runs" 3 "$(grep -c '^ffffffff81000400 .* jump$' <<<"$OUT")"
	run decode guest-lost.pt --dir guest --calls
	same "guest_loss_is_said" 1 "$(grep -c 'lost packets' <<<"$OUT")"
	run decode guest-lost.pt --dir guest --totals
	same "guest_loss_is_not_the_hosts" 0 "$(grep -c '9[0-9]\.[0-9]* .*vmx_vcpu_run' <<<"$OUT")"
	# What the user names is the code of guests, too, and has names.
	run decode guest.pt --pages guest/kernel --kallsyms guest/kallsyms --branches
	same "guest_named" 3 "$(grep -c 'host_other \[kernel\] -> .*vmexit' <<<"$OUT")"
	"$KIPT" decode guest.pt --pages guest/kernel -o guest.rec 2>/dev/null
	run show guest.rec --kallsyms guest/kallsyms --branches
	same "guest_named_in_a_file" 3 "$(grep -c 'host_other \[kernel\] -> .*vmexit' <<<"$OUT")"
	"$KIPT" decode guest.pt --dir guest -o guest.rec 2>/dev/null
	run show guest.rec --kallsyms guest/kallsyms --branches --time
	same "guest_not_named_in_a_file" 0 "$(grep -c host_other <<<"$OUT")"
	same "file_has_the_clock" 3 "$(grep -c '^ *[0-9.]* us .*vmentry' <<<"$OUT")"
}

random_decode_tests() {
	local seed bad='' form
	for seed in $(seq "$(fewer 10 3)"); do
		python3 -c "import random, sys
r = random.Random($seed)
psb = b'\\x02\\x82' * 8 + b'\\x02\\x23\\x99\\x01\\x51\\x00\\x10\\x40\\x00'
out = b''
for _ in range(20):
    out += psb + bytes(r.choice((r.randrange(256), 6, 4, 0x2d, 0x10, 0))
                       for _ in range(r.randrange(200)))
sys.stdout.buffer.write(out)" >random.pt
		for form in --branches --insns --calls; do
			timeout 20 "$KIPT" decode random.pt \
				--image code@0x401000 $form >/dev/null 2>&1 ||
				bad="$bad $seed$form"
		done
	done
	same "decode_random_ends_well" "" "$bad"
}

decode_tests() {
	guest_tests
	small_trace_tests
	elf_tests
	meta_tests
	filter_tests
	bad_input_tests
	gap_tests
	counts_tests
	random_decode_tests
	window_tests
}
