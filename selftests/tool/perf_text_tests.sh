# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2086,SC2154
#
# Kernel code that changes while perf records: patches, BPF programs, trampolines.
# Sourced by tool_test.sh.

TEXT_AT=0xffffffff9d000000
BPF_AT=0xffffffffc0001000
# A NOP, or a jump over the first "jmp *%rax" to the second.
TEXT_NOP=0f1f440000
TEXT_JUMP=e90b000000
TEXT_SITE="$TEXT_NOP ffe0 909090909090909090 ffe0"

# stretches_make ADDR TIME...: a trace, at each time of which code is run from ADDR on: it
# jumps to 0x100 after TEXT_AT. There is a PSB before it, and a millisecond later.
stretches_make() {
	python3 - "$TEXT_AT" "$@" <<'PYTHON'
import struct
import sys
last = int(sys.argv[1], 0) + 0x100
out = b""

def psb(time):
    return bytes([2, 0x82] * 8) + b"\x19" + struct.pack("<Q", time)[:7] + b"\2\x23\x99\1"

for time in [int(text) for text in sys.argv[3:]]:
    out += psb(time)
    for head, ip in ((0x71, int(sys.argv[2], 0)), (0x6d, last), (0x61, last)):
        out += bytes([head]) + struct.pack("<Q", ip)[:6]
    out += psb(time + 10 ** 6)
open("text.pt", "wb").write(out)
PYTHON
}

# text_make OPTION...: the site is in a file as it is before; at 0x100 tracing ends
text_make() {
	{ bytes $TEXT_SITE; head -c $((256 - 18)) /dev/zero; bytes ffe0; } >site
	make_perf text.data text.pt "$@"
}

# text_is NAME WANT [OPTION...]: the branches and gaps of text.data, as offsets
text_is() {
	local name=$1 want=$2
	shift 2
	run decode text.data --branches --json --image site@$TEXT_AT "$@"
	same "$name" "$want" "$(python3 -c '
import json, sys
for o in map(json.loads, sys.stdin):
    if o["type"] == "branch":
        print("%x>%x" % (int(o["ip"], 16) & 0xfff, int(o["to"], 16) & 0xfff), end=" ")
    elif o["type"] == "gap":
        print(o.get("kind", o.get("gap")), end=" ")' <<<"$OUT" | sed 's/ $//')"
}

# switch_make TIME...: the kernel jumps to __switch_to and on to 0x40, in the given order with
# times; "switch" is that jump, "run" are two more, "null" is one to address 0.
switch_make() {
	python3 - $TEXT_AT "$@" <<'PYTHON'
import struct
import sys
at = int(sys.argv[1], 0)

def tip(head, offset):
    return bytes([head]) + struct.pack("<Q", at + offset)[:6]

out = bytes([2, 0x82] * 8) + b"\x19" + struct.pack("<Q", 10 ** 9)[:7]
out += b"\2\x43" + struct.pack("<Q", 0x123000 >> 4)[:6] + b"\x99\1\2\x23" + tip(0x71, 0)
for word in sys.argv[2:]:
    if word == "switch":
        out += tip(0x6d, 0x20) + tip(0x6d, 0x40)
    elif word == "run":
        out += tip(0x6d, 0x60) + tip(0x6d, 0x40)
    elif word == "again":
        out += tip(0x6d, 0)
    elif word == "null":
        out += bytes([0x6d]) + bytes(6)
    else:
        out += b"\x19" + struct.pack("<Q", 10 ** 9 + int(word))[:7]
open("text.pt", "wb").write(out + tip(0x61, 0x40))
PYTHON
	python3 - $TEXT_AT <<'PYTHON'
import sys
at = int(sys.argv[1], 0)
code = bytearray(0x100)
for offset in (0, 0x20, 0x40, 0x60):
    code[offset:offset + 2] = b"\xff\xe0"
open("site", "wb").write(code)
with open("switch.kallsyms", "w") as file:
    for offset, name in ((0, "caller"), (0x20, "__switch_to"), (0x40, "next"), (0x60, "on"),
                         (0x80, "end")):
        print("%x T %s" % (at + offset, name), file=file)
PYTHON
}

