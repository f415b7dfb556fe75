# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2086,SC2154
#
# Instructions in words: against objdump, and against the branches that perf printed.
# Sourced by tool_test.sh.

# insns_of OPTION...: address, bytes and text of each instruction, spaces once
insns_of() {
	"$KIPT" decode "$@" --disasm --json 2>/dev/null | python3 -c '
import json, sys
for o in map(json.loads, sys.stdin):
    if o["type"] == "insn":
        assert len(o.get("bytes", "")) in (0, 2 * o["size"])
        print(o["ip"], o.get("bytes"), o.get("text"))'
}

# texts_of OPTION...: the text of each instruction, and of each gap its kind
texts_of() {
	"$KIPT" decode "$@" --disasm --json 2>/dev/null | python3 -c '
import json, sys
print("; ".join(o.get("text", o.get("kind", "")) for o in map(json.loads, sys.stdin)
                if o["type"] in ("insn", "gap")))'
}

# disasm_walk PROGRAM BRANCHES <INSNS: what objdump has between the branches of perf, from
# the entry on, is what ran; each with the words of objdump
disasm_walk() {
	python3 - "$@" 3<&0 <<'PYTHON'
import re
import subprocess
import sys

SAME = {"movabs": "mov"}

def words(text):
    text = re.sub(r"\s*[#<].*", "", text.lower())
    text = re.sub(r",1$", ",0x1", re.sub(r"\s*,\s*", ",", text))
    name, _, rest = re.sub(r"\s+", " ", text).strip().partition(" ")
    if rest and re.match("j|call", name) and re.match("[0-9a-f]+$", rest):
        rest = "0x" + rest
    return (SAME.get(name, name) + " " + rest).strip()

def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout

code = {}
for line in run("objdump", "-d", "-w", "-M", "intel", sys.argv[1]).splitlines():
    found = re.match(r" *([0-9a-f]+):\t([0-9a-f ]+)\t(.*)", line)
    if found:
        raw = found[2].replace(" ", "")
        code[int(found[1], 16)] = (raw, words(found[3]))
at = int(re.search(r"Entry point address: +(0x[0-9a-f]+)",
                   run("readelf", "-h", sys.argv[1]))[1], 16)
want = []
for line in open(sys.argv[2]):
    begin, end = (int(text, 16) for text in line.split())
    while at <= begin:
        want.append((at,) + code[at])
        at += len(code[at][0]) // 2
    at = end
got = []
for line in open(3):
    ip, raw, text = line.rstrip("\n").split(" ", 2)
    got.append((int(ip, 16), raw, words(text)))
for i, expected in enumerate(want):
    if i >= len(got) or got[i] != expected:
        print("instruction", i, "want", expected, "got", got[i:i + 1])
        break
else:
    print("all of", len(want) > 10000, "and after the last branch",
          0 < len(got) - len(want) < 10)
PYTHON
}

# disasm_executed NAME OPTION...: so many instructions as functions executed
disasm_executed() {
	local name=$1 want
	shift
	want=$("$KIPT" decode "$@" --insns --json 2>/dev/null | grep -c '"type":"insn"')
	differ "${name}_some" 0 "$want"
	same "${name}_lines" "$want" \
		"$("$KIPT" decode "$@" --disasm 2>/dev/null | grep -cE '^( *[0-9.]+ us)? *40[0-9a-f]+ [^ -]')"
	same "${name}_totals" "$want" "$("$KIPT" decode "$@" --totals --json 2>/dev/null |
		grep -o '"executed":[0-9]*' | cut -d: -f2)"
}

disasm_kept_tests() {
	local dir=$ROOT/selftests/perf/small id some
	command -v zstd >/dev/null || { skip disasm_kept "no zstd"; return; }
	kept_unpack "$dir"
	export PERF_BUILDID_DIR=ids
	insns_of kept.data >insns
	same disasm_kept "all of True and after the last branch True" \
		"$(disasm_walk program want <insns)"
	same disasm_kept_jobs "$(md5sum <insns)" "$(insns_of kept.data --jobs 3 | md5sum)"
	sed '3000s/ 0x\?/ 0x1/2' insns >wrong
	sed -i '3000s/$/ wrong/' wrong
	differ disasm_control "all of True and after the last branch True" \
		"$(disasm_walk program want <wrong)"
	disasm_executed disasm_kept kept.data
	disasm_executed disasm_stretch kept.data --time 1750us,1800us
	disasm_executed disasm_tid kept.data --tid 201
	insns_of kept.data --time 1750us,1800us >some
	some=$(wc -l <some)
	same disasm_stretch_is_of_all "yes" "$(python3 -c '
import sys
every, part = open("insns").read(), open("some").read()
print("yes" if part and len(part) < len(every) and part in every else "no")')"
	same disasm_stretch_of_open "$some" "$("$KIPT" open kept.data --disasm \
		--time 1750us,1800us --json 2>/dev/null | grep -c '"text"')"
	unset PERF_BUILDID_DIR
	run decode kept.data --disasm
	same disasm_no_code "0 gaps" "$(grep -cE '^ +40' <<<"$OUT") $(grep -q 'gap: no code bytes' \
		<<<"$OUT" && echo gaps)"
	rm -r ids
}

