# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# Files and folders of others, made to harm who looks at them: what kipt finds in them may be
# anything, and may be large. Sourced by tool_test.sh; uses what decode_tests.sh makes.

# others_refused NAME PATTERN ARGS...: fails with a sentence, in time and with little memory
others_refused() {
	local name=$1 pattern=$2
	shift 2
	(ulimit -v 1000000 && timeout -k 1 10 "$KIPT" "$@") >out 2>err </dev/null
	same "$name" "1 1" "$? $(grep -cE -e "$pattern" err)"
}

others_make() {
	make_kallsyms
	# shellcheck disable=SC2086
	bytes $CODE >code
	# shellcheck disable=SC2086
	bytes $TRACE >small.pt
	{ call 010 100; ret 110 012; } | records found.rec
	rm -rf found
	mkdir found
	{ cat code; head -c 4078 /dev/zero; } >found/user.dump
	bytes 00 10 40 00 00 00 00 00 >found/user.addr
}

# What a folder has may be a pipe, or a link to what has no end.
others_kinds_tests() {
	local kind file
	for kind in "mkfifo" "ln -s /dev/zero"; do
		rm -f found.rec.maps
		$kind found.rec.maps
		others_refused "others_maps_${kind%% *}" "found.rec.maps: not a regular file" \
			show found.rec
		for file in meta.json maps; do
			rm -f found/*.json found/maps
			echo '{}' >found/meta.json
			rm -f "found/$file"
			$kind "found/$file"
			others_refused "others_${file}_${kind%% *}" \
				"found/$file: not a regular file" decode small.pt --dir found
		done
		rm -rf found/maps found/kallsyms others.data
		echo '{}' >found/meta.json
		$kind found/kallsyms
		timeout -k 1 10 "$KIPT" decode small.pt --dir found --calls >out 2>err
		same "others_kallsyms_${kind%% *}" 0 $?
		mkdir -p others.data/kcore_dir
		cp kept.data others.data/data
		$kind others.data/kcore_dir/kallsyms
		timeout -k 1 10 "$KIPT" open others.data --calls >out 2>err
		same "others_kcore_${kind%% *}" "0 1" \
			"$? $(grep -c 'kallsyms is not read: not a regular file' err)"
	done
	rm -f found.rec.maps found/kallsyms
}

# A line has an end.
others_lines_tests() {
	truncate -s 3G endless
	ln -sf endless found.rec.maps
	others_refused "others_endless_maps" "line 1 is not of a maps file" show found.rec
	ln -sf ../endless found/meta.json
	others_refused "others_endless_meta" "cannot read found/meta.json as a JSON object" \
		decode small.pt --dir found
	rm -f endless found.rec.maps found/meta.json
	{ head -n 2 kallsyms; head -c 70000 /dev/zero; head -n 3 kallsyms; } >long
	"$KIPT" show found.rec --kallsyms long --calls >out 2>err
	same "others_long_line_of_kallsyms" 1 "$(grep -c 'long: line 3 .*longer than any' err)"
}

# To read a file of the kernel may take something away, as of /proc/kmsg.
others_kernel_tests() {
	cp found/user.dump prog.dump
	cp found/user.addr prog.addr
	make_perf others.perf small.pt id=00112233445566778899aabbccddeeff00112233 \
		called=/proc/version elf=prog
	run decode others.perf --calls
	same "others_file_of_the_kernel" 1 \
		"$(grep -c 'no code of /proc/version: it is not on this machine, or no file of a disk' <<<"$ERR")"
	ln -sf /proc/version found.rec.maps
	others_refused "others_maps_of_the_kernel" "found.rec.maps: .* one of the kernel" \
		show found.rec
	rm -f found.rec.maps
}

# What has the path of a file that ran may be another file by now.
others_ids_tests() {
	local line notes
	{ cpu 0; task 7; echo "1 3 0 1 0x401010 0x401020"; } | records user.rec
	for line in "2 $id " "2 ${id/?/g} " "2 00$id " "2 - " "1 "; do
		printf 'kipt-maps %s\nprocess 7 program\nmap 401000 402000 1000 %s\n' "${line%% *}" \
			"${line#* }$PWD/program" >user.rec.maps
		"$KIPT" show user.rec --branches >out 2>err
		notes+="$? $(grep -c 'no names of functions in .*another build id' err) $(
			grep -c 'has no build id of it' err) "
	done
	# What came in the place of the program is one mapping too many.
	{
		printf 'kipt-maps 1\nprocess 7 program\nmap 401000 402000 1000 %s\n' "$PWD/program"
		python3 -c 'for i in range(16384):
    print("map %x %x 0 [anonymous]" % (0x7000000 + 0x2000 * i, 0x7001000 + 0x2000 * i))'
		echo "map 401000 402000 0 /another"
	} >user.rec.maps
	same "others_mapping_beyond_the_last" "0 1" "$("$KIPT" show user.rec --branches 2>err |
		grep -c '\[program') $(grep -c 'had more than 16384 mappings' err)"
	same "others_build_ids" "0 0 0 1 0 0 0 1 0 0 0 1 0 0 1 " "$notes"
	# They are kept.
	printf 'kipt-maps 2\nprocess 7 program\nmap 401000 402000 1000 %s /a b\n' "$id" \
		>user.rec.maps
	"$KIPT" show user.rec -o again.rec 2>err
	same "others_build_ids_stay" "$(<user.rec.maps)" "$(<again.rec.maps)"
	ln -s /dev/null sink
	"$KIPT" show user.rec -o sink 2>err
	same "others_mappings_of_no_file" "0 sink" "$? $(echo sink*)"
	rm sink
	# What is there and is no file of mappings is the user's.
	echo mine >again.rec.maps
	refused "others_mappings_replace_no_other_file" 1 "again.rec.maps is there and is no file" \
		show user.rec -o again.rec
	same "others_file_is_spared" mine "$(<again.rec.maps)"
	rm again.rec again.rec.maps
	echo mine >again.rec.maps
	refused "others_mappings_refused_first" 1 "again.rec.maps is there and is no file" \
		decode small.pt --image code@0x401000 -o again.rec
	same "others_nothing_was_made" again.rec.maps "$(echo again.rec*)"
	rm again.rec.maps
}

# others_named NAME WANT: functions of a stripped program, and notes of what is packed in it
others_named() {
	(ulimit -v 1000000 && timeout -k 1 10 "$KIPT" decode debug.data --branches) >out 2>err
	same "$1" "$2" "$? $(grep -oE '[^ ]+ \[program' out | sed 's/[ +].*//' | sort -u |
		paste -sd ' ') $(grep -c 'unpacked it would take more than 1024 MiB' err)"
}

