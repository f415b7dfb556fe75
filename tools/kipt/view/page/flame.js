// SPDX-License-Identifier: GPL-2.0-only
/*
 * The flame graph of the chosen stretch.
 */
/* Paths in the order in which they are drawn: [node, x, width, row, callers], x from 0 to 1;
 * callers: so many share the box. Then how many are too narrow and too deep to be drawn, and of
 * none of these what it called.
 */
function layout() {
	const sums = stretch.sums, whole = box.root < 0 ? sums.all : sums.total[box.root];
	const width = flame.clientWidth, found = whole ? callers() : [], begin = found.length;
	const todo = whole ? [[box.root, 0, begin]] : [];
	let narrow = 0, deep = 0, cost = 0;

	for (let i = 0; i < todo.length; i++) {
		let [parent, x, row] = todo[i];
		const below = (children.get(parent) || []).filter((n) => sums.total[n])
			.sort((a, b) => sums.total[b] - sums.total[a]);

		for (const n of below) {
			const w = sums.total[n] / whole;

			if (w * width < 1 || cost >= BOXES_COST) {
				narrow++;
				continue;
			}
			if (row - begin >= ROWS_MOST) {
				deep++;
				continue;
			}
			found.push([n, x, w, row, 0]);
			cost += w * width < LABEL_LEAST ? 1 : 2;
			todo.push([n, x, row + 1]);
			x += w;
		}
	}
	return [found, narrow, deep];
}

/* The chosen box and the last of its callers, above it; all other callers are one box. */
function callers() {
	const all = ancestors(box.root), more = all.length - 1 - CALLERS_MOST;
	const shown = (more > 1 ? all.slice(0, CALLERS_MOST + 2) : all).reverse();

	return shown.map((n, row) => [n, 0, 1, row, more > 1 && !row ? more : 0]);
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

function drawBox(paper, [n, x, w, row, more]) {
	const f = more ? LEFT_OUT : nodeFunction[n], found = !more && matches(f);
	const left = x * paper.width, width = Math.max(w * paper.width - 1, 1);
	const text = more ? `… ${many(more, "caller")}` : functionName(f);

	rectangle(paper, "flame", found ? color("--match") : boxColor(f), left, row * ROW, width,
		  ROW - 1);
	label(paper, "flame", text, left + 3, row * ROW + ROW / 2, width - 6,
	      color(found ? "--on-match" : "--on-box"));
	if (n !== box.at || document.activeElement !== flame)
		return;
	paper.context.strokeStyle = color("--text");
	paper.context.lineWidth = 2;
	paper.context.strokeRect(left + 1, row * ROW + 1, Math.max(width - 2, 1), ROW - 3);
	drawn.flame++;
}

function drawFlame() {
	const [list, narrow, deep] = layout();
	const rows = list.reduce((most, [, , , row]) => Math.max(most, row), 0) + 1;
	const paper = canvasOf(flame, rows * ROW + 2);

	drawn.flame = 0;
	box.list = list;
	list.forEach((entry) => drawBox(paper, entry));
	if (!list.length)
		label(paper, "flame", "No code ran in this stretch, as far as it was traced.", 6,
		      ROW / 2 + 1, paper.width, color("--dim"));
	element("flame-status").textContent =
		[box.at >= 0 ? boxText(box.at) + "." : "", hiddenText(narrow, deep)].join(" ").trim();
}

function hiddenText(narrow, deep) {
	const text = [narrow ? `${many(narrow, "call path")} too narrow` : "",
		      deep ? `${many(deep, "call path")} too deep` : ""].filter(Boolean).join(" and ");

	return text ? `At least ${text} to be drawn; click a box to see more.` : "";
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
