# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2034,SC2086
#
# The tool without libraries that it can do without, and with little of a recording in memory
# at a time. Only what depends on that is compiled, and the objects that lie beside the tool are
# linked again. Sourced by tool_test.sh after perf/recorded.sh.

# variant_make NAME VARIABLE=...: the tool NAME/kipt
variant_make() {
	local name=$1
	shift
	cp -a "$(dirname "$KIPT")" "$name" && rm -f "$name/kipt" "$name"/offline/perf_{stream,list}.o &&
		MAKEFLAGS='' make -s -f "$ROOT/tools/kipt/kipt.mk" ROOT="$ROOT" \
			KIPT_OUT="$WORK/$name" "$@" kipt >"$name.log" 2>&1
}

# What needs no module shows the same as the whole tool does.
variant_shows_the_same() {
	local name=$1 whole=$2 verb want
	for verb in "decode prog.pt --pages prog --branches" \
		"open prog.pt --pages prog" "packets prog.pt" "show prog.rec" \
		"open prog.data" "decode prog.data --branches" \
		"crash machine.dump" "crash machine.dump --cpu 0 --branches"; do
		want=$("$whole" $verb 2>/dev/null)
		same "variant_${name}_$verb" "${want:-something}" \
			"$("$KIPT" $verb 2>/dev/null)"
	done
	run decode prog.data --branches --json
	same "variant_${name}_decodes" "0 2" "$STATUS $(grep -c '"branch"' <<<"$OUT")"
}

# A program of two instructions, as a raw trace, as records and as perf.data; the
# dump of a machine.
variant_inputs() {
	bytes $CODE >prog.dump
	head -c 4078 /dev/zero >>prog.dump
	bytes 00 10 40 00 00 00 00 00 >prog.addr
	bytes $TRACE >prog.pt
	"$KIPT" decode prog.pt --pages prog -o prog.rec >/dev/null 2>&1
	python3 "$HERE/make_perf.py" prog.data prog.pt elf=prog
	python3 "$HERE/make_dump.py" machine.dump
}

without_libnl() {
	local verb KIPT=$WORK/no_libnl/kipt
	same "variant_no_libnl_is_without" 0 "$(ldd "$KIPT" | grep -c libnl)"
	for verb in info start "stop 1" status "fetch 1" "delete 1" arm disarm \
		"arm --lend -- true" "record -- true" "crash list" "crash show 1" \
		"crash delete 1" "crash collect collected"; do
		refused "variant_no_libnl_$verb" 1 \
			"this kipt was built without libnl.*libnl-3-dev and libnl-genl-3-dev" \
			$verb
		same "variant_no_libnl_${verb}_one_sentence" 1 "$(wc -l <<<"$ERR")"
	done
	variant_shows_the_same no_libnl "$1"
}

without_all() {
	local KIPT=$WORK/no_options/kipt
	variant_shows_the_same no_options "$1"
	refused "variant_no_options_needs_zydis" 2 "built without Zydis.*libzydis-dev" \
		decode prog.data --disasm
	head -c 8192 /dev/zero | tr '\0' K >other.dump
	refused "variant_no_options_crash_needs_libkdumpfile" 1 \
		"built without libkdumpfile" crash other.dump
	if ! command -v zstd >/dev/null; then
		skip "variant_no_options_needs_zstd" "no zstd"
		return
	fi
	python3 "$HERE/make_perf.py" packed.data prog.pt elf=prog zstd2
	refused "variant_no_options_needs_zstd" 1 "built without zstd" \
		decode packed.data
}

# untimed: stdin without how long decoding took
untimed() {
	sed 's/ \(decoded \|\)in [0-9.]* s, .*//'
}