# What a program names as its debug file, or has packed, may be anything.
others_debug_tests() {
	local none="0x1000 0x1005 0x1010"
	program_make || { skip others_debug "gcc makes no program"; return; }
	objcopy --add-gnu-debuglink=full.debug program linked
	mv linked program
	others_named others_debug_file "0 _start inner 0"
	mv full.debug kept.debug
	mkfifo full.debug
	others_named others_debug_file_is_a_pipe "0 $none 0"
	rm full.debug
	printf 'ZLIB\0\0\0\0\300\0\0\0more' >packed
	objcopy --add-section .zdebug_info=packed kept.debug full.debug
	others_named others_debug_file_is_packed "0 $none 1"
	# Of a section that says what it is when it is unpacked.
	objcopy --add-section .debug_info=packed kept.debug full.debug
	python3 - <<-'END'
		import struct, subprocess
		data = bytearray(open("full.debug", "rb").read())
		table, = struct.unpack_from("<Q", data, 40)
		size, count, names = struct.unpack_from("<3H", data, 58)
		text = struct.unpack_from("<4xI5Q", data, table + names * size)[3]
		for at in range(table, table + count * size, size):
		    name, = struct.unpack_from("<I", data, at)
		    if data[text + name:].startswith(b".debug_info\0"):
		        struct.pack_into("<Q", data, at + 8, 1 << 11)
		        struct.pack_into("<QQ", data, at + 24, len(data), 100)
		data += struct.pack("<IIQQ", 1, 0, 3 << 30, 1) + bytes(76)
		open("full.debug", "wb").write(data)
	END
	others_named others_debug_file_is_compressed "0 $none 1"
	# What several debug files have in common.
	gcc -g -nostdlib -static -no-pie -Wl,-Ttext=0x401000 -o full program.s
	printf '%b' 'shared.debug\0\01\02\03\04\05\06\07\010' >link
	objcopy --add-section .gnu_debugaltlink=link full program
	mkfifo shared.debug
	printf 'kipt-maps 1\nprocess 7 a\nmap 401000 402000 1000 %s\n' "$PWD/program" >user.rec.maps
	timeout -k 1 10 "$KIPT" show user.rec --branches --source >out 2>err
	same others_shared_debug_file_is_a_pipe "0 1" "$? $(grep -c 'program.s:' out)"
}

