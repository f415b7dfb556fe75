# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2086
#
# kipt packets: vectors, decompression, resynchronisation, hostile bytes.
# Sourced by tool_test.sh.

# The listing without offsets and padding.
plain() {
	sed -E 's/^ *[0-9a-f]+  //; s/ +/ /g'
}

vector_tests() {
	local hex want got number=0
	while IFS='|' read -r hex want; do
		case $hex in '#'* | '') continue ;; esac
		number=$((number + 1))
		bytes $hex >vector
		got=$("$KIPT" packets --no-sync vector 2>/dev/null | plain)
		same "packet_vector_$number (${hex% })" "${want# }" "$got"
	done <"$HERE/packet_vectors.txt"
}

sync_tests() {
	bytes FF FF $PSB 4D 00 10 40 00 2D 34 12 05 06 06 $PSB 2D 78 56 >sync.pt
	got=$("$KIPT" packets sync.pt 2>/dev/null | sed -E 's/^ +//')
	same "packets_resync" "0  -- no PSB yet, 2 bytes passed over
2  PSB
12  TIP       ip=0x401000 ipbytes=2
17  TIP       ip=0x401234 ipbytes=1
1a  -- no packet starts with this byte, 3 bytes passed over
1d  PSB
2d  TIP       ip=0x5678 ipbytes=1" "$got"
	got=$("$KIPT" packets --json sync.pt 2>/dev/null |
		python3 -c 'import json, sys
for line in sys.stdin:
    o = json.loads(line)
    print(o["offset"], o.get("packet") or o["passed"])' | tr '\n' ' ')
	same "packets_json" "0 2 2 PSB 18 TIP 23 TIP 26 3 29 PSB 45 TIP " "$got"
}

# A packet that the next PSB cuts off hides neither that nor what follows it.
cut_tests() {
	local name hex bad=''
	while IFS='|' read -r name hex; do
		bytes $PSB 02 23 $hex $PSB 19 08 07 06 05 04 03 02 02 23 >cut.pt
		size=$(wc -w <<<"$hex")
		got=$("$KIPT" packets cut.pt 2>err | sed -E 's/^ +//')
		want="0  PSB
10  PSBEND
12  -- a packet is cut off, $size bytes passed over
$(printf '%x  PSB\n%x  TSC       tsc=0x2030405060708\n%x  PSBEND' \
			$((18 + size)) $((34 + size)) $((42 + size)))"
		[ "$got" = "$want" ] || bad="$bad $name"
		offsets_tile cut.pt $((44 + size)) || bad="$bad $name"
	done <<-'END'
		tsc|19 01 02
		tip|6D 00 10
		mnt|02 C3 88 00
		cyc|07 01
		tnt|02 A3 01
	END
	same "packets_cut_off_by_a_psb" "" "$bad"
	bytes 19 01 02 $PSB 02 23 >cut.pt
	same "packets_cut_off_by_the_first_psb" "0 3 3 PSB 19 PSBEND " \
		"$("$KIPT" packets --no-sync --json cut.pt 2>err | python3 -c '
import json, sys
for line in sys.stdin:
    o = json.loads(line)
    print(o["offset"], o.get("packet") or o["passed"])' | tr '\n' ' ')"
}

# Each offset is where the packet or passed bytes before it ended.
offsets_tile() {
	"$KIPT" packets --no-sync --json "$1" 2>/dev/null | python3 -c '
import json, sys
at = 0
for line in sys.stdin:
    o = json.loads(line)
    assert o["offset"] == at, (o, at)
    at += o["passed"] if "error" in o else o["len"]
assert at == int(sys.argv[1]), at' "$2"
}

random_tests() {
	local seed bad=''
	for seed in $(seq "$(fewer 8 3)"); do
		python3 -c "import random, sys
r = random.Random($seed)
b = bytes(r.randrange(256) for _ in range(5000))
psb = b'\\x02\\x82' * 8
sys.stdout.buffer.write(psb + b[:2000] + psb + b[2000:3000] + psb + b[3000:])" >random.pt
		offsets_tile random.pt 5048 || bad="$bad $seed"
	done
	same "packets_random_accounts_for_each_byte" "" "$bad"
	bytes $PSB 02 43 00 55 B4 1A 00 00 >whole.pt
	for seed in $(seq 1 24); do
		head -c "$seed" whole.pt >part.pt
		offsets_tile part.pt "$seed" || bad="$bad $seed"
	done
	same "packets_truncated_anywhere" "" "$bad"
}

packet_file_tests() {
	: >empty
	refused "packets_empty" 1 "empty is empty: there is no trace in it" packets empty
	refused "packets_missing" 1 "cannot read nothere.*ENOENT" packets nothere
	refused "packets_folder" 1 "not a regular file" packets .
}

packet_tests() {
	vector_tests
	sync_tests
	cut_tests
	random_tests
	packet_file_tests
}