# switch_is NAME WANT TURN@TIME...: the tasks and the targets of branches, as offsets
switch_is() {
	local name=$1 want=$2
	shift 2
	make_perf text.data text.pt turn=100@1000 "${@/#/turn=}"
	run decode text.data --branches --json --image site@$TEXT_AT --kallsyms switch.kallsyms
	same "$name" "$want" "$(python3 -c '
import json, sys
for o in map(json.loads, sys.stdin):
    if o["type"] == "branch":
        print("%x" % (int(o["to"], 16) & 0xfff), end=" ")
    elif o["type"] == "task":
        print("t%d" % o["tid"], end=" ")' <<<"$OUT" | sed 's/ $//')"
}

# A task runs from __switch_to on, whether a time is before that or not until long after.
perf_switch_tests() {
	switch_make run 2000 switch run 3000000
	switch_is perf_switch_early "t100 60 40 20 t101 40 60 40" 101@1000001000
	switch_make run switch 2000 run 3000000 run
	switch_is perf_switch_late "t100 60 40 20 t101 40 60 40 60 40" 101@1000001000
	switch_make run switch run
	switch_is perf_switch_no_time "t100 60 40 20 t101 40 60 40" 101@1000001000
	# Two, and a time after both.
	switch_make switch run again switch 2000 run
	switch_is perf_switch_two "t100 20 t101 40 60 40 0 20 t102 40 60 40" 101@1000001000 \
		102@1000001500
	# One that perf has no event of: the next one is not it.
	switch_make switch 2000 run again 59000 switch run
	switch_is perf_switch_unknown "t100 20 t101 40 t100 60 40 0 20 t101 40 60 40" \
		101@1000058000
	# An exec is a turn of the same task.
	switch_make run 2000 run 9000 switch run 20000 run again 100000 switch run
	switch_is perf_switch_exec "t100 60 40 60 40 20 t101 40 60 40 60 40 0 20 t102 40 60 40" \
		100@1000001000 101@1000009500 102@1000100500
	# Two that perf has no events of.
	switch_make switch run again switch run 2000 run 3000 run
	switch_is perf_switch_two_unknown \
		"t100 20 t101 40 60 40 0 20 t102 40 60 40 t100 60 40 60 40" \
		101@1000104000 102@1000109000
	# The trace's time is a little before that of the event.
	switch_make run switch 999 run 5000 run
	switch_is perf_switch_time_before "t100 60 40 20 t101 40 60 40 60 40" 101@1000001000
	# Where the kernel switches is not known: a jump to address 0 is no switch.
	switch_make run 2000 null
	sed -i s/__switch_to/other/ switch.kallsyms
	switch_is perf_switch_unnamed "t100 60 40 0" 101@1000003000
	# Who runs where the trace begins is known by the time of its PSB.
	switch_make run 2000 run
	switch_is perf_switch_before_the_trace "t101 60 40 60 40" 101@500000000
	switch_make switch 2000 run 30000000 run
	switch_is perf_switch_far "t100 20 40 60 40 60 40" 101@1050000000
}

TEXT_BEFORE="5>100"
TEXT_AFTER="0>10 10>100"

