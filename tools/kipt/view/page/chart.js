// SPDX-License-Identifier: GPL-2.0-only
/*
 * Data of the page, sums of them, and numbers in words. Times are ticks from the first time of
 * the trace; ranges of buckets end before their second number.
 */
const data = JSON.parse(document.getElementById("data").textContent);
const MERGED = -2, LEFT_OUT = -1, PROCESS = -3;

/* Rows of COUNT numbers as an array for each column. */
function columns(flat, count) {
	const found = [], rows = flat.length / count;

	for (let c = 0; c < count; c++) {
		const column = new Float64Array(rows);

		for (let i = 0; i < rows; i++)
			column[i] = flat[i * count + c];
		found.push(column);
	}
	return found;
}

const [pathBucket, pathNode, pathTicks, pathCalls] = columns(data.paths, 4);
const [runBucket, runCpu, runTask, runTicks] = columns(data.runs, 4);
const [lossBucket, lossCpu, lossKind, lossTicks, lossCount] = columns(data.losses, 5);
const [nodeParent, nodeFunction] = columns(data.nodes, 2);
const [callBegin, callTicks, callFunction, callCpu, callTid, callLevel, callFlags] =
	columns(data.calls, 7);
const callLine = data.callLines || [];
const nodeCount = nodeParent.length;