# others_bomb NAME PATTERN TYPE COUNT CODE: so many events, compressed; CODE is what one has
others_bomb() {
	python3 -c 'import struct, subprocess, sys
def event(kind, misc, body):
    return struct.pack("<IHH", kind, misc, len(body) + 8) + body
base = open("kept.data", "rb").read()
at, size = struct.unpack_from("<QQ", base, 40)
kind, count = int(sys.argv[1]), int(sys.argv[2])
events = event(kind, 2, eval(sys.argv[3])) * count
packed = subprocess.run(["zstd", "-qc1"], input=events, stdout=subprocess.PIPE).stdout
more = b"".join(event(81, 0, packed[i:i + 60000]) for i in range(0, len(packed), 60000))
data = bytearray(base[:at + size] + more)
struct.pack_into("<QQ", data, 40, at, size + len(more))
data[72:104] = bytes(32)
open("bomb.data", "wb").write(data)' "${@:3}"
	others_refused "others_many_$1" "$2" decode bomb.data --stats
}

# What is compressed to little may be much.
others_bomb_tests() {
	others_bomb names "more events of processes .* of a file of its size" 3 1100000 \
		'struct.pack("<II16s32x", 5, 5, b"a")'
	others_bomb letters_of_a_file "by 5001 bytes, more than a path" 10 1 \
		'struct.pack("<IIQQQIIQQII", 5, 5, 4096, 4096, 0, 1, 1, 1, 1, 5, 2) + b"/" + b"a" * 5000 + bytes(39)'
	others_bomb letters_of_a_build_id "name of 5001 bytes, more than a path" 67 1 \
		'struct.pack("<I20s4x", 2**32 - 1, b"a" * 20) + b"/" + b"a" * 5000 + bytes(7)'
	make_perf bomb.data small.pt pipe "many=attr*66000"
	others_refused others_many_kinds_of_events "more kinds of events than kipt keeps" \
		decode bomb.data --stats
}

# A path of paths that means 1.3 million branches, and one of 1 million.
others_paths_tests() {
	local count
	for count in 3 4; do
		records_by paths.rec "paths = struct.pack('<5I', 0, 0, 0, 0, 0)
packed = struct.pack('<BBH', 23, 5, 0) + paths
out.append(record(22, 0, 0, 0, 0, 65536))
out += [record(1, 3, 0, 1, 0x401000, 0x402000)] * 65536
out.append(record(22, 0, 0, 1, 0, $count))
out += [packed] * $count
out.append(struct.pack('<BBH5I', 23, 1, 0, 1, 0, 0, 0, 0))"
		"$KIPT" show paths.rec --stats >out 2>err
		echo "$? $(grep -c 'a path of paths has too many records' err)"
	done >paths.out
	same "others_paths_of_paths" "0 0
1 1" "$(<paths.out)"
}