# stretches_same NAME VIEW...: kept.data, three times in a row, is the same with both tools
stretches_same() {
	local name=$1 file=kept.data
	shift
	[ ! -d kept.data ] || file=kept.data/data
	"$whole" packets $file --json 2>/dev/null | "$ROOT/selftests/perf/enlarge" $file longer.data \
		$(($(stat -c %s $file) * 3)) >/dev/null && mv longer.data $file
	same "stretches_${name}_packets" "$("$whole" packets kept.data 2>&1 | md5sum)" \
		"$("$KIPT" packets kept.data 2>&1 | md5sum)"
	for view; do
		PERF_BUILDID_DIR=ids "$whole" open kept.data $view 2>&1 |
			untimed >want
		PERF_BUILDID_DIR=ids "$KIPT" open kept.data $view 2>&1 |
			untimed >got
		same "stretches_${name}_${view// /_}" "$(md5sum <want) $(wc -l <want)" \
			"$(md5sum <got) $(wc -l <got)"
	done
}

# time_within: an option that is the second third of the time of kept.data
time_within() {
	PERF_BUILDID_DIR=ids "$whole" open kept.data 2>/dev/null |
		sed -n 's/.* branches in \([0-9.]*\) \([num]*s\).*/\1 \2/p' |
		awk '{ printf "--branches --time %.3f%s,%.3f%s", $1 / 3, $2, $1 * 2 / 3, $2 }'
}

# segments N: pieces.pt, a trace of a loop, N PADs, and segments of which some begin after an OVF;
# prints where their PSBs are
segments() {
	python3 -c '
import random, struct, sys
r, t, out = random.Random(5), 10 ** 9, b""
ip = lambda head, address: bytes([head]) + struct.pack("<Q", address)[:6]
for n in range(90):
    lost = n and r.random() < 0.3
    t += r.randrange(1, 2000)
    out += b"\x02\xf3" if lost else b""
    print(len(out))
    out += b"\x02\x82" * 8 + b"\x19" + struct.pack("<Q", t)[:7] + b"\x99\x01"
    out += ip(0x7d, 0x401000) if n else b""
    out += b"\x02\x23" + (ip(0x7d, 0x401000) if lost else b"" if n else ip(0x71, 0x401000))
    for _ in range(r.randrange(1, 12)):
        out += r.choice((b"\x04", b"\x06")) + ip(0x6d, 0x401000)
    out += bytes(int(sys.argv[1]) if n == 3 else 0)
open("pieces.pt", "wb").write(out)' "$1"
}

# pieces_same VIEW...: counts views of pieces.data in $all, those that both tools show otherwise in $bad
pieces_same() {
	local view
	for view; do
		all=$((all + 1))
		cmp -s <("$whole" open pieces.data $view 2>&1 | untimed) \
			<("$KIPT" open pieces.data $view 2>&1 | untimed) ||
			bad=$((bad + 1))
	done
}

# Wherever in a segment the stretch in memory ends, and whatever is lost there.
stretches_anywhere() {
	local pads places cut lost bad=0 all=0
	bytes eb 0e 90 90 90 90 90 90 90 90 90 90 90 90 90 90 75 03 90 90 90 ff e0 >loop.dump
	head -c 4073 /dev/zero >>loop.dump
	bytes 00 10 40 00 00 00 00 00 >loop.addr
	for pads in $(seq 0 "$(fewer 25 75)" 150); do
		mapfile -t places < <(segments "$pads")
		cut=${places[27]}
		for lost in "" "lost=$cut" "lost=$((cut + 8))" "lost=${places[28]}"; do
			python3 "$HERE/make_perf.py" pieces.data pieces.pt elf=loop piece=1000 $lost
			pieces_same "--branches --time" "--counts" "--branches --time 20us,40us"
		done
	done
	same "stretches_end_anywhere" "0 of $(fewer 84 36)" "$bad of $all"
	same "stretches_have_branches" 1 \
		"$("$KIPT" open pieces.data --branches 2>&1 | grep -c '^[1-9][0-9]\{3\} branches')"
}

