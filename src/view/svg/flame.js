/*
 * What a flame graph does in a browser: it fills the window, a click makes a box as wide as the
 * window or opens a fold, a search paints boxes and says how much of the whole they are.  Without
 * scripts the picture is complete as it stands.
 *
 * Each box is a <g class="b"> with data-s, data-w (start and width, in the metric's unit), data-d
 * (depth) and data-l (how much of the title is the name), a <title>, a <rect> and a <text>.  A fold,
 * <g class="f">, stands for the next data-n boxes.  Boxes are in pre-order.
 */
(function () {
	"use strict";
	var svg = document.documentElement;
	var status = svg.querySelector("#status"), found = svg.querySelector("#found");
	var notes = svg.querySelector("#notes");
	var MARGIN = 10, LETTER = 7.1, BOX = 17, NARROW = 0.5;

	function number(g, name) {
		return +g.getAttribute("data-" + name);
	}

	var boxes = Array.prototype.map.call(svg.querySelectorAll("g.b, g.f"), function (g) {
		var title = g.querySelector("title").textContent, text = g.querySelector("text");
		var folds = number(g, "n");
		return {
			g: g, rect: g.querySelector("rect"), text: text, title: title, folds: folds,
			name: folds ? title.replace(/:.*/, "") : title.slice(0, number(g, "l")),
			start: number(g, "s"), width: number(g, "w"), depth: number(g, "d"), open: false
		};
	});
	var root = boxes[0], top = root, pattern = null;
	var first = +root.rect.getAttribute("y"), rows = number(notes, "rows");
	var after = +svg.getAttribute("height") - first - rows * BOX;

	function pixels(scrolls) {
		return Math.max(400, (window.innerWidth || 1200) - 2 * MARGIN - (scrolls ? 16 : 0));
	}

	function fit(box, width) {
		var letters = Math.floor((width - 6) / LETTER), name = box.name;
		box.text.textContent = letters < 3 ? "" :
			name.length <= letters ? name : name.slice(0, letters - 2) + "..";
	}

	function place(box, x, width, row, pale) {
		box.g.style.opacity = pale ? 0.5 : 1;
		box.rect.setAttribute("x", (MARGIN + x).toFixed(1));
		box.rect.setAttribute("width", (width > 3 ? width - 1 : width).toFixed(1));
		box.rect.setAttribute("y", first + row * BOX);
		box.text.setAttribute("x", (MARGIN + x + 3).toFixed(1));
		box.text.setAttribute("y", first + row * BOX + 12);
		fit(box, width);
	}

	/* The zoomed box, its callers and what lies below it, as wide as the window; returns the height. */
	function lay_out(scrolls) {
		var all = pixels(scrolls), scale = all / (top.width || 1), row = [], most = 0;
		var folded = 0, fold_row = 0; /* boxes that are still in the fold, and its row */
		boxes.forEach(function (box) {
			var caller = box.depth < top.depth && box.start <= top.start &&
				box.start + box.width >= top.start + top.width;
			var x = caller ? 0 : (box.start - top.start) * scale;
			var width = caller || box === root ? all : box.width * scale;
			var shown = caller || (box.depth >= top.depth && width >= NARROW && x >= -0.01 && x < all);
			var at = box.depth ? row[box.depth - 1] + 1 : 0;
			if (box.folds) {
				folded = box.open ? 0 : box.folds;
				fold_row = at;
				shown = shown && !box.open;
			} else if (folded > 0) {
				folded--;
				row[box.depth] = fold_row;
				shown = false;
			} else {
				row[box.depth] = at;
			}
			box.g.style.display = shown ? "" : "none";
			if (!shown)
				return;
			most = Math.max(most, at);
			place(box, x, width, at, caller);
		});
		var height = first + (most + 1) * BOX + after;
		notes.setAttribute("transform", "translate(0 " + (most + 1 - rows) * BOX + ")");
		svg.setAttribute("width", all + 2 * MARGIN);
		svg.setAttribute("height", height);
		svg.setAttribute("viewBox", "0 0 " + (all + 2 * MARGIN) + " " + height);
		return height;
	}

	function draw() {
		if (lay_out(false) > window.innerHeight)
			lay_out(true);
	}

	/* Boxes below one that was found count with it: nothing twice.  Folds open for what is found. */
	function search() {
		var weight = 0, end = -1, count = 0, folded = 0, fold = null;
		boxes.forEach(function (box) {
			if (box.folds) {
				fold = box;
				folded = box.folds;
				return;
			}
			var hit = pattern && box !== root && pattern.test(box.name);
			box.rect.style.fill = hit ? "#ffd23f" : "";
			if (folded > 0) {
				folded--;
				fold.open = fold.open || hit;
			}
			if (!hit)
				return;
			count++;
			if (box.start >= end) {
				weight += box.width;
				end = box.start + box.width;
			}
		});
		found.textContent = !pattern ? "Search" :
			count + " found, " + (100 * weight / (root.width || 1)).toFixed(1) + "% (Esc: clear)";
	}

	function ask() {
		var text = window.prompt("Search for a function (regular expression):",
			pattern ? pattern.source : "");
		if (text === null)
			return;
		location.hash = text ? "s=" + encodeURIComponent(text) : "";
		set_pattern(text);
	}

	function set_pattern(text) {
		pattern = null;
		search();
		try {
			pattern = text ? new RegExp(text) : null;
		} catch (error) {
			status.textContent = error.message;
		}
		search();
		draw();
	}

	boxes.forEach(function (box) {
		box.g.addEventListener("mouseover", function () { status.textContent = box.title; });
		box.g.addEventListener("mouseout", function () { status.textContent = ""; });
		box.g.addEventListener("click", function () {
			if (box.folds)
				box.open = true;
			else
				top = box;
			draw();
		});
	});
	found.addEventListener("click", ask);
	window.addEventListener("resize", draw);
	window.addEventListener("keydown", function (event) {
		if (event.key === "/" || ((event.ctrlKey || event.metaKey) && event.key === "f")) {
			event.preventDefault();
			ask();
		} else if (event.key === "Escape") {
			top = root;
			boxes.forEach(function (box) { box.open = false; });
			set_pattern("");
		}
	});
	/* A link may search: flame.svg#s=malloc. */
	set_pattern(location.hash.slice(0, 3) === "#s=" ? decodeURIComponent(location.hash.slice(3)) : "");
})();
