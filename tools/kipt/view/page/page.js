// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is seen and what keys and the mouse do. Each rectangle that is drawn is counted.
 */
const LANE = 20, GAP = 5, LABEL = 170, AXIS = 22, LANES_MOST = 24, COLUMNS_COST = 2800;
const ROW = 19, BOXES_MOST = 1500, ROWS_MOST = 200, CALLS_STEP = 50;
const element = (id) => document.getElementById(id);
const timeline = element("timeline"), flame = element("flame");

const view = { from: data.first, to: Math.max(data.last + 1, data.first + 2), lane: 0 };
const stretch = { first: 0, end: data.buckets, sums: null, rows: null };
const box = { root: -1, at: -1, list: [], match: "" };
let callsShown = CALLS_STEP, drag = null;
const drawn = { timeline: 0, flame: 0 };

function color(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function hash(text) {
	let h = 7;

	for (let i = 0; i < text.length; i++)
		h = (h * 31 + text.charCodeAt(i)) >>> 0;
	return h;
}

function boxColor(f) {
	if (f < 0)
		return color("--other");
	const h = hash(functionName(f)), hue = Number(color(isKernel(f) ? "--kernel" : "--user"));

	return `hsl(${hue + h % 36 - 18} ${45 + (h >> 6) % 25}% ${color("--light")})`;
}

function laneColor(number) {
	return number < 0 ? color("--other") :
		`hsl(${(number * 137 + 200) % 360} 50% ${color("--light")})`;
}

/* A canvas as sharp as the screen, emptied. */
function canvasOf(canvas, height) {
	const scale = window.devicePixelRatio || 1, width = canvas.clientWidth;
	const context = canvas.getContext("2d");

	canvas.width = Math.round(width * scale);
	canvas.height = Math.round(height * scale);
	canvas.style.height = height + "px";
	context.scale(scale, scale);
	context.font = "12px system-ui, sans-serif";
	context.textBaseline = "middle";
	return { context, width, height };
}

function rectangle(paper, where, fill, x, y, w, h) {
	drawn[where]++;
	paper.context.fillStyle = fill;
	paper.context.fillRect(x, y, w, h);
}

function label(paper, text, x, y, room, fill) {
	let shown = text;

	if (room < 24)
		return;
	if (paper.context.measureText(text).width > room) {
		let length = Math.floor(text.length * room / paper.context.measureText(text).width);

		length = Math.max(length - 2, 0);
		shown = length > 1 ? text.slice(0, length) + "…" : "";
	}
	paper.context.fillStyle = fill;
	paper.context.fillText(shown, x, y);
}

/* ---- timeline ---- */

const lanes = (() => {
	const found = data.cpus.map((cpu, i) => ({ key: "c" + i, name: cpuName(i), cpu: true }));
	const whole = levelSums(0);

	if (whole.has("c-1"))
		found.push({ key: "c-1", name: "CPUs without a lane", cpu: true });
	const ran = data.tasks.map((task, i) => ({ key: "t" + i, name: taskName(task), task }))
		.filter((lane) => whole.has(lane.key)).sort((a, b) => b.task.ticks - a.task.ticks);

	if (whole.has("t-1"))
		ran.push({ key: "t-1", name: "task unknown" });
	return found.concat(ran);
})();

function shownLanes() {
	return lanes.slice(view.lane, view.lane + LANES_MOST);
}

/* How many buckets are a column: so many that what is drawn has its bound. */
function levelNow(paper) {
	const [first, end] = bucketsOf(view.from, view.to);
	const each = shownLanes().reduce((sum, lane) => sum + (lane.cpu ? 6 : 1), 0);
	const most = Math.max(Math.min(COLUMNS_COST / Math.max(each, 1),
				       (paper.width - LABEL) / 2), 1);
	let level = 0;

	while ((end - first) / 2 ** level + 2 > most && 2 ** level < data.buckets)
		level++;
	return level;
}

function xOf(paper, time) {
	return LABEL + (time - view.from) / (view.to - view.from) * (paper.width - LABEL);
}

function timeAt(x) {
	const width = timeline.clientWidth - LABEL;

	return view.from + (x - LABEL) / width * (view.to - view.from);
}

function clipped(paper, from, to) {
	const left = Math.max(xOf(paper, from), LABEL);
	const right = Math.min(xOf(paper, to), paper.width);

	return [left, Math.max(right - left, 1), right > LABEL && left < paper.width];
}

function drawColumn(paper, lane, column, x, w, y, ticks) {
	const parts = [...column.tasks].sort((a, b) => b[1] - a[1]);
	const high = (part) => Math.min(part / ticks, 1) * LANE;
	let base = y + LANE, rest = 0;

	if (!lane.cpu) {
		rectangle(paper, "timeline", laneColor(Number(lane.key.slice(1))), x,
			  base - Math.max(high(column.ran), 1), w, Math.max(high(column.ran), 1));
		return;
	}
	parts.forEach(([task, part], i) => {
		if (i > 2) {
			rest += part;
			return;
		}
		rectangle(paper, "timeline", laneColor(task), x, base - high(part), w, high(part));
		base -= high(part);
	});
	if (rest)
		rectangle(paper, "timeline", color("--other"), x, base - high(rest), w, high(rest));
	if (column.lost || column.gaps)
		rectangle(paper, "timeline", color("--lost"), x, y, w,
			  Math.max(high(column.lost), 3));
}

function drawLane(paper, lane, y, level) {
	const size = 2 ** level, columns = levelSums(level).get(lane.key);
	const [first, end] = bucketsOf(view.from, view.to);

	rectangle(paper, "timeline", color("--lane"), LABEL, y, paper.width - LABEL, LANE);
	label(paper, lane.name, 4, y + LANE / 2, LABEL - 10, color("--text"));
	if (!columns)
		return;
	for (let at = Math.floor(first / size); at * size < end; at++) {
		const column = columns.get(at);
		const [x, w, seen] = clipped(paper, bucketTime(at * size), bucketTime((at + 1) * size));

		if (column && seen)
			drawColumn(paper, lane, column, x, w, y, size * data.width);
	}
}

function niceStep(rough) {
	const power = 10 ** Math.floor(Math.log10(rough));

	return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= rough);
}

