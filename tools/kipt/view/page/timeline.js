// SPDX-License-Identifier: GPL-2.0-only
/*
 * The timeline: a lane for each CPU and each task, and what moves it.
 */
const lanes = (() => {
	const found = data.cpus.map((cpu, i) => ({ key: "c" + i, name: cpuName(i), cpu: true }));
	const whole = levelSums(0);

	if (whole.has("c-1"))
		found.push({ key: "c-1", name: "CPUs without a lane", cpu: true });
	const ran = data.tasks.map((task, i) => ({ key: "t" + i, name: taskName(task), task }))
		.filter((lane) => whole.has(lane.key)).sort((a, b) => b.task.ticks - a.task.ticks);

	if (whole.has("t-1"))
		ran.push({ key: "t-1", name: taskName() });
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
		/* A task has one CPU at a time, what is none may be on all of them. */
		const ran = column.ran / (lane.task && lane.task.tid ? 1 : data.cpus.length);

		rectangle(paper, "timeline", laneColor(Number(lane.key.slice(1))), x,
			  base - Math.max(high(ran), 1), w, Math.max(high(ran), 1));
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
	label(paper, "timeline", lane.name, 4, y + LANE / 2, LABEL - 10, color("--text"));
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

	label(paper, "timeline", `Time in ${unit}`, 4, AXIS / 2, LABEL - 10, color("--dim"));
	for (let n = Math.ceil(view.from / divisor / step); n * step * divisor <= view.to; n++) {
		const x = xOf(paper, n * step * divisor);

		rectangle(paper, "timeline", color("--line"), x, 0, 1, paper.height);
		label(paper, "timeline", (n * step).toFixed(digits), x + 3, AXIS / 2,
		      paper.width - x - 3, color("--dim"));
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
