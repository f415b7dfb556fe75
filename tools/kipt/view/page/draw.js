// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the charts share: what is seen, and how it is drawn. All that is drawn is counted.
 */
const LANE = 20, GAP = 5, LABEL = 170, AXIS = 22, LANES_MOST = 24, COLUMNS_COST = 2800;
const ROW = 19, BOXES_COST = 1900, ROWS_MOST = 200, CALLERS_MOST = 5;
const CALLS_STEP = 50, COMMANDS_MOST = 32;
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

/* Less room has no text. */
const LABEL_LEAST = 24;

function label(paper, where, text, x, y, room, fill) {
	let shown = text;

	if (room < LABEL_LEAST)
		return;
	drawn[where]++;
	if (paper.context.measureText(text).width > room) {
		let length = Math.floor(text.length * room / paper.context.measureText(text).width);

		length = Math.max(length - 2, 0);
		shown = length > 1 ? text.slice(0, length) + "…" : "";
	}
	paper.context.fillStyle = fill;
	paper.context.fillText(shown, x, y);
}