function drawAxis(paper) {
	const [divisor, unit] = unitFor(Math.max(Math.abs(view.to), Math.abs(view.from)));
	const count = Math.max((paper.width - LABEL) / 130, 1);
	const step = niceStep((view.to - view.from) / divisor / count);
	const digits = Math.max(0, -Math.floor(Math.log10(step)));

	label(paper, `Time in ${unit}`, 4, AXIS / 2, LABEL - 10, color("--dim"));
	for (let n = Math.ceil(view.from / divisor / step); n * step * divisor <= view.to; n++) {
		const x = xOf(paper, n * step * divisor);

		rectangle(paper, "timeline", color("--line"), x, 0, 1, paper.height);
		label(paper, (n * step).toFixed(digits), x + 3, AXIS / 2, paper.width - x - 3,
		      color("--dim"));
	}
}

function drawChosen(paper, from, to) {
	const [x, w, seen] = clipped(paper, from, to);

	if (!seen || (stretch.first === 0 && stretch.end === data.buckets && !drag))
		return;
	rectangle(paper, "timeline", color("--chosen"), x, AXIS, w, paper.height - AXIS);
	rectangle(paper, "timeline", color("--edge"), x, AXIS, 1, paper.height - AXIS);
	rectangle(paper, "timeline", color("--edge"), x + w - 1, AXIS, 1, paper.height - AXIS);
}

