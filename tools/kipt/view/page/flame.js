// SPDX-License-Identifier: GPL-2.0-only
/*
 * The flame graph of the chosen stretch.
 */
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
