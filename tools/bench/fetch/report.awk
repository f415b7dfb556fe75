# SPDX-License-Identifier: GPL-2.0-only
#
# What was measured (tools/bench/fetch/compare), from lines
#	decoded MODE WHO ELAPSED INSTRUCTIONS NANOSECONDS
#	threads WHO ELAPSED
#	branches N, bytes N, kernel N, user N
# The best of each counts. Variables: small, no target is judged; report, a
# missed target is no failure.

function least(list, key, value)
{
	if (!(key in list) || value < list[key])
		list[key] = value
}

# What makes the figures worthless.
function check(what)
{
	print "bench: " what >"/dev/stderr"
	bad = 1
}

function print_mode(mode, ours, peer)
{
	ours = cpu[mode " ours"]
	peer = cpu[mode " peer"]
	if (!ours || !peer || !number["branches"]) {
		check(mode " was not measured")
		return
	}
	printf "# fetch %s: %.1f instructions for each branch, decode %.1f; %.2f and %.2f s elapsed\n",
		mode, insns[mode " ours"] / number["branches"],
		insns[mode " peer"] / number["branches"],
		elapsed[mode " ours"] / 1e9, elapsed[mode " peer"] / 1e9
	printf "bench fetch %s ours=%.2f peer=%.2f ratio=%.2f target=%.1f\n",
		mode, ours / 1e9, peer / 1e9, ours / peer, target[mode]
	if (!small && ours > peer * target[mode]) {
		print "bench: fetch " mode " misses its target" >"/dev/stderr"
		missed = 1
	}
}

BEGIN {
	count = split("counts packed calls", modes)
	target["counts"] = 1.3
	target["packed"] = 1.5
	target["calls"] = 1.5
}

$1 == "decoded" {
	key = $2 " " $3
	least(elapsed, key, $4)
	least(insns, key, $5)
	least(cpu, key, $6)
	next
}

$1 == "threads" {
	least(elapsed, $1 " " $2, $3)
	next
}

{
	number[$1] = $2
}

END {
	printf "# %.1f MB of trace, %d branches, %.0f %% of them in the kernel\n",
		number["bytes"] / 1e6, number["branches"],
		100 * number["kernel"] / (number["kernel"] + number["user"] + !number["user"])
	if (!small && number["bytes"] < 30e6)
		check("the trace has less than 30 MB")
	if (!number["kernel"] || !number["user"])
		check("the trace is not of user and kernel")
	for (i = 1; i <= count; i++)
		print_mode(modes[i])
	printf "# fetch counts with two threads: %.2f s elapsed, decode %.2f\n",
		elapsed["threads ours"] / 1e9, elapsed["threads peer"] / 1e9
	exit bad || (missed && report != 1)
}