function drawTimeline() {
	const list = shownLanes();
	const paper = canvasOf(timeline, AXIS + list.length * (LANE + GAP) + GAP);
	const level = levelNow(paper);

	drawn.timeline = 0;
	drawAxis(paper);
	list.forEach((lane, i) => drawLane(paper, lane, AXIS + GAP + i * (LANE + GAP), level));
	if (drag)
		drawChosen(paper, Math.min(drag.from, drag.to), Math.max(drag.from, drag.to));
	else
		drawChosen(paper, bucketTime(stretch.first), bucketTime(stretch.end));
	element("lanes-shown").textContent = lanes.length > LANES_MOST ?
		`Lanes ${view.lane + 1} to ${view.lane + list.length} of ${lanes.length}` : "";
	element("timeline-status").textContent =
		`Shown: ${moment(view.from)} to ${moment(view.to)}; a column is ` +
		`${duration(2 ** level * data.width)}. Red: lost, or a gap. Empty: nothing was traced.`;
}

/* Not farther than the trace, not closer than two buckets. */
function moveView(from, to) {
	const whole = [data.first, Math.max(data.last + 1, data.first + 2)];
	const span = Math.min(Math.max(to - from, Math.min(2 * data.width, whole[1] - whole[0])),
			      whole[1] - whole[0]);

	view.from = Math.min(Math.max(from, whole[0]), whole[1] - span);
	view.to = view.from + span;
	drawTimeline();
}

function zoom(factor, around = (view.from + view.to) / 2) {
	moveView(around - (around - view.from) * factor, around + (view.to - around) * factor);
}

function pan(part) {
	const by = (view.to - view.from) * part;

	moveView(view.from + by, view.to + by);
}

function moveLanes(by) {
	view.lane = Math.max(Math.min(view.lane + by, lanes.length - LANES_MOST), 0);
	drawTimeline();
}

function wholeView() {
	moveView(data.first, data.last + 1);
}

function laneAt(y) {
	const at = Math.floor((y - AXIS - GAP / 2) / (LANE + GAP));

	return at >= 0 ? shownLanes()[at] : undefined;
}

function columnText(lane, time) {
	const level = levelNow({ width: timeline.clientWidth });
	const at = Math.floor((time - data.origin) / data.width / 2 ** level);
	const column = (levelSums(level).get(lane.key) || new Map()).get(at);
	const who = (n) => lane.cpu ? taskName(data.tasks[n]) : cpuName(n);
	let text = `${lane.name}, from ${moment(bucketTime(at * 2 ** level))}: `;

	if (!column)
		return text + "nothing was traced";
	text += [...column.tasks].sort((a, b) => b[1] - a[1]).slice(0, 4)
		.map(([n, ticks]) => `${who(n)} ${duration(ticks)}`).join(", ") || "nothing ran";
	return column.gaps || column.lost ?
		`${text}; lost ${duration(column.lost)}, ${many(column.gaps, "gap")} here` : text;
}

/* ---- flame graph ---- */

/* Paths in the order in which they are drawn: [node, x, width, row], x from 0 to 1. */
function layout() {
	const sums = stretch.sums, found = [], whole = box.root < 0 ? sums.all : sums.total[box.root];
	const width = flame.clientWidth, todo = [];
	let narrow = 0;

	if (!whole)
		return [found, narrow];
	for (let n = box.root, row = ancestors(box.root).length; n >= 0; n = nodeParent[n])
		found.push([n, 0, 1, --row]);
	if (box.root >= 0)
		todo.push([box.root, 0, ancestors(box.root).length]);
	else
		todo.push([-1, 0, 0]);
	for (let i = 0; i < todo.length; i++) {
		let [parent, x, row] = todo[i];
		const below = (children.get(parent) || []).filter((n) => sums.total[n])
			.sort((a, b) => sums.total[b] - sums.total[a]);

		for (const n of below) {
			const w = sums.total[n] / whole;

			if (w * width < 1 || found.length >= BOXES_MOST || row >= ROWS_MOST) {
				narrow++;
				continue;
			}
			found.push([n, x, w, row]);
			todo.push([n, x, row + 1]);
			x += w;
		}
	}
	return [found, narrow];
}

/* A node and what it was called from. */
function ancestors(node) {
	const found = [];

	for (let n = node; n >= 0; n = nodeParent[n])
		found.push(n);
	return found;
}

function matches(f) {
	return box.match && functionName(f).toLowerCase().includes(box.match);
}