# What is another file than the verb reads says which verb does.
others_verbs_tests() {
	refused others_program_is_no_dump 1 "is an ELF file, but no dump" crash /bin/true
	python3 -c 'import struct, sys
data = bytearray(struct.pack("<4sBBBB8xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 4, 62, 1, 0, 64, 0, 0,
                             64, 56, 2, 0, 0, 0))
for address in 0x400000, 0x800000:
    data += struct.pack("<IIQQQQQQ", 1, 5, 4096, address, 0, 4096, 4096, 4096)
open("program.core", "wb").write(data + bytes(8192))'
	refused others_core_of_a_program 1 "is the core dump of a program, not the dump" crash \
		program.core
	for line in "decode found.rec" "packets found.rec"; do
		# shellcheck disable=SC2086
		refused "others_records_${line% *}" 1 "holds records, no trace: 'kipt show'" $line
	done
	refused others_dump_decoded 1 "is an ELF file, no trace: 'kipt crash'" decode program.core
	echo '{}' >found/meta.json
	for line in decode packets open; do
		refused "others_folder_$line" 1 "'kipt decode found/cpuN.pt --dir found'" $line found
	done
	rm found/meta.json
}

# A file takes as long as it is long.
others_maps_tests() {
	python3 -c 'print("kipt-maps 1")
for i in range(100000):
    print("process %d many" % (i + 2))
print("process 1 large")
for i in range(60000):
    print("map %x %x 0 /large" % (0x1000 * i, 0x1000 * i + 4096))' >found.rec.maps
	timeout -k 1 10 "$KIPT" show found.rec --calls >out 2>err
	same "others_many_mappings" "0 1" \
		"$? $(grep -c 'process 1 (large) had more than 16384 mappings' err)"
	rm -f found.rec.maps
}

# others_merge NAME PATTERN LINE: a file with that line is refused, in plain text
others_merge() {
	{
		printf '%b\n' "$3"
		echo '{"type":"summary","records":1,"branches":1,"insns":0,"gaps":{},"trace_bytes":1}'
	} >merged.json
	refused "others_merge_$1" 1 "$2" merge merged.json
	same "others_merge_${1}_is_plain" 0 "$(grep -c "[^ -~]" err)"
}

# Texts that a terminal would obey, or that are taken for others.
others_texts_tests() {
	local esc=$'\e'
	others_merge escapes '"[?].31mx" is nothing that' \
		'{"type":"total","symbol":"a","object":"o","branches":1,"\\u001b[31mx":3}'
	others_merge not_utf8 "line 1 is no JSON" \
		'{"type":"total","symbol":"a\0377b","object":"o","branches":1,"calls":1}'
	others_merge nul '"symbol" is no text' \
		'{"type":"total","symbol":"a\\u0000b","object":"o","branches":1,"calls":1}'
	others_merge two_forms_of_a_number '"ip" is no number' \
		'{"type":"edge","kind":"jump","ip":"0x01","to":"0x2","count":1}'
	echo '{}' >found/meta.json
	mkfifo "found/$esc[31m.addr"
	others_refused "others_name_of_a_file" 'cannot read found/[?]\[31m.addr' decode small.pt \
		--dir found
	same "others_name_is_plain" 0 "$(grep -c "$esc" err)"
	rm -f "found/$esc[31m.addr" found/meta.json
}

others_tests() {
	command -v zstd >/dev/null || { skip others "no zstd"; return; }
	others_make
	kept_unpack "$ROOT/selftests/perf/small"
	others_kinds_tests
	others_lines_tests
	others_maps_tests
	others_kernel_tests
	others_texts_tests
	others_ids_tests
	others_bomb_tests
	others_paths_tests
	others_verbs_tests
	others_debug_tests
}
