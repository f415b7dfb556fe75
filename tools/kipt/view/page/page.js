// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables and sentences of the chosen stretch, and what keys and the mouse do.
 */
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

/* Where the source code of the function of a call begins. */
function lineText(i) {
	return callLine[i] < 0 ? "" : data.lines[callLine[i]];
}

function callsNote(count, all) {
	const number = (n) => n.toLocaleString("en"), seen = data.callsSeen;
	const text = `Calls of the stretch in this page: ${number(count)}`;

	if (all)
		return text + ", which has each call of the trace.";
	return text + `. Of ${number(seen)} calls of the trace it has the ` +
		`${number(callBegin.length)} longest; of all others there are only sums. ${commandNote()}`;
}

function showCalls() {
	const found = callsOfStretch(), all = callsAll();
	const made = table("calls", [["duration"], ["begin"], ["function", "text"], ["CPU", "text"],
		["task", "text"], ["level"], ...(data.lines ? [["source", "text"]] : []),
		["", "text"], ["", "text"]]);

	found.slice(0, callsShown).forEach((i) => addRow(made, [[duration(callTicks[i])],
		[moment(callBegin[i])], [functionName(callFunction[i]), "text name"],
		[cpuName(callCpu[i]), "text"],
		[taskName(taskByTid.get(callTid[i]) || { tid: callTid[i] }), "text"], [callLevel[i]],
		...(data.lines ? [[lineText(i), "text"]] : []),
		[flagText(callFlags[i]), "text"], ["", "text"]]).lastChild.append(goButton(i)));
	element("calls-note").textContent = callsNote(found.length, all);
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

/* CPUs in whose time code ran, or was lost. */
const timedCpus = data.cpus.filter((cpu) => cpu.ticks);
/* --time counts from the zero of each CPU. */
const zerosDiffer = timedCpus.some((cpu) => cpu.zero !== timedCpus[0].zero);

/* A time of the page as --time has it. */
function timeWord(ticks, zero, round) {
	const since = Math.max(ticks - zero, 0);

	return data.khz ? round(inNanoseconds(since)) + "ns" : String(since);
}

/* A page is not written over the one that shows its command. */
function stretchFile(more) {
	const shown = location.pathname.split("/").pop();
	const numbered = /^stretch([0-9]*)/.exec(shown);

	return `stretch${numbered ? Number(numbered[1] || 1) + 1 : ""}${more}.html`;
}

function commandOf(from, to, zero, cpu) {
	const time = `--time ${timeWord(from, zero, Math.floor)},${timeWord(to, zero, Math.ceil)}`;
	const chosen = cpu === undefined ? data.typedCpus || "" : ` --cpu ${cpu}`;

	if (data.command === null)
		return `${cpu === undefined ? "" : chosen.trim() + " "}${time}`;
	return `${data.command} ${time} --html ` +
		`${stretchFile(cpu === undefined ? "" : "-cpu" + cpu)}${chosen}${data.typed}`;
}

/* Commands for pages of the stretch: one, or where zeros differ one for each CPU. */
function commands() {
	const from = Math.max(bucketTime(stretch.first), data.first);
	const to = Math.min(bucketTime(stretch.end), data.last);

	if (!zerosDiffer)
		return [commandOf(from, to, timedCpus.length ? timedCpus[0].zero : 0)];
	return timedCpus.filter((cpu) => cpu.cpu !== null && cpu.first <= to && cpu.last >= from)
		.map((cpu) => commandOf(Math.max(from, cpu.first), Math.min(to, cpu.last), cpu.zero,
					cpu.cpu));
}

function commandText() {
	const list = commands(), more = list.length - COMMANDS_MOST;

	return list.slice(0, COMMANDS_MOST).join("\n") +
		(more > 0 ? `\n… and so for ${many(more, "CPU")} more` : "");
}

function commandNote() {
	const what = "with each call of it if they are not too many:";
	const added = data.command === null ? "added to the command of this page, " : "";

	if (zerosDiffer)
		return "CPUs do not begin at the same time, and --time counts from the begin of each: " +
			`${added}each of these makes a page of the stretch on a CPU alone, ${what}`;
	if (data.command === null)
		return "Add this to the command of this page, in place of any other --time, for a " +
			`page of the stretch alone, ${what}`;
	return `This makes a page of the stretch alone, ${what}`;
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
	if (data.interrupted)
		addNote("It was interrupted: the page is of what was read up to then.", "lost");
	if (data.cut)
		addNote("The file ends too early.", "lost");
	if (data.mergedBelow)
		addNote(`So that the page is no larger, call paths with less than ${
			duration(data.mergedBelow)} in a stretch of ${duration(data.width)
			} were merged as “[short calls, merged]” of a caller: their calls are not ` +
			"counted for their functions below.");
	if (data.functionsLeftOut)
		addNote(`${many(data.functionsLeftOut, "function")} with little time ` +
			"have no name here: they are “[function left out]”.");
	if (data.tasksLeftOut)
		addNote(`${many(data.tasksLeftOut, "task")} of those that ran least have no lane: what ` +
			"they ran is in “tasks unknown or left out”.");
	if (data.stacksFull)
		addNote("There are too many different call paths: later ones count for their callers.");
	if (data.untimedCalls)
		addNote(`${many(data.untimedCalls, "call")} ended before the first time: not shown.`);
	if (zerosDiffer)
		addNote("Times count from the first of all CPUs; --time counts from each CPU's own.");
	if (!data.khz)
		addNote("It is not known how fast the TSC is: times are its ticks.");
}

function showHead() {
	element("file").textContent = data.file || "";
	document.title = `kipt: ${data.file || "trace"}`;
	element("summary").textContent = `${duration(data.last - data.first)} on ` +
		`${many(data.cpus.length, "CPU")}, ${many(data.tasks.length + data.tasksLeftOut, "task")}; code ran ` +
		`and was traced for ${duration(data.traced)}. Sums are of ${many(data.buckets, "stretch", "es")
		} of ${duration(data.width)} each` + (data.time ? `; only --time ${data.time}.` : ".");
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