function drawBox(paper, [n, x, w, row]) {
	const f = nodeFunction[n], left = x * paper.width, width = Math.max(w * paper.width - 1, 1);
	const found = matches(f);

	rectangle(paper, "flame", found ? color("--match") : boxColor(f), left, row * ROW, width,
		  ROW - 1);
	label(paper, functionName(f), left + 3, row * ROW + ROW / 2, width - 6,
	      color(found ? "--on-match" : "--on-box"));
	if (n !== box.at || document.activeElement !== flame)
		return;
	paper.context.strokeStyle = color("--text");
	paper.context.lineWidth = 2;
	paper.context.strokeRect(left + 1, row * ROW + 1, Math.max(width - 2, 1), ROW - 3);
	drawn.flame++;
}

function drawFlame() {
	const [list, narrow] = layout();
	const rows = list.reduce((most, [, , , row]) => Math.max(most, row), 0) + 1;
	const paper = canvasOf(flame, rows * ROW + 2);

	drawn.flame = 0;
	box.list = list;
	list.forEach((entry) => drawBox(paper, entry));
	if (!list.length)
		label(paper, "No code ran in this stretch, as far as it was traced.", 6, ROW / 2 + 1,
		      paper.width, color("--dim"));
	element("flame-status").textContent = box.at >= 0 ? boxText(box.at) :
		narrow ? `${narrow} call paths are too narrow to be drawn; click a box to see more.` : "";
}

function boxText(n) {
	const sums = stretch.sums;

	return `${functionName(nodeFunction[n])}: ${duration(sums.total[n])} ` +
		`(${share(sums.total[n], sums.all)}) in it and what it called, ` +
		`${duration(sums.self[n])} in itself, ${many(sums.calls[n], "call")} of the stretch`;
}

function boxAt(x, y) {
	const row = Math.floor(y / ROW), at = x / flame.clientWidth;
	const found = box.list.find((b) => b[3] === row && at >= b[1] && at < b[1] + b[2]);

	return found ? found[0] : -1;
}

function showBox(n) {
	box.root = n;
	box.at = n;
	drawFlame();
}

function stepBox(down, along) {
	const list = box.list, here = list.find((b) => b[0] === box.at) || list[0];
	let next = here;

	if (down)
		next = list.filter((b) => b[3] === here[3] + down &&
				   (down > 0 ? nodeParent[b[0]] === here[0] :
					       b[0] === nodeParent[here[0]]))[0];
	if (along)
		next = list.filter((b) => b[3] === here[3] && (b[1] - here[1]) * along > 0)
			.sort((a, b) => (a[1] - b[1]) * along)[0];
	box.at = (box.at < 0 ? here : next || here)[0];
	drawFlame();
}

/* ---- tables and sentences ---- */

function cell(row, text, kind, head) {
	const made = document.createElement(head ? "th" : "td");

	made.textContent = text;
	made.className = kind || "";
	made.title = kind === "text name" ? text : "";
	row.append(made);
	return made;
}

function table(id, heads) {
	const made = element(id), row = document.createElement("tr");

	made.replaceChildren(row);
	heads.forEach(([text, kind]) => cell(row, text, kind, true));
	return made;
}

function addRow(made, cells) {
	const row = document.createElement("tr");

	cells.forEach(([text, kind]) => cell(row, text, kind));
	made.append(row);
	return row;
}

/* Rows [function, sums of the stretch], those that are searched for or all, most time first. */
function functionRows() {
	const rows = [...stretch.rows];

	if (box.match)
		data.functions.forEach((_, f) => stretch.rows.has(f) ||
			rows.push([f, { self: 0, total: 0, calls: 0 }]));
	return rows.filter(([f]) => !box.match || matches(f))
		.sort((a, b) => b[1].self - a[1].self || b[1].total - a[1].total || a[0] - b[0]);
}