# Raw traces, and code of 32 and 16 bits.
disasm_raw_tests() {
	local mode text name rest
	bytes $CODE >code
	bytes $TRACE >small.pt
	run decode small.pt --image code@0x401000 --disasm
	same disasm_lines "401000 0x401000 jne 0x401005
401005 0x401005 jmp rax" "$(sed -n 's/^ *\(40[^ ]* \)/\1/p' <<<"$OUT" | tr -s ' ')"
	same disasm_json '{"type":"insn","cpu":0,"ip":"0x401000","bytes":"7503","text":"jne 0x401005","to":"0x401005","size":2}' \
		"$("$KIPT" decode small.pt --image code@0x401000 --disasm --json 2>/dev/null |
		grep -m 1 '"insn"')"
	same disasm_as_pages "jne 0x401005; jmp rax" "$(
		{ cat code; head -c 4078 /dev/zero; } >page.dump
		bytes 00 10 40 00 00 00 00 00 >page.addr
		texts_of small.pt --pages page)"
	# 48: a prefix, or DEC; 8b 05 and four bytes: relative to what follows, or absolute.
	# The FUP after them says that all of it ran, but the JMP to itself did not.
	bytes 48 8b 05 01 00 00 00 90 eb fe >modes
	while IFS='|' read -r mode name text; do
		bytes $PSB 99 $mode 02 23 51 00 10 40 00 3d 08 10 01 >mode.pt
		same "disasm_$name" "$text" "$(texts_of mode.pt --image modes@0x401000)"
	done <<'MODES'
01|64|mov rax, qword ptr [rip+0x1]; nop
02|32|dec eax; mov eax, dword ptr [0x1]; nop
MODES
	# "b8 34 12" is whole in 16-bit code.
	bytes b8 34 12 90 90 >word
	bytes $PSB 99 00 02 23 51 00 10 40 00 3d 04 10 01 >mode.pt
	same disasm_16 "mov ax, 0x1234; nop" "$(texts_of mode.pt --image word@0x401000)"
	# JMPABS is younger than some versions of Zydis: its bytes are what is known.
	bytes d5 00 a1 88 77 66 55 44 33 22 11 >young
	bytes $PSB 99 01 02 23 51 00 10 40 00 2d 10 10 01 >young.pt
	rest=$(texts_of young.pt --image young@0x401000)
	case $rest in
	".byte 0xd5,0x00,0xa1,0x88,0x77,0x66,0x55,0x44,0x33,0x22,0x11"* | "jmpabs "*)
		ok disasm_unknown ;;
	*) not_ok disasm_unknown "$rest" ;;
	esac
}

