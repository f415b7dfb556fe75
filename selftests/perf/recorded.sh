# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# Compares kept recordings of perf with what perf printed of them. Sourced by what has
# ktap.sh, and KIPT and ROOT.

RECORDED_KINDS="user kernel both cycles processes snapshot tracepoints bpf lost samples"

# recorded_cycles NAME FILE: instructions as perf counts them, and core cycles, of which it leaves
# out those after the last branch before tracing ends.
recorded_cycles() {
	PERF_BUILDID_DIR=ids "$KIPT" decode kept.data --totals --top 0 --json 2>err | python3 -c '
import json, sys
rows = [o for o in map(json.loads, sys.stdin) if o["type"] == "total"]
insns, cycles = (sum(o.get(name, 0) for o in rows) for name in ("insns", "cycles"))
theirs = [int(word) for word in open(sys.argv[1]).read().split()]
print(insns - theirs[0], 0 <= cycles - theirs[1] <= 100, theirs[1] > 1000)' "$2" >sums
	same "perf_recorded_cycles $1" "0 True True" "$(cat sums)"
}

# recorded_programs FOLDER: `ids` has those that were recorded
recorded_programs() {
	local name id
	rm -rf ids
	for name in kinds other; do
		zstd -dcq "$1/$name.zst" >program
		id=$(readelf -n program | sed -n 's/.*Build ID: //p')
		mkdir -p "ids/.build-id/${id:0:2}/${id:2}"
		cp program "ids/.build-id/${id:0:2}/${id:2}/elf"
	done
}

# recorded_unpack FOLDER: kept.data, a file or a folder
recorded_unpack() {
	rm -rf kept.data
	if [ -e "$1/perf.data.tar.zst" ]; then
		zstd -dcq "$1/perf.data.tar.zst" | tar x
	else
		zstd -dcq "$1/perf.data.zst" >kept.data
	fi
}

# recorded_compare FOLDER: a result for each recording that is to be there; `classes` gets
# the classes of differences of all, with their counts.
recorded_compare() {
	local kernel kind dir name
	recorded_programs "$1"
	: >classes
	for kernel in 6.1 6.12 new; do
		for kind in $RECORDED_KINDS $([ $kernel != new ] || echo paused); do
			name=$kernel-$kind
			dir=$1/$name
			recorded_unpack "$dir"
			zstd -dcq "$dir/branches.zst" >want
			PERF_BUILDID_DIR=ids timeout 60 python3 -S "$ROOT/selftests/perf/compare" \
				"$KIPT" kept.data want >out 2>err
			same "perf_recorded $name" "0 1" "$? $(grep -c '^branches [1-9]' out)"
			[ "$kind" != cycles ] || recorded_cycles "$name" "$dir/cycles"
			grep 'no class' out err | sed 's/^/# /'
			grep -v 'no class' out >>classes
		done
	done
}