function showFunctions() {
	const rows = functionRows(), most = 40;
	const made = table("functions", [["self"], ["with callees"], ["calls"], ["trace: self"],
		["trace: total"], ["trace: longest"], ["trace: calls"], ["function", "text"],
		["process", "text"]]);

	rows.slice(0, most).forEach(([f, row]) => {
		const [name, pid, , calls, self, total, longest] = f >= 0 ? data.functions[f] :
			[functionName(f)];
		const known = (value, text) => f >= 0 ? text(value) : "–";

		addRow(made, [[duration(row.self)], [duration(row.total)],
			[row.calls.toLocaleString("en")], [known(self, duration)],
			[known(total, duration)], [known(longest, (n) => n ? duration(n) : "–")],
			[known(calls, (n) => n.toLocaleString("en"))], [name, "text name"],
			[isKernel(f) ? "kernel" : f < 0 ? "" : processName(pid), "text"]]);
	});
	element("functions-note").textContent = many(rows.length, "function") +
		(rows.length > most ? `, the first ${most} are shown` : "") +
		". The first columns are of the stretch: time that code ran in the function itself, and " +
		"in it with what it called; calls that begin there. Those of the trace: total is from " +
		"calls to their returns, with time in which the task was away.";
}

function callsOfStretch() {
	const from = bucketTime(stretch.first), to = bucketTime(stretch.end), found = [];

	for (let i = 0; i < callBegin.length; i++) {
		if (callBegin[i] < to && callBegin[i] + callTicks[i] >= from &&
		    (!box.match || matches(callFunction[i])))
			found.push(i);
	}
	return found;
}

function flagText(flags) {
	return [flags & 1 ? "no return seen" : "", flags & 2 ? "has a gap" : ""]
		.filter(Boolean).join(", ");
}

function showCalls() {
	const found = callsOfStretch(), all = callsAll();
	const made = table("calls", [["duration"], ["begin"], ["function", "text"], ["CPU", "text"],
		["task", "text"], ["level"], ["", "text"], ["", "text"]]);

	found.slice(0, callsShown).forEach((i) => addRow(made, [[duration(callTicks[i])],
		[moment(callBegin[i])], [functionName(callFunction[i]), "text name"],
		[cpuName(callCpu[i]), "text"],
		[taskName(taskByTid.get(callTid[i]) || { tid: callTid[i] }), "text"], [callLevel[i]],
		[flagText(callFlags[i]), "text"], ["", "text"]]).lastChild.append(goButton(i)));
	element("calls-note").textContent = `Calls of the stretch in this page: ${found.length.toLocaleString("en")}` +
		(all ? ", which has each call of the trace." : `: of ${data.callsSeen.toLocaleString("en")
		} calls of the trace it has the ${callBegin.length.toLocaleString("en")
		} longest. Of all others there are only sums. For each call of the stretch:`);
	element("command").hidden = all;
	element("command").textContent = commandText();
	element("more").hidden = found.length <= callsShown;
}

function callsAll() {
	return callBegin.length >= data.callsSeen - data.untimedCalls;
}

function goButton(i) {
	const made = document.createElement("button");

	made.textContent = "Go there";
	made.addEventListener("click", () => {
		choose(callBegin[i], callBegin[i] + Math.max(callTicks[i], 1));
		moveView(callBegin[i] - callTicks[i] / 2, callBegin[i] + callTicks[i] * 1.5);
		timeline.focus();
	});
	return made;
}

/* The stretch as --time has it. */
function timeText() {
	const words = (ticks, round) => data.khz ?
		round(Math.max(inNanoseconds(ticks), 0)) + "ns" : String(Math.max(ticks, 0));

	return words(Math.max(bucketTime(stretch.first), data.first), Math.floor) + "," +
		words(Math.min(bucketTime(stretch.end), data.last), Math.ceil);
}

function commandText() {
	return `${data.command || "kipt open"} --time ${timeText()} --html page.html` +
		(data.typed || " FILE");
}

