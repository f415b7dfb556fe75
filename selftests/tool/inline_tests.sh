# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# Inlined functions between a function and the calls that their code makes. What they are
# is what addr2line says of each call. Sourced by tool_test.sh, part perf.

# inline_build COMPILER FLAG...: the program inline of inline.c, and its copy inline.full
inline_build() {
	local compiler=$1
	shift
	"$compiler" -O2 -g -nostdlib -fno-asynchronous-unwind-tables "$@" -Wl,--build-id \
		-o inline inline.c 2>/dev/null || return 1
	cp inline inline.full
}

# inline_trace FUNCTION TNT...: inline.data, a trace that begins with FUNCTION. Each return goes
# where its call was: bits that say so.
inline_trace() {
	local base=0x400000 function=$1
	shift
	readelf -h inline | grep -q " DYN " && base=0x40000000
	{ bytes $PSB 99 01 02 23 51
	  nm inline | python3 -c 'import sys
work = [int(line.split()[0], 16) for line in sys.stdin if line.endswith(" T %s\n" % sys.argv[1])][0]
work += 0x40000000 if work < 0x400000 else 0
sys.stdout.buffer.write(work.to_bytes(4, "little"))' "$function"
	  bytes "$@"; } >inline.pt
	make_perf inline.data inline.pt map=inline@$base
}

# inline_make COMPILER FLAG...: the program of two levels of inlined functions, and inline.data,
# a trace of it. Code is in the order in which it runs.
inline_make() {
	cat >inline.c <<-'END'
	#ifdef __cplusplus
	#define INLINE inline __attribute__((always_inline))
	#define PLAIN extern "C"
	namespace queue {
	#else
	#define INLINE static inline __attribute__((always_inline))
	#define PLAIN
	#endif
	#define CODE(name) PLAIN __attribute__((noinline)) void name(void) { asm volatile("nop" ::: "memory"); }
	CODE(leaf)
	CODE(other)
	INLINE void deep(void)
	{
		leaf();
		other();
		other();
	}
	INLINE void middle(void)
	{
		leaf();
		deep();
		other();
	}
	PLAIN __attribute__((noinline)) void work(void)
	{
		leaf();
		middle();
		middle();
		deep();
		leaf();
		asm volatile("nop" ::: "memory");
	}
	PLAIN void _start(void)
	{
		work();
		asm volatile("nop" ::: "memory");
	}
	#ifdef __cplusplus
	}
	#endif
	END
	inline_build "$@" && inline_trace work fe fe 1e
}

# Lines that "kipt open --calls" is to show of inline.full.
inline_want() {
	python3 -c 'import re, subprocess, sys
def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout
calls = re.findall(r"([0-9a-f]+):\tcall +[0-9a-f]+ <(\w+)",
                   run("objdump", "--no-show-raw-insn", "--disassemble=work", "inline.full"))
print("work")
before = []
for site, callee in calls:
    words = run("addr2line", "-i", "-f", "-C", "-e", "inline.full", site)
    words = words.replace("()", "").splitlines()
    chain = [(name, where.split(" ")[0]) for name, where in zip(words[::2], words[1::2])][::-1]
    # A function inlined at another line of the one outside of it is another instance.
    now = [(chain[:i], name) for i, (name, _) in enumerate(chain)][1:]
    now = [(tuple(outer), name) for outer, name in now]
    same = 0
    while same < min(len(now), len(before)) and now[same] == before[same]:
        same += 1
    for i in range(same, len(now)):
        print("  " * (i + 1) + now[i][1] + " (inlined)")
    print("  " * (len(now) + 1) + callee)
    before = now'
}

# inline_lines VERB OPTION...: the calls of inline.data
inline_lines() {
	local verb=$1
	shift
	"$KIPT" "$verb" inline.data --calls --no-fold "$@" 2>err | grep -v '^[=-]' |
		sed 's/ \[inline\]//'
}

# What the last line counts.
inline_counts() {
	"$KIPT" open inline.data --calls "$@" 2>&1 >/dev/null | sed -n 's/, 0 gaps.*//p'
}

