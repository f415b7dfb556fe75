// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of kipt diff, which can be read without this: a click on a head sorts it, a text
 * that is searched for leaves the rows of names that have it.
 */
const body = document.querySelector("tbody"), heads = [...document.querySelectorAll("th")];
const label = document.createElement("label"), search = document.createElement("input");
const isNumber = (cell) => cell && "n" in cell.dataset;

function value(row, column) {
	const cell = row.cells[column];

	return isNumber(cell) ? Math.abs(Number(cell.dataset.n)) : cell.textContent;
}

/* Numbers the largest first, whichever their sign; the second click turns the order. */
function sortBy(column) {
	const rows = [...body.rows], was = heads[column].getAttribute("aria-sort");
	const down = was ? was === "ascending" : rows.length && isNumber(rows[0].cells[column]);

	heads.forEach((head) => head.removeAttribute("aria-sort"));
	heads[column].setAttribute("aria-sort", down ? "descending" : "ascending");
	rows.sort((a, b) => {
		const x = value(a, column), y = value(b, column);

		return (down ? -1 : 1) * ((x > y) - (x < y));
	});
	body.append(...rows);
}

heads.forEach((head, column) => {
	const button = document.createElement("button");

	button.append(...head.childNodes);
	button.addEventListener("click", () => sortBy(column));
	head.append(button);
});
search.type = "search";
search.id = "search";
search.autocomplete = "off";
search.addEventListener("input", () => {
	const text = search.value.toLowerCase();

	for (const row of body.rows)
		row.hidden = !row.cells[0].textContent.toLowerCase().includes(text);
});
label.append("Search functions ", search);
document.querySelector("main").prepend(label);