function showStretch() {
	const { first, end, sums } = stretch, losses = lossSums(first, end);
	const whole = first === 0 && end === data.buckets;
	const from = Math.max(bucketTime(first), data.first);
	const to = Math.min(bucketTime(end), data.last);
	let text = `${whole ? "The whole trace" : "Stretch"}, ${moment(from)} to ` +
		`${moment(to)} (${duration(to - from)}): code ran and was traced for ` +
		`${duration(sums.all + sums.lost)}, of all CPUs together.`;

	losses.forEach(([why, ticks, count]) => {
		text += ` Lost ${duration(ticks)}, ${many(count, "gap")}: ${why}.`;
	});
	if (sums.merged)
		text += ` ${duration(sums.merged)} are in short calls that were merged.`;
	if (sums.lost)
		text += ` ${duration(sums.lost)} are of call paths for which there was no room.`;
	element("stretch").textContent = text;
}

function choose(from, to) {
	[stretch.first, stretch.end] = bucketsOf(from, to);
	stretch.sums = pathSums(stretch.first, stretch.end);
	stretch.rows = functionSums(stretch.sums);
	box.root = box.at = -1;
	callsShown = CALLS_STEP;
	showAll();
}

function showAll() {
	drawTimeline();
	showStretch();
	drawFlame();
	showFunctions();
	showCalls();
}

function search(text) {
	box.match = text.trim().toLowerCase();
	callsShown = CALLS_STEP;
	drawFlame();
	showFunctions();
	showCalls();
}

function addNote(text, kind) {
	const made = document.createElement("li");

	made.textContent = text;
	made.className = kind || "";
	element("notes").append(made);
}

function showNotes() {
	const lost = data.lost.reduce((sum, ticks) => sum + ticks, 0);

	if (lost)
		addNote(`Lost in all: ${duration(lost)} of CPUs' time.`, "lost");
	if (data.untimedGaps)
		addNote(`${many(data.untimedGaps, "gap")} came before the first time.`, "lost");
	if (data.cut)
		addNote("The file ends too early.", "lost");
	if (data.mergedBelow)
		addNote(`So that the page is no larger, call paths with less than ${
			duration(data.mergedBelow)} in a stretch of ${duration(data.width)
			} were merged as “[short calls, merged]” of a caller: their calls are not ` +
			"counted for their functions below.");
	if (data.functionsLeftOut)
		addNote(`${data.functionsLeftOut} functions with little time have no name here: ` +
			"they are “[function left out]”.");
	if (data.stacksFull)
		addNote("There are too many different call paths: later ones count for their callers.");
	if (data.untimedCalls)
		addNote(`${many(data.untimedCalls, "call")} ended before the first time: not shown.`);
	if (new Set(data.cpus.filter((cpu) => cpu.ticks).map((cpu) => cpu.zero)).size > 1)
		addNote("Times count from the first of all CPUs; --time counts from each CPU's own.");
	if (!data.khz)
		addNote("It is not known how fast the TSC is: times are its ticks.");
}

function showHead() {
	element("file").textContent = data.file || "";
	document.title = `kipt: ${data.file || "trace"}`;
	element("summary").textContent = `${duration(data.last - data.first)} on ` +
		`${many(data.cpus.length, "CPU")}, ${many(data.tasks.length, "task")}; code ran and was traced for ` +
		`${duration(data.traced)}. Sums are of ${data.buckets} stretches of ` +
		`${duration(data.width)} each` + (data.time ? `; only --time ${data.time}.` : ".");
	showNotes();
}

/* ---- mouse and keys ---- */

function place(canvas, event) {
	const frame = canvas.getBoundingClientRect();

	return [event.clientX - frame.left, event.clientY - frame.top];
}

function dragEnd(event) {
	const [x] = place(timeline, event), far = Math.abs(x - drag.x) > 3;
	const level = levelNow({ width: timeline.clientWidth }), size = data.width * 2 ** level;
	const { from } = drag, to = timeAt(x), at = Math.floor((from - data.origin) / size);

	drag = null;
	if (far)
		choose(Math.min(from, to), Math.max(from, to));
	else
		choose(data.origin + at * size, data.origin + (at + 1) * size);
}

function timelineMove(event) {
	const [x, y] = place(timeline, event), lane = laneAt(y);

	if (drag) {
		drag.to = timeAt(x);
		drawTimeline();
	} else if (lane && x > LABEL) {
		element("timeline-status").textContent = columnText(lane, timeAt(x));
	}
}