perf_poke_tests() {
	local poke=$TEXT_AT@2000000000:$TEXT_NOP/$TEXT_JUMP
	local back=$TEXT_AT@4000000000:$TEXT_JUMP/$TEXT_NOP
	stretches_make $TEXT_AT 1000000000 3000000000 5000000000
	text_make
	text_is perf_poke_none "$TEXT_BEFORE $TEXT_BEFORE $TEXT_BEFORE"
	says perf_poke_none_says_so "kernel code is that of one moment"
	text_make text-poke
	text_is perf_poke_none_asked "$TEXT_BEFORE $TEXT_BEFORE $TEXT_BEFORE"
	same perf_poke_none_asked_is_sure 0 "$(grep -c "kernel code is" <<<"$ERR")"
	# Where the kernel is not traced its changes are of no interest.
	text_make text-poke user poke=$poke poke=$back
	run decode text.data --stats
	same perf_poke_of_no_interest 0 "$(grep -c "kernel code was changed" <<<"$ERR")"
	text_make poke=$poke poke=$back
	text_is perf_poke "$TEXT_BEFORE $TEXT_AFTER $TEXT_BEFORE"
	text_is perf_poke_jobs "$TEXT_BEFORE $TEXT_AFTER $TEXT_BEFORE" --jobs 3
	# The order in the file is not that of time.
	text_make poke=$back poke=$poke
	text_is perf_poke_order "$TEXT_BEFORE $TEXT_AFTER $TEXT_BEFORE"
	# The copy may have been made before a change or after it.
	text_make poke=$poke
	bytes $TEXT_JUMP | dd of=site conv=notrunc status=none
	text_is perf_poke_copy_after "$TEXT_BEFORE $TEXT_AFTER $TEXT_AFTER"
	# At the change itself nobody knows.
	stretches_make $TEXT_AT 1000000000 1990000000 2010000000 3000000000
	text_make poke=$poke
	text_is perf_poke_near "$TEXT_BEFORE code-changed code-changed $TEXT_AFTER"
	run decode text.data --strict --stats --image site@$TEXT_AT
	same perf_poke_near_is_strict 1 "$STATUS"
	# A change that is missing: what was there between is not known.
	stretches_make $TEXT_AT 1000000000 3000000000 5000000000
	text_make poke=$poke poke=$TEXT_AT@4000000000:$TEXT_NOP/$TEXT_JUMP
	text_is perf_poke_missing "$TEXT_BEFORE no-code $TEXT_AFTER"
	# Times say nothing: no code of what was changed.
	text_make untimed poke=$poke
	text_is perf_poke_untimed "code-changed code-changed code-changed"
	# As counts, and packed.
	text_make poke=$poke
	run decode text.data --counts --json --image site@$TEXT_AT
	same perf_poke_counts "1 2 2" "$(python3 -c '
import json, sys
edges = {}
for o in map(json.loads, sys.stdin):
    if o["type"] == "edge":
        edges[int(o["ip"], 16) & 0xfff] = o["count"]
print(edges.get(5), edges.get(0), edges.get(16))' <<<"$OUT")"
	run decode text.data -o text.records --image site@$TEXT_AT
	run show text.records --branches --json
	same perf_poke_records 5 "$(grep -c '"type":"branch"' <<<"$OUT")"
}

