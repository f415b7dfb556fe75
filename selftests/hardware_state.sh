#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What tests may change of a machine: remembered, and put back. Sourced by
# `hardware`, which has set WORK and TOOL; knows no test.

# Files of the kernel that tests write to.
KNOBS=(/proc/sys/kernel/ftrace_enabled /sys/kernel/debug/kprobes/enabled
	/proc/sys/vm/percpu_pagelist_high_fraction /proc/sys/vm/dirty_ratio
	/proc/sys/vm/dirty_background_ratio)

# IA32_RTIT_OUTPUT_BASE, OUTPUT_MASK_PTRS, STATUS, CR3_MATCH, ADDRn_A and _B;
# LVTPC, an MSR in x2APIC mode; IA32_RTIT_CTL comes last, as it guards the rest.
MSRS=(0x560 0x561 0x571 0x572 0x580 0x581 0x582 0x583 0x584 0x585 0x586 0x587
	0x834 0x570)
RTIT_CTL=0x570

# read_msr CPU MSR: 16 hexadecimal digits, or nothing where it cannot be read.
read_msr()
{
	od -An -v -tx8 -N 8 -j $(($2)) "/dev/cpu/$1/msr" 2>/dev/null | tr -d ' '
}

# write_msr CPU MSR DIGITS
write_msr()
{
	local bytes='' i

	for ((i = 14; i >= 0; i -= 2)); do
		bytes+="\\x${3:i:2}"
	done
	printf '%b' "$bytes" | dd of="/dev/cpu/$1/msr" bs=8 seek=$(($2)) \
		oflag=seek_bytes conv=notrunc status=none 2>/dev/null
}

# The numbers of the CPUs that can be asked now.
online_cpus()
{
	grep -oP '^processor\s*: \K\d+' /proc/cpuinfo
}

# Each CPU and its IA32_RTIT_CTL; the number alone of one whose MSRs cannot be read.
rtit_ctls()
{
	local cpu

	for cpu in $(online_cpus); do
		echo "$cpu $(read_msr "$cpu" $RTIT_CTL)"
	done
}

# with_trace_en: those CPUs of such lines where TraceEn, bit 0, is set.
with_trace_en()
{
	awk '$2 ~ /[13579bdf]$/ { print $1 }'
}

# traced_cpus: those on which anyone traces.
traced_cpus()
{
	rtit_ctls | with_trace_en
}

is_loaded()
{
	[ -d "/sys/module/$1" ]
}

# load MODULE...: those that are not there, and remember them.
load()
{
	local module

	for module; do
		is_loaded "$module" || [ -e "/dev/cpu/0/$module" ] && continue
		modprobe "$module" 2>/dev/null && LOADED+=("$module")
	done
}

# Numbers of what the module keeps of things that were survived, and of programs that died.
snapshots()
{
	! is_loaded kipt || "$TOOL" crash list --json 2>/dev/null |
		sed -n 's/.*"type": *"snapshot", *"id": *\([0-9]*\).*/\1/p'
}

# Ids of all sessions that there are.
sessions()
{
	"$TOOL" status --json 2>/dev/null |
		sed -n 's/.*"type": *"session", *"id": *\([0-9]*\).*/\1/p'
}

# remember: all of the following, before anything is changed.
remember()
{
	local file cpu msr

	LOADED=()
	for file in "${KNOBS[@]}" /sys/devices/system/cpu/cpu[0-9]*/online; do
		[ ! -r "$file" ] || echo "$file $(<"$file")"
	done >"$WORK/state.files"
	load msr cpuid
	for cpu in $(online_cpus); do
		for msr in "${MSRS[@]}"; do
			echo "$cpu $msr $(read_msr "$cpu" "$msr")"
		done
	done | awk 'NF == 3' >"$WORK/state.msrs"
	# Which build of kipt was loaded, if any.
	KIPT_WAS_LOADED=$(cat /sys/module/kipt/srcversion 2>/dev/null)
	for file in /sys/module/kipt/parameters/*; do
		[ ! -r "$file" ] || echo "${file##*/}=$(<"$file")"
	done >"$WORK/state.parameters"
}