# Names of where direct branches go, in programs that have some.
disasm_name_tests() {
	printf '%s\n' '.globl _start, inner' '.type _start, @function' '_start: call inner' \
		'jmp *%rax' '.size _start, . - _start' '.org 16' '.type inner, @function' \
		'inner: nop' 'ret' '.size inner, . - inner' >named.s
	gcc -nostdlib -static -no-pie -Wl,-Ttext=0x401000 -Wl,--build-id=sha1 -o named \
		named.s 2>/dev/null || { skip disasm_names "gcc makes no program"; return; }
	bytes $PSB 02 23 99 01 51 00 10 40 00 06 2D 10 10 3D 10 10 01 >named.pt
	make_perf named.data named.pt map=named@0x400000
	run decode named.data --disasm
	same disasm_names "_start [named] call 0x401010 <inner [named]>
inner [named] nop
inner+0x1 [named] ret
_start+0x5 [named] jmp rax" "$(sed -n 's/^ *40[^ ]* //p' <<<"$OUT" | tr -s ' ')"
	run decode named.data --disasm --json
	same disasm_names_json '"to":"0x401010","to_symbol":"inner [named]"' \
		"$(grep '"call 0x401010"' <<<"$OUT" | grep -o '"to".*"to_symbol":"[^"]*"')"
}

# Kernel text that is patched: what stood there at each time.
disasm_text_tests() {
	local nop="nop dword ptr [rax+rax*1], eax" jump="jmp 0xffffffff9d000010"
	local poke=$TEXT_AT@2000000000:$TEXT_NOP/$TEXT_JUMP jobs got
	local two="jmp rax; jmp rax"
	local back=$TEXT_AT@4000000000:$TEXT_JUMP/$TEXT_NOP
	stretches_make $TEXT_AT 1000000000 3000000000 5000000000
	text_make poke=$poke poke=$back
	for jobs in 1 3; do
		got=$(texts_of text.data --image site@$TEXT_AT --jobs $jobs)
		same "disasm_patched $jobs" "$nop; $two; $jump; $two; $nop; $two" \
			"${got// ptr \[rax+rax\*1+0x0\]/ ptr [rax+rax*1]}"
	done
	stretches_make $TEXT_AT 1000000000 1990000000
	text_make poke=$poke
	same disasm_patched_just_then "$nop; $two; code-changed; jmp rax" \
		"$(texts_of text.data --image site@$TEXT_AT)"
}

# Two programs of one process, one after the other at the same address.
disasm_exec_tests() {
	local name jobs
	for name in inc dec; do
		printf '%s\n' '.globl _start' "_start: $name %eax" 'jmp *%rax' '.org 256' \
			'jmp *%rax' >$name.s
		gcc -nostdlib -static -no-pie -Wl,-Ttext=0x401000 -Wl,--build-id=sha1 \
			-o $name $name.s 2>/dev/null ||
			{ skip disasm_exec "gcc makes no program"; return; }
	done
	TEXT_AT=0x401000 stretches_make 0x401000 1000000000 3000000000 5000000000
	make_perf exec.data text.pt map=inc@0x400000 at=2000000000 map=dec@0x400000 \
		at=4000000000 map=inc@0x400000
	for jobs in 1 3; do
		same "disasm_exec $jobs" \
			"inc eax; jmp rax; jmp rax; dec eax; jmp rax; jmp rax; inc eax; jmp rax; jmp rax" \
			"$(texts_of exec.data --jobs $jobs)"
	done
}

# Traces that real CPUs wrote: each instruction has objdump's name for these bytes.
disasm_real_tests() {
	local name
	[ -f "$TRACES/real-hardware.tar.xz" ] ||
		{ skip disasm_real "no traces of real CPUs in $TRACES"; return; }
	tar -xf "$TRACES/real-hardware.tar.xz"
	for name in arcus-hello dr-hello xdc-foo; do
		insns_of "$name.pt" --pages "$name" >insns
		same "disasm_real $name" "True 0" "$(python3 - <<'PYTHON'
import re
import subprocess

seen = {}
for line in open("insns"):
    _, raw, text = line.rstrip("\n").split(" ", 2)
    seen[raw] = text
open("flat", "wb").write(b"".join(map(bytes.fromhex, seen)))
code = {}
for line in subprocess.run("objdump -D -b binary -M intel -m i386:x86-64 flat".split()
                           + ["--no-show-raw-insn"],
                           capture_output=True, text=True).stdout.splitlines():
    found = re.match(r" *([0-9a-f]+):\t(.*)", line)
    if found:
        code[int(found[1], 16)] = found[2]
# Names that differ: another word, prefixes that do nothing.
BY = {"movabs": "mov", "repz ret": "ret", "xchg ax,ax": "nop", "cs nop": "nop",
      "data16 cs nop": "nop"}
wrong, at = [], 0
for raw, text in seen.items():
    other = re.sub(r"\s+", " ", code.get(at, "(nothing begins here)"))
    for long, short in BY.items():
        if other.startswith(long):
            other = short + other[len(long):]
    if other.split()[0] != text.split()[0]:
        wrong.append((raw, text, other))
    at += len(raw) // 2
print(len(seen) > 5, len(wrong), *wrong[:3])
PYTHON
)"
	done
}

disasm_bad_tests() {
	local records="'kipt decode' and 'kipt open' have of a perf.data.*records have none"
	bytes $CODE >code
	bytes $TRACE >small.pt
	run decode small.pt --image code@0x401000 --insns -o small.rec
	refused disasm_show 2 "$records" show small.rec --disasm
	refused disasm_open_records 2 "$records" open small.rec --disasm
	refused disasm_fetch 2 "$records" fetch 1 --disasm
	refused disasm_record 2 "$records" record --disasm -- true
	refused disasm_crash 2 "$records" crash small.rec --disasm
	refused disasm_output 2 "shown only: -o does not go with it" \
		decode small.pt --disasm -o out.rec
	same disasm_output_writes_nothing 1 "$(test -e out.rec; echo $?)"
	refused disasm_packed 2 "instructions cannot be packed" \
		decode small.pt --disasm --packed out.rec
	refused disasm_hash 2 "shown only: --hash does not go with it" \
		decode small.pt --disasm --hash
	refused disasm_counts 2 "only one of .*--disasm.* can be shown" \
		decode small.pt --disasm --counts
}

disasm_tests() {
	disasm_bad_tests
	run decode small.pt --image code@0x401000 --disasm
	if grep -q "built without Zydis" <<<"$ERR"; then
		skip disasm "kipt was built without Zydis"
		return
	fi
	disasm_raw_tests
	disasm_name_tests
	disasm_text_tests
	disasm_exec_tests
	disasm_kept_tests
	disasm_real_tests
}