const timelineKeys = {
	ArrowLeft: () => pan(-0.25), ArrowRight: () => pan(0.25),
	ArrowUp: () => zoom(0.5), ArrowDown: () => zoom(2), "+": () => zoom(0.5),
	"=": () => zoom(0.5), "-": () => zoom(2), Home: wholeView,
	PageUp: () => moveLanes(-LANES_MOST), PageDown: () => moveLanes(LANES_MOST),
	Enter: () => choose(view.from, view.to),
};

const flameKeys = {
	ArrowUp: () => stepBox(-1, 0), ArrowDown: () => stepBox(1, 0),
	ArrowLeft: () => stepBox(0, -1), ArrowRight: () => stepBox(0, 1),
	Enter: () => showBox(box.at), Escape: () => showBox(-1),
};

function listenKeys(canvas, keys) {
	canvas.addEventListener("keydown", (event) => {
		if (!keys[event.key] || event.ctrlKey || event.altKey || event.metaKey)
			return;
		event.preventDefault();
		keys[event.key]();
	});
}

function listenTimeline() {
	timeline.addEventListener("pointerdown", (event) => {
		const [x] = place(timeline, event);

		if (event.button || x < LABEL)
			return;
		timeline.setPointerCapture(event.pointerId);
		drag = { x, from: timeAt(x), to: timeAt(x) };
	});
	timeline.addEventListener("pointermove", timelineMove);
	timeline.addEventListener("pointerup", (event) => drag && dragEnd(event));
	timeline.addEventListener("pointercancel", () => {
		drag = null;
		drawTimeline();
	});
	timeline.addEventListener("wheel", (event) => {
		event.preventDefault();
		if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
			pan((event.deltaX || event.deltaY) / 1000);
		else
			zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(place(timeline, event)[0]));
	}, { passive: false });
	listenKeys(timeline, timelineKeys);
}

function listenFlame() {
	flame.addEventListener("click", (event) => showBox(boxAt(...place(flame, event))));
	flame.addEventListener("mousemove", (event) => {
		const n = boxAt(...place(flame, event));

		if (n >= 0)
			element("flame-status").textContent = boxText(n);
	});
	flame.addEventListener("focus", drawFlame);
	flame.addEventListener("blur", drawFlame);
	listenKeys(flame, flameKeys);
}

function listenButtons() {
	const buttons = {
		"zoom-in": () => zoom(0.5), "zoom-out": () => zoom(2), left: () => pan(-0.5),
		right: () => pan(0.5), whole: () => { wholeView(); choose(data.first, data.last + 1); },
		take: () => choose(view.from, view.to), "lanes-up": () => moveLanes(-LANES_MOST),
		"lanes-down": () => moveLanes(LANES_MOST), "flame-all": () => showBox(-1),
		more: () => { callsShown += CALLS_STEP; showCalls(); },
	};

	Object.keys(buttons).forEach((id) => element(id).addEventListener("click", buttons[id]));
	element("lanes-up").hidden = element("lanes-down").hidden = lanes.length <= LANES_MOST;
	element("search").addEventListener("input", () => search(element("search").value));
}

/* For tests of the page, and for whoever has its console open. */
window.kipt = {
	get drawn() { return drawn.timeline + drawn.flame; },
	get view() { return { ...view }; },
	get stretch() {
		return { first: stretch.first, end: stretch.end, all: stretch.sums.all,
			 self: stretch.sums.self.reduce((a, b) => a + b, 0) };
	},
	get boxes() { return box.list.map(([n, x, w, row]) => ({ n, x, w, row })); },
	functions: () => functionRows().map(([f, row]) => ({ name: functionName(f), ...row })),
	calls: () => callsOfStretch().length,
	choose, search, pan, zoom, data,
};

showHead();
listenTimeline();
listenFlame();
listenButtons();
choose(data.first, data.last + 1);
window.addEventListener("resize", () => { drawTimeline(); drawFlame(); });
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
	drawTimeline();
	drawFlame();
});