# forget: what remember() loaded goes, and nothing else is put back.
forget()
{
	[ ${#LOADED[@]} = 0 ] || rmmod "${LOADED[@]}" 2>/dev/null
	return 0
}

# A line for each file that was changed, and could or could not be put back.
put_files_back()
{
	local file value

	while read -r file value; do
		[ "$(cat "$file" 2>/dev/null)" != "$value" ] || continue
		if { echo "$value" >"$file"; } 2>/dev/null; then
			echo "put back: $file is $value again"
		else
			echo "cannot be put back: $file was $value"
		fi
	done <"$WORK/state.files"
}

# Sessions and snapshots that tests left.
put_sessions_back()
{
	local id

	for id in $(sessions); do
		if "$TOOL" delete "$id" >/dev/null 2>&1; then
			echo "put back: session $id is deleted"
		else
			echo "cannot be put back: session $id is there"
		fi
	done
	# check_machine() begins only where there are none.
	for id in $(snapshots); do
		"$TOOL" crash delete "$id" >/dev/null 2>&1 &&
			echo "put back: snapshot $id is deleted"
	done
}

# Whether the build of kipt is loaded that was, as it was.
is_as_loaded()
{
	local parameter value

	[ "$(cat /sys/module/kipt/srcversion 2>/dev/null)" = "$KIPT_WAS_LOADED" ] || return
	while IFS='=' read -r parameter value; do
		[ "$(cat "/sys/module/kipt/parameters/$parameter" 2>/dev/null)" = "$value" ] || return
	done <"$WORK/state.parameters"
}

put_module_back()
{
	local try parameters

	if [ "$KIPT_WAS_LOADED" ]; then
		is_as_loaded && return
		mapfile -t parameters <"$WORK/state.parameters"
		! is_loaded kipt || rmmod kipt 2>/dev/null
		modprobe kipt "${parameters[@]}" 2>/dev/null
		if ! is_as_loaded; then
			rmmod kipt 2>/dev/null
			insmod "${MODULE:-/nonexistent}" "${parameters[@]}" 2>/dev/null
		fi
		is_as_loaded && echo "put back: the module kipt is loaded again" ||
			echo "cannot be put back: the module kipt that was loaded, or its parameters"
		return
	fi
	# A process that was just killed may still hold it.
	for ((try = 0; try < 50; try++)); do
		is_loaded kipt || return
		rmmod kipt 2>/dev/null || sleep 0.2
	done
	echo "cannot be put back: the module kipt cannot be removed"
}

# Registers that tests wrote to. A CPU that is traced by someone now is left alone. Without
# tests that write to any nothing is written, which would taint the kernel: what perf's driver
# leaves in some of them is its own business.
put_registers_back()
{
	local cpu msr value now busy

	busy=" $(traced_cpus | tr '\n' ' ')"
	for cpu in $busy; do
		echo "cannot be put back: CPU $cpu is traced"
	done
	[ "$DISRUPTIVE" ] || return
	while read -r cpu msr value; do
		now=$(read_msr "$cpu" "$msr")
		[ "${now:-$value}" != "$value" ] || continue
		if [[ $busy != *" $cpu "* ]] &&
			write_msr "$cpu" "$msr" "$value" &&
			[ "$(read_msr "$cpu" "$msr")" = "$value" ]; then
			continue
		fi
		echo "cannot be put back: MSR $msr of CPU $cpu was $value, is $now"
	done <"$WORK/state.msrs"
}

# put_back: prints what was not as it had been. What is put back first may be
# needed for what comes after it.
put_back()
{
	put_files_back
	put_sessions_back
	put_module_back
	# Its parameters may have armed the machine.
	put_sessions_back
	put_registers_back
	forget
}