inline_compiled_tests() {
	local form want
	for form in "gcc -static -no-pie -gdwarf-5" "gcc -pie -fPIE -gdwarf-4" \
		"clang -static -no-pie -gdwarf-5" "clang -pie -fPIE -gdwarf-4" \
		"g++ -x c++ -static -no-pie" "clang++ -x c++ -static -no-pie"; do
		# shellcheck disable=SC2086
		inline_make $form || { skip "inline $form" "it makes no program"; continue; }
		want=$(inline_want)
		if [[ $form == *c++* ]] && ! inline_lines open | grep -q queue::; then
			skip "inline $form" "kipt was built without libiberty"
			continue
		fi
		same "inline_calls_are_many $form" "15 5" "$(grep -c '^ .*[a-z]$' <<<"$want") $(
			grep -c inlined <<<"$want")"
		same "inline $form" "$want" "$(inline_lines open)"
		same "inline_decode $form" "$want" "$(inline_lines decode)"
	done
}

# gcc describes the code of a lambda in a type within a function that has no code.
inline_lambda_tests() {
	cat >inline.c <<-'END'
	extern "C" __attribute__((noinline)) void leaf(void) { asm volatile("nop" ::: "memory"); }
	static inline __attribute__((always_inline)) void within(void)
	{
		leaf();
		asm volatile("nop" ::: "memory");
	}
	template <class F> __attribute__((noinline)) void call(F f)
	{
		f();
		asm volatile("nop" ::: "memory");
	}
	template <class T> __attribute__((noinline)) inline void make(T x)
	{
		call([=]() __attribute__((noinline)) {
			within();
			asm volatile("" : : "r"(x) : "memory");
		});
		asm volatile("nop" ::: "memory");
	}
	extern "C" void work(void)
	{
		make(1);
		asm volatile("nop" ::: "memory");
	}
	extern "C" void _start(void)
	{
		work();
		asm volatile("nop" ::: "memory");
	}
	END
	inline_build g++ -x c++ -static -no-pie || { skip inline_lambda "g++ makes no program"; return; }
	inline_trace work 3e
	same "inline_lambda" "        within (inlined)
          leaf" "$(inline_lines open | tail -2 | sed 's/()//')"
}

# Jumps to functions that return for the one before. Of the second the inlined code is not of
# the function that its line is below.
inline_jump_tests() {
	cat >inline.c <<-'END'
	#define CODE(name) __attribute__((noinline)) void name(void) { asm volatile("nop" ::: "memory"); }
	CODE(leaf)
	CODE(last)
	static inline __attribute__((always_inline)) void deep(void)
	{
		leaf();
		last();
	}
	static inline __attribute__((always_inline)) void middle(void)
	{
		deep();
	}
	__attribute__((noinline)) void one(void)
	{
		asm volatile("nop" ::: "memory");
		middle();
	}
	static inline __attribute__((always_inline)) void outer(void)
	{
		one();
	}
	__attribute__((noinline)) void work(void)
	{
		asm volatile("nop" ::: "memory");
		outer();
	}
	void _start(void)
	{
		work();
		asm volatile("nop" ::: "memory");
	}
	END
	inline_build gcc -static -no-pie || { skip inline_jump "gcc makes no program"; return; }
	inline_trace _start 0e
	same "inline_jump" "_start
  work
    outer (inlined)
      one
        middle (inlined)
          deep (inlined)
            leaf
    last" "$(inline_lines open)"
}

# What the lines look like, with all options that change them.
inline_view_tests() {
	local calls
	same "inline_off" "work
$(inline_want | grep -v -e work -e inlined | sed 's/^ */  /')" "$(inline_lines open --no-inline)"
	same "inline_summary" "$(inline_counts --no-inline)" "$(inline_counts)"
	same "inline_folded" "work [inline]
  leaf
  middle (inlined)
    leaf
    deep (inlined)
      leaf
      other  x2
    other
  middle (inlined)
    leaf
    deep (inlined)
      leaf
      other  x2
    other
  deep (inlined)
    leaf
    other  x2
  leaf" "$("$KIPT" open inline.data --calls 2>err | grep -v '^[=-]')"
	same "inline_max_depth" "work" "$(inline_lines open --max-depth 1)"
	"$KIPT" decode inline.data -o inline.rec 2>err
	same "inline_of_records" "$(inline_want)" "$("$KIPT" show inline.rec --calls --no-fold 2>err |
		grep -v '^[=-]' | sed 's/ \[inline\]//')"
	calls=$("$KIPT" open inline.data --calls --json 2>err)
	same "inline_json" "leaf middle/leaf middle/deep/leaf middle/deep/other middle/deep/other \
middle/other middle/leaf middle/deep/leaf middle/deep/other middle/deep/other middle/other \
deep/leaf deep/other deep/other leaf" "$(python3 -c 'import json, sys
for o in map(json.loads, sys.stdin):
    if o.get("kind") == "call":
        print("/".join(o.get("ip_inlined", []) + [o["to_symbol"].split()[0]]))' <<<"$calls" |
		paste -sd ' ')"
	same "inline_json_off" 0 "$("$KIPT" open inline.data --calls --json --no-inline 2>err |
		grep -c ip_inlined)"
	printf '%s\n' "$calls" >inline.json
	schema_start
	same "inline_json_is_of_the_schema" "ok inline.json" "$(schema_check lines inline.json 2>&1)"
	schema_stop
}