/* The first row of a sorted column that is not below VALUE. */
function lowerBound(column, value) {
	let low = 0, high = column.length;

	while (low < high) {
		const middle = (low + high) >> 1;

		if (column[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

function inNanoseconds(ticks) {
	return ticks * 1e6 / data.khz;
}

/* [divisor, unit] for a time about as long as TICKS. */
function unitFor(ticks) {
	const ns = Math.abs(inNanoseconds(ticks));

	if (!data.khz)
		return [1, "ticks"];
	if (ns >= 1e9)
		return [data.khz * 1e3, "s"];
	if (ns >= 1e6)
		return [data.khz, "ms"];
	return ns >= 1e3 ? [data.khz / 1e3, "µs"] : [data.khz / 1e6, "ns"];
}

function duration(ticks) {
	const [divisor, unit] = unitFor(ticks);

	if (unit === "ticks")
		return ticks.toLocaleString("en") + " ticks";
	return (ticks / divisor).toLocaleString("en", { maximumFractionDigits: 3 }) + " " + unit;
}

/* A point in time: with all digits that it has, to a nanosecond. */
function moment(ticks) {
	const [divisor, unit] = unitFor(Math.max(Math.abs(data.first), Math.abs(data.last)));

	if (unit === "ticks")
		return duration(Math.round(ticks));
	return (ticks / divisor).toLocaleString("en", {
		maximumFractionDigits: { s: 9, ms: 6, "µs": 3, ns: 0 }[unit],
	}) + " " + unit;
}

function many(count, what, ending = "s") {
	return `${count.toLocaleString("en")} ${what}${count === 1 ? "" : ending}`;
}

function share(part, whole) {
	return whole ? (100 * part / whole).toFixed(1) + " %" : "–";
}

function processName(pid) {
	if (!pid)
		return "[process unknown]";
	return (data.processes[pid] || "process") + " " + pid;
}

/* The name of what a number of a function means. */
function functionName(number) {
	if (number === MERGED)
		return "[short calls, merged]";
	if (number === LEFT_OUT)
		return "[function left out]";
	if (number <= PROCESS)
		return processName(PROCESS - number);
	return data.functions[number][0];
}

function isKernel(number) {
	return number >= 0 && data.functions[number][2] === 1;
}

/* Where tasks of one number have different names, none of these is meant. */
const taskByTid = (() => {
	const found = new Map();

	data.tasks.forEach((task) => {
		const other = found.get(task.tid);

		found.set(task.tid, other && other.name !== task.name ? { tid: task.tid } : task);
	});
	return found;
})();

function taskName(task) {
	if (!task)
		return data.tasksLeftOut ? "tasks unknown or left out" : "task unknown";
	if (!task.tid)
		return "idle or unknown";
	return (task.name || "task") + " " + task.tid;
}

function cpuName(index) {
	const cpu = data.cpus[index];

	return "CPU " + (cpu && cpu.cpu !== null ? cpu.cpu : "unknown");
}

/* The buckets that [from, to) touches. */
function bucketsOf(from, to) {
	const first = Math.floor((from - data.origin) / data.width);
	const last = Math.ceil((to - data.origin) / data.width);

	return [Math.min(Math.max(first, 0), data.buckets - 1),
		Math.max(Math.min(last, data.buckets), Math.max(first, 0) + 1)];
}

function bucketTime(bucket) {
	return data.origin + bucket * data.width;
}

/* Time and calls of each path: self is its own, total has what it called. */
function pathSums(first, end) {
	const sums = {
		self: new Float64Array(nodeCount), total: new Float64Array(nodeCount),
		calls: new Float64Array(nodeCount), all: 0, merged: 0, lost: 0,
	};

	for (let i = lowerBound(pathBucket, first); i < pathBucket.length; i++) {
		if (pathBucket[i] >= end)
			break;
		addPath(sums, pathNode[i], pathTicks[i], pathCalls[i]);
	}
	/* Parents come before their children. */
	for (let n = nodeCount - 1; n >= 0; n--) {
		sums.total[n] += sums.self[n];
		if (nodeParent[n] >= 0)
			sums.total[nodeParent[n]] += sums.total[n];
		else
			sums.all += sums.total[n];
	}
	return sums;
}

function addPath(sums, node, ticks, calls) {
	if (node < 0) {
		sums.lost += ticks;
		return;
	}
	sums.self[node] += ticks;
	sums.calls[node] += calls;
	if (nodeFunction[node] === MERGED)
		sums.merged += ticks;
}

/* Nodes below each node, and the processes at -1. */
const children = (() => {
	const found = new Map([[-1, []]]);

	for (let n = 0; n < nodeCount; n++) {
		if (!found.has(nodeParent[n]))
			found.set(nodeParent[n], []);
		found.get(nodeParent[n]).push(n);
	}
	return found;
})();

/* 1 for each path that has no other call of its own function. */
const outermost = (() => {
	const found = new Uint8Array(nodeCount), open = new Map();
	const todo = [...children.get(-1)];

	while (todo.length) {
		const n = todo.pop();
		const f = nodeFunction[n < 0 ? ~n : n], around = open.get(f) || 0;

		if (n < 0) {
			open.set(f, around - 1);
			continue;
		}
		found[n] = around ? 0 : 1;
		open.set(f, around + 1);
		todo.push(~n);
		for (const child of children.get(n) || [])
			todo.push(child);
	}
	return found;
})();

/* Rows of functions: self, total and calls by number, of the paths that were summed. */
function functionSums(sums) {
	const rows = new Map();

	for (let n = 0; n < nodeCount; n++) {
		const f = nodeFunction[n];

		if (f <= PROCESS || (!sums.total[n] && !sums.calls[n]))
			continue;
		const row = rows.get(f) || { self: 0, total: 0, calls: 0 };

		row.self += sums.self[n];
		row.total += outermost[n] ? sums.total[n] : 0;
		row.calls += sums.calls[n];
		rows.set(f, row);
	}
	return rows;
}

/* Sums of lanes for columns of 2^level buckets, made when they are first drawn. */
const levels = new Map();

function emptyColumn() {
	return { tasks: new Map(), ran: 0, lost: 0, gaps: 0 };
}

function columnOf(lanes, lane, at) {
	if (!lanes.has(lane))
		lanes.set(lane, new Map());
	if (!lanes.get(lane).has(at))
		lanes.get(lane).set(at, emptyColumn());
	return lanes.get(lane).get(at);
}

function addRun(lanes, lane, at, who, ticks) {
	const column = columnOf(lanes, lane, at);

	column.ran += ticks;
	column.tasks.set(who, (column.tasks.get(who) || 0) + ticks);
}

function levelSums(level) {
	const lanes = new Map(), size = 2 ** level;

	if (levels.has(level))
		return levels.get(level);
	for (let i = 0; i < runBucket.length; i++) {
		const at = Math.floor(runBucket[i] / size);

		addRun(lanes, "c" + runCpu[i], at, runTask[i], runTicks[i]);
		addRun(lanes, "t" + runTask[i], at, runCpu[i], runTicks[i]);
	}
	for (let i = 0; i < lossBucket.length; i++) {
		const column = columnOf(lanes, "c" + lossCpu[i], Math.floor(lossBucket[i] / size));

		column.lost += lossTicks[i];
		column.gaps += lossCount[i];
	}
	levels.set(level, lanes);
	return lanes;
}

/* Kinds of gaps in a range: [words, ticks, count]. */
function lossSums(first, end) {
	const rows = new Map();

	for (let i = lowerBound(lossBucket, first); i < lossBucket.length; i++) {
		if (lossBucket[i] >= end)
			break;
		const row = rows.get(lossKind[i]) || [data.gaps[lossKind[i]], 0, 0];

		row[1] += lossTicks[i];
		row[2] += lossCount[i];
		rows.set(lossKind[i], row);
	}
	return [...rows.values()].sort((a, b) => b[1] - a[1] || b[2] - a[2]);
}
