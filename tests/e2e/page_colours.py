"""The page's colours, as people with and without colour blindness see them, and text that can be read.

Colour blindness is simulated as Machado, Oliveira and Fernandes do (IEEE TVCG 15, 2009), at its strongest; how far two
colours are apart is their distance in CIE L*a*b*, of which 2 can just be seen; contrast is that of WCAG 2.2."""

import math
import re

import harness
from harness import SOURCE_ROOT

SEEN = {
	"by most": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
	"without red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
	"without green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
	"without blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
# What stands beside each other and means different things; and more and less of a difference, in tables and in flame graphs.
APART = [(a, b, 20) for a, b in (("user", "kernel"), ("user", "preempted"), ("kernel", "preempted"), ("user", "blocked"), ("kernel", "blocked"),
	("user", "lane"), ("kernel", "lane"), ("preempted", "lane"), ("tick", "lane"), ("hot", "accent"), ("hot", "ink"), ("accent", "ink"))] + \
	[("preempted", "blocked", 10), ("blocked", "lane", 10), ("tick", "tick-even", 6)]
TEXT = [(text, ground) for ground in ("bg", "panel", "accent-bg") for text in ("ink", "dim", "faint", "hot", "accent")]


def themes():
	css = (SOURCE_ROOT / "src/page/ui/style.css").read_text()
	light, dark = (dict(re.findall(r"--([\w-]+):\s*#([0-9a-fA-F]+)", re.search(name + r"\s*\{([^}]*)\}", css)[1]))
		for name in (":root", r":root\[data-theme=dark\]"))
	assert set(dark) <= set(light) and len(light) > 15
	return {"light": light, "dark": {**light, **dark}}


def linear(colour):
	wide = "".join(c * 2 for c in colour) if len(colour) == 3 else colour
	parts = [int(wide[i:i + 2], 16) / 255 for i in (0, 2, 4)]
	return [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]


def lab(rgb):
	x, y, z = (0.4124 * rgb[0] + 0.3576 * rgb[1] + 0.1805 * rgb[2]) / 0.95047, 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2], \
		(0.0193 * rgb[0] + 0.1192 * rgb[1] + 0.9505 * rgb[2]) / 1.08883
	x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
	return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def apart(a, b, matrix):
	return math.dist(*(lab([min(max(sum(m * c for m, c in zip(row, linear(colour))), 0), 1) for row in matrix]) for colour in (a, b)))


def contrast(a, b):
	less, more = sorted(sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear(colour))) for colour in (a, b))
	return (more + 0.05) / (less + 0.05)


def test_colours_are_apart_for_everybody():
	for theme, colours in themes().items():
		for a, b, least in APART:
			for who, matrix in SEEN.items():
				distance = apart(colours[a], colours[b], matrix)
				assert distance >= least, f"{theme}: {a} and {b} are {distance:.1f} apart, seen {who}"


def test_more_and_less_are_apart_in_flame_graphs():
	source = (SOURCE_ROOT / "src/view/svg/colours.c").read_text()
	more, less, same = (re.search(rf"#define {name}\s+0x([0-9a-f]{{6}})u", source)[1] for name in ("MORE", "LESS", "UNCHANGED"))
	for who, matrix in SEEN.items():
		for a, b in ((more, less), (more, same), (less, same)):
			assert apart(a, b, matrix) >= 30, (a, b, who)


def test_text_can_be_read():
	for theme, colours in themes().items():
		for text, ground in TEXT:
			assert contrast(colours[text], colours[ground]) >= 4.5, f"{theme}: {text} on {ground}, {contrast(colours[text], colours[ground]):.2f}"


if __name__ == "__main__":
	harness.main()