# inline_branches: of inline.data, "KIND FROM TO" as in records
inline_branches() {
	"$KIPT" decode inline.data --branches --json 2>err | python3 -c 'import json, sys
kinds = {"jump": 2, "call": 3, "ret": 6}
for o in map(json.loads, sys.stdin):
    if o["type"] == "branch":
        print(kinds[o["kind"]], o["ip"], o["to"])'
}

# The same as records, each 10 ticks after the one before.
inline_timed() {
	inline_branches | python3 -c 'import sys
print("19 0 1 0 0 0\n8 0 1 0 0 1000\n5 0 1 100 0 100")
for i, line in enumerate(sys.stdin):
    kind, ip, to = line.split()
    print("8 0 1 0 0", 1010 + 10 * i)
    print("1", kind, "0 1", ip, to)'
}

# inline_random SEED: branches of three threads, in any order, with losses
inline_random() {
	inline_branches | python3 -c 'import random, sys
r, time = random.Random(int(sys.argv[1])), 1000
branches = [line.split() for line in sys.stdin]
print("19 0 1 0 0 0\n8 0 1 0 0 1000")
for i in range(3000):
    time += r.randrange(3) * r.randrange(50)
    kind, ip, to = r.choice(branches[i % 32:][:1] * 3 + branches)
    print("8 0 1 0 0 %d" % time)
    print(r.choice(["1 %s 0 1 %s %s" % (kind, ip, to)] * 12 +
                   ["5 0 1 %d 0 100" % r.randrange(99, 102),
                    "18 3 0 0 %s 5" % ip]))' "$1"
}

inline_perfetto_tests() {
	local seed
	inline_make gcc -static -no-pie || { skip inline_perfetto "gcc makes no program"; return; }
	"$KIPT" decode inline.data -o inline.rec 2>err
	inline_timed | records timed.rec
	cp inline.rec.maps timed.rec.maps
	: >perfetto.bad
	own_file_sums perfetto known timed.rec
	same "inline_perfetto" "$(inline_want)" "$(read_perfetto tree | sed 's/ \[inline\]//')"
	same "inline_perfetto_category" "5 1" "$(read_perfetto dump |
		grep -c ' B inlined .* (inlined)$') $(read_perfetto | grep -c tracks)"
	own_file_sums perfetto off timed.rec --no-inline
	same "inline_perfetto_off" 0 "$(read_perfetto dump | grep -c inlined)"
	cp inline.rec.maps random.rec.maps
	for seed in $(seq "$(fewer 40 2)"); do
		inline_random "$seed" | records random.rec
		PERCENT=1 own_file_sums perfetto "$seed" random.rec
		(($(read_perfetto dump | grep -c ' B inlined ') > 99)) ||
			echo "$seed: little is inlined"
	done >>perfetto.bad
	same "inline_perfetto_random" "" "$(cat perfetto.bad)"
	# More calls within each other than are remembered.
	inline_branches | awk '$1 == 3' | sed -n 3p | python3 -c 'import sys
_, ip, to = sys.stdin.read().split()
print("19 0 1 0 0 0\n8 0 1 0 0 1000\n5 0 1 100 0 100")
for i in range(9000):
    print("8 0 1 0 0 %d\n1 3 0 1 %s %s" % (1010 + i, ip, to))' | records random.rec
	if ! is_short; then
		"$KIPT" show random.rec --perfetto out.perfetto 2>err
		same "inline_perfetto_deep" "9001 18000" "$(
			read_perfetto dump | grep -c " B call\| B seen") $(
			read_perfetto dump | grep -c " B inlined")"
	fi
	# Lines are 54000 bytes long: they are not looked through by patterns.
	same "inline_deep" "9001 18000 54000" "$("$KIPT" show random.rec --calls 2>err | python3 -c '
