/*
 * What a flame graph does in a browser: it fills the window, a click makes a box as wide as the
 * window, a search paints boxes and says how much of the whole they are.  Without scripts the
 * picture is complete as it stands.
 *
 * Each box is a <g class="b"> with data-s, data-w (start and width, in the metric's unit), data-d
 * (depth) and data-l (how much of the title is the name), a <title>, a <rect> and a <text>.
 */
(function () {
	"use strict";
	var svg = document.documentElement;
	var boxes = Array.prototype.map.call(svg.querySelectorAll("g.b"), function (g) {
		var title = g.querySelector("title").textContent;
		return {
			g: g, rect: g.querySelector("rect"), text: g.querySelector("text"), title: title,
			name: title.slice(0, +g.getAttribute("data-l")),
			start: +g.getAttribute("data-s"), width: +g.getAttribute("data-w"),
			depth: +g.getAttribute("data-d")
		};
	});
	var status = svg.querySelector("#status"), found = svg.querySelector("#found");
	var root = boxes[0], top = root, pattern = null;
	var MARGIN = 10, LETTER = 7.1;

	function pixels() {
		return Math.max(400, (window.innerWidth || 1200) - 2 * MARGIN);
	}

	function fit(box, width) {
		var letters = Math.floor((width - 6) / LETTER), name = box.name;
		box.text.textContent = letters < 3 ? "" :
			name.length <= letters ? name : name.slice(0, letters - 2) + "..";
	}

	/* top, its callers and what lies above it, as wide as the window. */
	function draw() {
		var all = pixels(), scale = all / top.width;
		svg.setAttribute("width", all + 2 * MARGIN);
		svg.setAttribute("viewBox", "0 0 " + (all + 2 * MARGIN) + " " + svg.getAttribute("height"));
		boxes.forEach(function (box) {
			var below = box.depth < top.depth && box.start <= top.start &&
				box.start + box.width >= top.start + top.width;
			var x = below ? 0 : (box.start - top.start) * scale;
			var width = below ? all : box.width * scale;
			var shown = below || (box.depth >= top.depth && width >= 0.1 && x >= -0.01 && x < all);
			box.g.style.display = shown ? "" : "none";
			if (!shown)
				return;
			box.g.style.opacity = below ? 0.5 : 1;
			box.rect.setAttribute("x", (MARGIN + x).toFixed(1));
			box.rect.setAttribute("width", width.toFixed(1));
			box.text.setAttribute("x", (MARGIN + x + 3).toFixed(1));
			fit(box, width);
		});
	}

	/* Boxes above one that was found count with it: nothing twice. */
	function search() {
		var weight = 0, end = -1, count = 0;
		boxes.forEach(function (box) {
			var hit = pattern && box !== root && pattern.test(box.name);
			box.rect.style.fill = hit ? "#d040e0" : "";
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
			return;
		}
		search();
	}

	boxes.forEach(function (box) {
		box.g.addEventListener("mouseover", function () { status.textContent = box.title; });
		box.g.addEventListener("mouseout", function () { status.textContent = ""; });
		box.g.addEventListener("click", function () {
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
			set_pattern("");
			draw();
		}
	});
	/* A link may search: flame.svg#s=malloc. */
	set_pattern(location.hash.slice(0, 3) === "#s=" ? decodeURIComponent(location.hash.slice(3)) : "");
	draw();
	/* Flames grow upwards: the eye begins at the root. */
	window.scrollTo(0, svg.getAttribute("height"));
})();