# perf_poke_stop_tests: one PSB, so what is between two stops of tracing is as of its time.
perf_poke_stop_tests() {
	local poke=$TEXT_AT@2000000000:$TEXT_NOP/$TEXT_JUMP first again
	stretches_make $TEXT_AT 1000000000
	python3 - $TEXT_AT >>text.pt <<'PYTHON'
import struct
import sys
ip = int(sys.argv[1], 0)
out = b"\x19" + struct.pack("<Q", 3000000000)[:7]
for head, to in ((0x71, ip), (0x6d, ip + 0x100), (0x61, ip + 0x100)):
    out += bytes([head]) + struct.pack("<Q", to)[:6]
sys.stdout.buffer.write(out)
PYTHON
	# Without its last PSB the trace has one.
	first=$(python3 -c '
data = open("text.pt", "rb").read()
psb = bytes([2, 0x82] * 8)
last = data.rindex(psb)
data = data[:last] + data[last + 28:]
open("text.pt", "wb").write(data)
print(last)')
	text_make poke=$poke
	text_is perf_poke_no_stop "code-changed code-changed"
	text_make poke=$poke stop=$first@1000000100
	text_is perf_poke_stop "$TEXT_BEFORE $TEXT_AFTER"
	text_is perf_poke_stop_jobs "$TEXT_BEFORE $TEXT_AFTER" --jobs 3
	# Too near, in another order, nowhere: nothing is shown that may be wrong.
	text_make poke=$poke stop=$first@1990000000
	text_is perf_poke_stop_near "code-changed $TEXT_AFTER"
	text_make poke=${poke/2000000000/3500000000} stop=$first@4000000000
	text_is perf_poke_stop_late "code-changed code-changed"
	text_make poke=$poke stop=$first@1000000100,$((first + 4))@900000000
	text_is perf_poke_stop_order "$TEXT_BEFORE $TEXT_AFTER"
	for again in $first $((first + 2)); do
		text_make poke=${poke/2000000000/3500000000} \
			stop=$first@1000000100,$again@1000000200
		text_is "perf_poke_stop_again $((again - first))" "$TEXT_BEFORE code-changed"
	done
	# Each of many pieces of the same bytes has the stop, once.
	text_make poke=$poke forged="$(yes 16@0 | head -8000 | paste -sd ,)" \
		stop="$(seq -f 16@%.0f 1000000100 1000008099 | paste -sd ,)"
	(ulimit -v 600000; "$KIPT" decode text.data --branches --jobs 1 >out 2>err)
	same perf_poke_stops_at_one_place 0 "$?"
	text_make poke=$poke stop=99999999@1000000100
	text_is perf_poke_stop_nowhere "code-changed code-changed"
}

# Events that perf lost may have been changes: of what is seen to change nothing is known
# from there to its next event.
perf_poke_lost_tests() {
	local poke=$TEXT_AT@2000000000:$TEXT_NOP/$TEXT_JUMP tag=0102030405060708
	local back=$TEXT_AT@4000000000:$TEXT_JUMP/$TEXT_NOP
	local other=0xffffffff9d002000@1500000000:$TEXT_NOP/$TEXT_JUMP
	stretches_make $TEXT_AT 1000000000 3000000000 5000000000
	text_make poke=$poke drop=2500000000
	text_is perf_poke_lost "$TEXT_BEFORE no-code no-code"
	says perf_poke_lost_says_so "kernel code that was seen to change is missing"
	text_make poke=$poke drop=2500000000 poke=$back
	text_is perf_poke_lost_then_known "$TEXT_BEFORE no-code $TEXT_BEFORE"
	text_make drop=1500000000 poke=$poke
	text_is perf_poke_lost_before "no-code $TEXT_AFTER $TEXT_AFTER"
	# It was lost some time between its CPU's events.
	text_make poke=$poke drop=4500000000:1
	text_is perf_poke_lost_elsewhere "no-code no-code no-code"
	text_make poke=$poke drop=3500000000:1 poke=$back
	text_is perf_poke_lost_between "no-code no-code $TEXT_BEFORE"
	# Other code stays, or each recording with lost switches would have none.
	text_make poke=$other drop=2500000000 drop=2600000000
	text_is perf_poke_lost_of_other_code "$TEXT_BEFORE $TEXT_BEFORE $TEXT_BEFORE"
	says perf_poke_lost_of_other_code_says_so "other changes of it may be"
	text_make text-poke drop=2500000000
	text_is perf_poke_lost_no_changes "$TEXT_BEFORE $TEXT_BEFORE $TEXT_BEFORE"
	stretches_make $BPF_AT 1000000000 3000000000
	text_make ksym=$BPF_AT+18@0:bpf_prog_$tag bpf=7@0:$tag drop=2000000000 \
		bpf-info=7:$tag:$BPF_AT:${TEXT_SITE// /} lasted=1
	text_is perf_bpf_lost "no-code no-code"
	text_make ksym=$BPF_AT+18@0:bpf_prog_$tag bpf=7@0:$tag poke=${other/15/19} \
		drop=2000000000 bpf-info=7:$tag:$BPF_AT:${TEXT_SITE// /}
	text_is perf_bpf_lost_later "$TEXT_BEFORE no-code"
}

# Code that comes and goes: trampolines have their bytes in events.
perf_trampoline_tests() {
	local code=${TEXT_SITE// /}
	stretches_make $BPF_AT 1000000000 3000000000 5000000000
	text_make oolsym=$BPF_AT+512@2000000000:ftrace_trampoline \
		poke=$BPF_AT@2000000000:/$code poke=$BPF_AT@4000000000:$code/ \
		unksym=$BPF_AT+512@4000000000:ftrace_trampoline
	text_is perf_trampoline "no-code $TEXT_BEFORE no-code"
	run decode text.data --branches --image site@$TEXT_AT
	same perf_trampoline_name 1 "$(grep -c "ftrace_trampoline+0x5 \[kernel\] ->" <<<"$OUT")"
	# What a copy has there is of another time.
	text_is perf_trampoline_copy "no-code $TEXT_BEFORE no-code" --image site@$BPF_AT
	# Of what was patched one by one only that is known.
	text_make oolsym=$BPF_AT+512@2000000000:kprobe_insn_page \
		poke=$BPF_AT@2000000000:/$code
	text_is perf_trampoline_stays "no-code $TEXT_BEFORE $TEXT_BEFORE" --image site@$BPF_AT
	text_make poke=$BPF_AT@4000000000:$code/
	text_is perf_trampoline_freed "$TEXT_BEFORE $TEXT_BEFORE no-code" --image site@$BPF_AT
}

perf_bpf_tests() {
	local tag=0102030405060708 size=18 code=${TEXT_SITE// /} at damage wrong
	local info=7:$tag:$BPF_AT:$code name=bpf_prog_${tag}_filter other=0xffffffffc0005000
	stretches_make $BPF_AT 1000000000 3000000000 5000000000
	text_make ksym=$BPF_AT+$size@2000000000:$name bpf=7@2000000100:$tag bpf-info=$info \
		unksym=$BPF_AT+$size@4000000000:$name
	text_is perf_bpf "no-code $TEXT_BEFORE no-code"
	text_is perf_bpf_copy "no-code $TEXT_BEFORE no-code" --image site@$BPF_AT
	run decode text.data --branches
	same perf_bpf_name 1 "$(grep -c "$name+0x5 \[bpf\] ->" <<<"$OUT")"
	# It runs a millisecond after it was loaded, and another takes its place.
	stretches_make $BPF_AT 1800000000 2001000000 4100000000
	text_make ksym=$BPF_AT+$size@2000000000:$name bpf=7@2000000100:$tag bpf-info=$info
	text_is perf_bpf_at_once "no-code $TEXT_BEFORE $TEXT_BEFORE"
	text_make ksym=$BPF_AT+$size@2000000000:$name bpf=7@2000000100:$tag bpf-info=$info \
		poke=$BPF_AT@2000000500:$TEXT_NOP/$TEXT_JUMP
	text_is perf_bpf_at_once_patched "no-code code-changed $TEXT_AFTER"
	stretches_make $BPF_AT 1000000000 3000000000 5000000000
	text_make pipe ksym=$BPF_AT+$size@0:$name bpf=7@0:$tag bpf-info=$info
	text_is perf_bpf_pipe "$TEXT_BEFORE $TEXT_BEFORE $TEXT_BEFORE"
	# perf saw no load: not that of a process it did not trace. Those of programs that
	# were there before say nothing of that.
	text_make ksym=$BPF_AT+$size@2000000000:$name bpf-info=$info
	text_is perf_bpf_unloaded "no-code $TEXT_BEFORE $TEXT_BEFORE"
	text_make ksym=$other+$size@0:bpf_prog_1112131415161718_b bpf=3@0:1112131415161718 \
		bpf-info=3:1112131415161718:$other:$code bpf-info=$info \
		ksym=$BPF_AT+$size@2000000000:$name
	text_is perf_bpf_unloaded_others_before "no-code $TEXT_BEFORE $TEXT_BEFORE"
	text_make ksym=$other+$size@1000000:bpf_prog_1112131415161718_b \
		bpf=3@1000000:1112131415161718 ksym=$BPF_AT+$size@2000000000:$name bpf-info=$info
	text_is perf_bpf_unloaded_others_seen "no-code no-code no-code"
	# It is patched, too, whenever its bytes were taken.
	text_make ksym=$BPF_AT+$size@0:$name bpf=7@0:$tag bpf-info=$info \
		poke=$BPF_AT@2000000000:$TEXT_NOP/$TEXT_JUMP
	text_is perf_bpf_poke "$TEXT_BEFORE $TEXT_AFTER $TEXT_AFTER"
	text_make ksym=$BPF_AT+$size@0:$name bpf=7@0:$tag \
		bpf-info=7:$tag:$BPF_AT:$TEXT_JUMP${code#"$TEXT_NOP"} \
		poke=$BPF_AT@2000000000:$TEXT_NOP/$TEXT_JUMP
	text_is perf_bpf_poke_before "$TEXT_BEFORE $TEXT_AFTER $TEXT_AFTER"
	# Another program comes to its place.
	text_make ksym=$BPF_AT+$size@0:$name bpf=7@0:$tag bpf-info=$info \
		unksym=$BPF_AT+$size@2000000000:$name \
		ksym=$BPF_AT+$size@2100000000:bpf_prog_1112131415161718_b \
		bpf=8@2100000000:1112131415161718 \
		bpf-info=8:1112131415161718:$BPF_AT:$TEXT_JUMP${code#"$TEXT_NOP"}
	text_is perf_bpf_another "$TEXT_BEFORE $TEXT_AFTER $TEXT_AFTER"
	run decode text.data --branches --image site@$TEXT_AT
	same perf_bpf_another_names "filter+0x5 b b+0x10 b b+0x10" \
		"$(grep -oE "bpf_prog_[0-9]+_[a-z]+[+0-9a-fx]* \[bpf\] ->" <<<"$OUT" |
			sed 's/bpf_prog_[0-9]*_//; s/ .*//' | paste -sd " ")"
	# Of all times together nobody knows which is meant.
	run decode text.data --counts --image site@$TEXT_AT
	same perf_bpf_another_counts 0 "$(grep -c "\[bpf\]" <<<"$OUT")"
	run decode text.data --totals --json --image site@$TEXT_AT
	same perf_bpf_another_totals 2 "$(grep -c '"type":"total".*bpf_prog_' <<<"$OUT")"
	# What is known of a program is of another, or damaged.
	for damage in bpf=7@0:1102030405060708 bpf=8@0:$tag; do
		text_make ksym=$BPF_AT+$size@0:$name $damage bpf-info=$info
		text_is "perf_bpf_wrong_$damage" "no-code no-code no-code"
	done
	text_make ksym=$BPF_AT+$((size + 1))@0:$name bpf=7@0:$tag bpf-info=$info
	text_is perf_bpf_other_length "no-code no-code no-code"
	text_make ksym=$BPF_AT+$size@0:$name bpf=7@0:$tag bpf-info=$info bpf-info=$info
	text_is perf_bpf_twice "no-code no-code no-code"
	for at in 1 16 40 200 250; do
		text_make ksym=$BPF_AT+$size@0:$name bpf=7@0:$tag bpf-info=$info bpf-cut=$at
		text_is "perf_bpf_cut_$at" "no-code no-code no-code"
	done
	wrong=
	# Sizes and places that are beyond it: 4, 8 are sizes, 20 is where the program begins.
	for at in 0 4 8 36 44 124 128 132 136 140; do
		text_make ksym=$BPF_AT+$size@0:$name bpf=7@0:$tag bpf-info=$info \
			bpf-set=$at:ffffffff
		timeout 20 "$KIPT" decode text.data --branches --json >out 2>err
		[ $? = 0 ] && [ "$(grep -c '"type":"branch"' out)" = 0 ] || [ $at = 0 ] || wrong+=" $at"
	done
	same perf_bpf_damaged "" "$wrong"
}

perf_text_many_tests() {
	local many
	stretches_make $TEXT_AT 1000000000 3000000000
	for many in poke*$(fewer 60000 6000) ksym*$(fewer 20000 2000) "wide*200"; do
		text_make "many=$many"
		timeout 60 "$KIPT" decode text.data --stats --image site@$TEXT_AT >/dev/null 2>err
		same "perf_many_${many%%\**}" 0 $?
	done
	# Each reading of code looks through what is kept of its page.
	text_make "many=poke*$(fewer 200000 20000)"
	text_is perf_crowded "no-code no-code no-code no-code"
	says perf_crowded_says_so "changed more than 4096 times"
	same perf_crowded_is_bounded 4096 "$("$(dirname "$(realpath "$KIPT")")/text_test" text.data)"
	is_short && return
	text_make "many=long*2500"
	text_is perf_text_full "no-code no-code no-code no-code"
	says perf_text_full_says_so "in more places, or over more bytes, than kipt keeps"
}

# That of this machine: a recorded 32-bit process has another one.
perf_vdso_tests() {
	local id ret
	id=$(python3 -c '
import struct
data, at = open("/sys/kernel/notes", "rb").read(), 0
while at < len(data):
    name, size, kind = struct.unpack_from("<III", data, at)
    begin = at + 12 + (name + 3 & ~3)
    if kind == 3 and data[at + 12:at + 15] == b"GNU":
        print(data[begin:begin + size].hex())
    at = begin + (size + 3 & ~3)' 2>/dev/null)
	ret=$(python3 -c '
for line in open("/proc/self/maps"):
    if line.endswith("[vdso]\n"):
        begin = int(line.split("-")[0], 16)
        memory = open("/proc/self/mem", "rb")
        memory.seek(begin)
        print(hex(memory.read(8192).index(0xc3, 0x400)))' 2>/dev/null)
	if [ -z "$id" ] || [ -z "$ret" ]; then
		skip perf_vdso "no build id of this kernel, or no vDSO"
		return
	fi
	stretches_make $((0x7ffff7fc0000 + ret)) 1000000000
	text_make kernel-id=$id vdso=0x7ffff7fc0000
	text_is perf_vdso "$(printf "%x>100" $((ret & 0xfff)))"
	stretches_make $((0xf7fc0000 + ret)) 1000000000
	text_make kernel-id=$id vdso=0xf7fc0000
	text_is perf_vdso_of_32_bits "no-code"
	text_make kernel-id=$id vdso=0x7ffff7fc0000 vdso=0xf7fc0000
	text_is perf_vdso_of_32_bits_too "no-code"
}

# sample_lines: what is shown of the samples, and how many branches came before each
sample_lines() {
	python3 -c '
import json, sys
branches = 0
for o in map(json.loads, sys.stdin):
    branches += o["type"] == "branch"
    if o["type"] == "sample":
        print(o["event"], o.get("cpu", "-"), o.get("ip", "-"), branches)'
}

# Tracepoints and counters that were recorded beside the trace.
perf_sample_tests() {
	local form want file lines cpu
	stretches_make $TEXT_AT 1000000000 3000000000 5000000000
	want="sched:sched_waking @ - 1
cycles @ 0xffffffff9d000100 2
sched:sched_waking @ - 3"
	for form in "" pipe "thread" "thread lost=4096" "piece=24"; do
		text_make $form sample=sched:sched_waking@6000000000 \
			sample=cycles@4000000000:0xffffffff9d000100 \
			sample=sched:sched_waking@2000000000 \
			sample=sched:sched_waking@500
		run decode text.data --branches --json --image site@$TEXT_AT
		cpu=0
		# Nobody knows on which CPUs a thread ran.
		[[ $form != thread* ]] || cpu=-
		same "perf_samples ${form:-file}" "${want//@/$cpu}" "$(sample_lines <<<"$OUT")"
	done
	says perf_samples_before "1 samples of other events are not shown: they were taken before"
	run decode text.data --branches --time --image site@$TEXT_AT
	same perf_samples_time "1000000.000" "$(awk '/sched_waking/ { print $1; exit }' <<<"$OUT")"
	same perf_samples_line "sample of cycles at 0xffffffff9d000100 [kernel]" \
		"$(grep -o "sample of cycles.*" <<<"$OUT")"
	run decode text.data --calls --image site@$TEXT_AT
	same perf_samples_calls 3 "$(grep -c "| sample of" <<<"$OUT")"
	run decode text.data --branches --time 2.5s,3.5s --json --image site@$TEXT_AT
	same perf_samples_narrow "cycles" "$(sample_lines <<<"$OUT" | cut -d' ' -f1)"
	# Of another CPU, which has no trace.
	text_make sample=cycles@4000000000:0x1000:3 unnamed
	run decode text.data --branches --json --image site@$TEXT_AT
	same perf_samples_other_cpu "" "$(sample_lines <<<"$OUT")"
	text_make sample=cycles@4000000000 unnamed
	run decode text.data --branches --json --image site@$TEXT_AT
	same perf_samples_unnamed "an event 0 - 2" "$(sample_lines <<<"$OUT")"
	text_make untimed sample=cycles@4000000000
	run decode text.data --branches --json --image site@$TEXT_AT
	says perf_samples_nowhere "1 samples of other events are not shown: the recording does not say when"
	# What is counted, written and hashed is the trace alone.
	text_make sample=cycles@4000000000
	lines=$("$KIPT" decode text.data --hash --image site@$TEXT_AT 2>/dev/null)
	text_make
	same perf_samples_hash "$lines" \
		"$("$KIPT" decode text.data --hash --image site@$TEXT_AT 2>/dev/null)"
	# Its list of events is cut, or not that of the file.
	text_make sample=cycles@4000000000
	file=$(stat -c %s text.data)
	truncate -s $((file - 20)) text.data
	run decode text.data --branches --json --image site@$TEXT_AT
	same perf_samples_cut_names "an event 0 - 2" "$(sample_lines <<<"$OUT")"
}

perf_text_tests() {
	perf_switch_tests
	perf_poke_tests
	perf_sample_tests
	perf_poke_stop_tests
	perf_poke_lost_tests
	perf_trampoline_tests
	perf_bpf_tests
	perf_vdso_tests
	perf_text_many_tests
}