import sys
plain = inlined = most = 0
for line in sys.stdin.buffer:
    if line[:1] not in b"=-":
        name = line.lstrip(b" ")
        most = max(most, len(line) - len(name))
        inlined += b"inlined" in name
        plain += b"inlined" not in name
print(plain, inlined, most)')"
	rm random.rec.maps timed.rec.maps perfetto.bad
}

# Debug information in another file, or in none.
inline_file_tests() {
	local id want
	want=$(inline_want)
	id=$(id_of inline)
	mkdir -p "ids/.build-id/${id:0:2}/${id:2}"
	objcopy --only-keep-debug inline.full "ids/.build-id/${id:0:2}/${id:2}/debug"
	strip --strip-debug inline
	same "inline_no_debug_information" "$(inline_lines open --no-inline)" "$(inline_lines open)"
	same "inline_separate" "$want" "$(PERF_BUILDID_DIR=ids inline_lines open)"
	strip inline
	same "inline_stripped" "0 $("$KIPT" open inline.data --calls --no-inline 2>&1 |
		grep -c kipt:)" "$("$KIPT" open inline.data --calls 2>err |
		grep -c inlined) $(grep -c kipt: err)"
	same "inline_stripped_separate" "$want" "$(PERF_BUILDID_DIR=ids inline_lines open)"
	rm -r ids
}

# inline_asked NAME WANT OPTION...: lines of inlined functions, and what a server was asked for
inline_asked() {
	local name=$1 want=$2
	shift 2
	: >log
	same "$name" "$want" "$(DEBUGINFOD_CACHE_PATH=asked \
		DEBUGINFOD_URLS=http://127.0.0.1:$server_port "$KIPT" open inline.data --calls \
		--no-fold "$@" 2>err | grep -c inlined) $(sed 's,.*/,,' log | paste -sd ' ')"
}

# A server is asked for lines of source code alone.
inline_server_tests() {
	local id server server_port
	if ! python3 -c 'import ctypes; ctypes.CDLL("libdebuginfod.so.1")' 2>/dev/null; then
		skip inline_server "no libdebuginfod"
		return
	fi
	inline_make gcc -static -no-pie || { skip inline_server "gcc makes no program"; return; }
	id=$(id_of inline)
	strip --strip-debug inline
	mkdir served
	objcopy --only-keep-debug inline.full "served/$id.debuginfo"
	server_begin answer
	inline_asked inline_asks_no_server "0 "
	inline_asked inline_with_source_asks_a_server "5 debuginfo" --source
	server_end
	rm -rf served asked
}

# What is damaged has other frames or none, and ends.
inline_damaged_tests() {
	local seed wrong=""
	inline_make gcc -static -no-pie || { skip inline_damaged "gcc makes no program"; return; }
	for seed in $(seq "$(fewer 200 8)"); do
		python3 -c 'import random, subprocess, sys
rand = random.Random(int(sys.argv[1]))
data = bytearray(open("inline.full", "rb").read())
for line in subprocess.run(["readelf", "-SW", "inline.full"], capture_output=True,
                           text=True).stdout.replace("[ ", "[").splitlines():
    words = line.split()
    if len(words) > 5 and words[1] in (".debug_info", ".debug_abbrev", ".debug_rnglists"):
        at, size = int(words[4], 16), int(words[5], 16)
        for _ in range(rand.randrange(3)):
            data[at + rand.randrange(size)] = rand.choice((0, 1, 0xff, rand.randrange(256)))
open("inline", "wb").write(data)' "$seed"
		timeout 20 "$KIPT" open inline.data --calls >out 2>err
		(($? < 2)) || wrong+=" $seed"
	done
	same "inline_damaged" "" "$wrong"
}

inline_tests() {
	inline_compiled_tests
	inline_lambda_tests
	inline_jump_tests
	inline_make gcc -static -no-pie || { skip inline "gcc makes no program"; return; }
	inline_view_tests
	inline_file_tests
	inline_perfetto_tests
	inline_server_tests
	inline_damaged_tests
	rm -f inline inline.*
}
