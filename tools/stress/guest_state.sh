# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the stress programs must leave as it was in the test machine: kipt's own
# counters, memory, the CPUs' registers. Sourced in the guest.

# load_module PARAMETER=VALUE...: parameters that the module does not have are
# left out.
load_module()
{
	local parameter known=()

	modprobe -q msr
	for parameter in "$@"; do
		modinfo -p "$KIPT_MODULE" | grep -q "^${parameter%%=*}:" &&
			known+=("$parameter")
	done
	insmod "$KIPT_MODULE" ${known[@]+"${known[@]}"}
}

# settled: what can be freed is, and the lists of pages that each CPU keeps
# are short.
settled()
{
	sync
	echo 100000 >/proc/sys/vm/percpu_pagelist_high_fraction
	echo 3 >/proc/sys/vm/drop_caches
	sleep 1
	echo 3 >/proc/sys/vm/drop_caches
}

# unaccounted: KiB of memory that neither is free nor has a known use: pages
# that were lost are among these.
unaccounted()
{
	awk '$1 == "MemTotal:" { n += $2 }
		/^(MemFree|Buffers|Cached|SwapCached|AnonPages|Slab|KernelStack|PageTables|Percpu):/ { n -= $2 }
		END { print n }' /proc/meminfo
}

slabs()
{
	awk '$1 == "SUnreclaim:" { print $2 }' /proc/meminfo
}

# owned_pages: how many stretches of pages were allocated by kipt, where the
# kernel keeps that in mind.
owned_pages()
{
	if [ -e /sys/kernel/debug/page_owner ]; then
		awk -v RS= '/\[kipt\]/ { n++ } END { print n + 0 }' /sys/kernel/debug/page_owner
	else
		echo 0
	fi
}

note_state()
{
	[ -e /sys/kernel/debug/kmemleak ] && echo clear >/sys/kernel/debug/kmemleak
	settled
	STATE_PAGES=$(unaccounted)
	STATE_SLABS=$(slabs)
	STATE_OWNED=$(owned_pages)
	# What KASAN keeps in quarantine counts as slabs; kmemleak is the better judge.
	[ ! -e /sys/kernel/debug/kmemleak ] || STATE_SLACK=131072
}

# CPUs whose TraceEn is set.
traced_cpus()
{
	python3 -c '
import glob, struct
for path in sorted(glob.glob("/dev/cpu/*/msr")):
    try:
        with open(path, "rb", buffering=0) as msr:
            msr.seek(0x570)
            ctl, = struct.unpack("<Q", msr.read(8))
    except OSError:
        continue
    if ctl & 1:
        print(path, hex(ctl))'
}

state_number=0

# state_line STATUS NAME: one KTAP line.
state_line()
{
	state_number=$((state_number + 1))
	[ "$1" = 0 ] && echo "ok $state_number $2" && return
	echo "not ok $state_number $2"
	return 1
}

# nothing NAME COMMAND...: a KTAP line; ok when COMMAND prints nothing.
nothing()
{
	local name=$1 text
	shift
	text=$("$@" 2>&1)
	[ -z "$text" ] || echo "$text" | head -n 20 | sed 's/^/# /'
	[ -z "$text" ]
	state_line $? "$name"
}

leaks_seen_by_kmemleak()
{
	# It looks twice at what is younger than some seconds.
	echo scan >/sys/kernel/debug/kmemleak
	sleep 6
	echo scan >/sys/kernel/debug/kmemleak
	sleep 6
	echo scan >/sys/kernel/debug/kmemleak
	cat /sys/kernel/debug/kmemleak
}

# state_result NAME: KTAP lines for all of it, and for the module's removal.
state_result()
{
	local bad=0 pages slabs

	state_number=0
	nothing "$1: kipt's own counters are at zero" build/stress/left || bad=1
	nothing "$1: no CPU is traced by nobody" traced_cpus || bad=1
	settled
	pages=$(($(unaccounted) - STATE_PAGES))
	slabs=$(($(slabs) - STATE_SLABS))
	echo "# memory: $pages KiB more without a known use, slabs $slabs KiB bigger"
	[ $((pages + slabs)) -lt "${STATE_SLACK:-8192}" ]
	state_line $? "$1: memory is as it was" || bad=1
	[ "$(owned_pages)" -le "$STATE_OWNED" ]
	state_line $? "$1: no more pages are kipt's than before" || bad=1
	rmmod kipt
	state_line $? "$1: the module can be removed" || bad=1
	if [ -e /sys/kernel/debug/kmemleak ]; then
		nothing "$1: kmemleak finds nothing" leaks_seen_by_kmemleak || bad=1
	fi
	echo "1..$state_number"
	return $bad
}