# snapshots STEP SIZE: files of SIZE bytes each of pieces.pt; prints their option for make_perf.py
snapshots() {
	python3 -c '
import sys
step, size = (int(number) for number in sys.argv[1:])
data, names = open("pieces.pt", "rb").read(), []
for at in range(0, len(data) - size // 2, step):
    names.append(f"snap.{at}")
    open(names[-1], "wb").write(data[at:at + size])
print("snapshot=" + ",".join(names))' "$@"
}

# Snapshots begin anywhere: what is before their first PSB is no stretch of its own.
stretches_snapshots() {
	local size bad=0 all=0
	segments 0 >/dev/null
	for size in "700 650" "1400 1100" "401 390" "500 700"; do
		python3 "$HERE/make_perf.py" pieces.data pieces.pt elf=loop $(snapshots $size)
		pieces_same "--branches --time" "--counts"
	done
	same "stretches_of_snapshots" "0 of 8" "$bad of $all"
}

# A branch to an address that ends with 0x8202 looks like the begin of the PSB after it. Where a
# stretch may end is looked for up to byte 2392, and one of these PSBs begins there.
stretches_run_of_pairs() {
	local psb
	{ head -c $((0x202)) /dev/zero && bytes ff e0 && head -c 3580 /dev/zero; } >pairs.dump
	bytes 00 80 40 00 00 00 00 00 >pairs.addr
	for psb in 2392 2393; do
		python3 -c '
import struct, sys
every = int(sys.argv[1]) // 8
out = bytes(int(sys.argv[1]) % 8)
for n in range(30):
    out += b"\x02\x82" * 8 + b"\x19" + struct.pack("<Q", 10 ** 9 + n * 100)[:7] + b"\x99\x01"
    out += (b"\x7d\2\x82\x40\0\0\0" if n else b"") + b"\x02\x23"
    out += b"" if n else b"\x71\2\x82\x40\0\0\0"
    out += b"\x2d\x02\x82" * 80
    out += bytes(every * (n + 1) - 3 - len(out) + int(sys.argv[1]) % 8) + b"\x2d\x02\x82"
open("pieces.pt", "wb").write(out)' $psb
		python3 "$HERE/make_perf.py" pieces.data pieces.pt elf=pairs $(snapshots 800 1200)
		same "stretches_psb_at_$psb" "$("$whole" packets pieces.data 2>&1 | md5sum)" \
			"$("$KIPT" packets pieces.data 2>&1 | md5sum)"
	done
}

# Parts of recordings, put together.
stretches_parts() {
	local name number
	for name; do
		recorded_unpack "$ROOT/selftests/perf/$name"
		export PERF_BUILDID_DIR=ids
		"$whole" open kept.data --branches --time 2>/dev/null >shown
		for number in {1..9}; do
			"$KIPT" open kept.data --branches --time --part "$number/9" 2>/dev/null
		done >parts
		unset PERF_BUILDID_DIR
		if [ -s shown ] && cmp -s shown parts; then
			ok "stretches_${name}_in_nine_parts"
		else
			not_ok "stretches_${name}_in_nine_parts" "$(diff shown parts | head)"
		fi
	done
}

# However little of the trace is in memory at a time, the same is shown.
stretches() {
	local whole=$1 name KIPT=$WORK/stretches/kipt
	recorded_programs "$ROOT/selftests/perf"
	for name in 6.12-user 6.12-both 6.12-processes 6.1-tracepoints new-paused new-samples; do
		recorded_unpack "$ROOT/selftests/perf/$name"
		stretches_same "$name" "--branches --time" "--calls" "--counts" "--insns --jobs 2" \
			"$(time_within)"
	done
	stretches_parts 6.12-both new-snapshot 6.1-user
	stretches_anywhere
	stretches_snapshots
	stretches_run_of_pairs
}

variant_tests() {
	local whole=$KIPT
	if [ ! -f "$(dirname "$KIPT")/main.o" ]; then
		skip "variant" "the objects of the tool are not beside it"
		return
	fi
	variant_inputs
	if variant_make no_libnl KIPT_LIBNL=; then
		without_libnl "$whole"
	else
		not_ok "variant_no_libnl_builds" "$(cat no_libnl.log)"
	fi
	if variant_make stretches CFLAGS=-DKIPT_PERF_STRETCH=3000; then
		stretches "$whole"
	else
		not_ok "variant_stretches_builds" "$(cat stretches.log)"
	fi
	if variant_make no_options KIPT_LIBNL= KIPT_KDUMPFILE= KIPT_ZSTD= \
		KIPT_IBERTY= KIPT_ZYDIS=; then
		without_all "$whole"
	else
		not_ok "variant_no_options_builds" "$(cat no_options.log)"
	fi
}
