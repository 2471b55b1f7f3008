/*
 * What speedscope itself makes of a file: node speedscope_import.cjs RELEASE_FOLDER FILE [totals].
 *
 * The package holds the web page's program only, one function around all.  It is run up to where it
 * would draw, with nothing but names in the place of a browser, and its importer is picked out by
 * what it does, as its names are shortened.
 *
 * Prints JSON: of each profile name, unit, total, and, unless only totals are asked for, each stack with its weight.
 */
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const folder = process.argv[2];
const program = fs.readdirSync(folder).find(f => /^speedscope-.*\.js$/.test(f));
let source = fs.readFileSync(path.join(folder, program), "utf8");
const importer = /function (\w+)\((\w+)\)\{return\{name:\2\.name\|\|\2\.profiles\[0\]\.name/.exec(source);
const end = source.lastIndexOf("})();");
if (!importer || end < 0) {
	console.error("speedscope's importer was not found in " + program);
	process.exit(3);
}
/* Functions are there before any line of the program runs: the call goes to the front of its end. */
const begin = source.indexOf("console.log(`speedscope v");
source = source.slice(0, begin) + `globalThis.take(${importer[1]});` + source.slice(end);

/* Anything may be asked of it, and is it again. */
const nothing = new Proxy(function () {}, {
	get: (target, key) => (key === Symbol.toPrimitive ? () => "" : key === Symbol.iterator ? function* () {} : nothing),
	set: () => true,
	apply: () => nothing,
	construct: () => nothing,
	has: () => true,
});
let take = null;
const sandbox = {
	console: { log() {}, warn() {}, error() {} }, TextDecoder, TextEncoder, URL, setTimeout, clearTimeout,
	performance, ArrayBuffer, Uint8Array, Math, JSON,
	take: f => (take = f),
};
for (const name of ["window", "document", "navigator", "location", "localStorage", "self", "screen",
	"requestAnimationFrame", "matchMedia", "HTMLElement", "Node", "Image", "FileReader", "Blob",
	"addEventListener", "history", "DOMParser", "XMLHttpRequest", "fetch", "Worker"])
	sandbox[name] = nothing;
vm.createContext(sandbox);
vm.runInContext(source, sandbox, { filename: program });

const group = take(JSON.parse(fs.readFileSync(process.argv[3], "utf8")));
const profiles = group.profiles.map(profile => {
	const totals = { name: profile.getName(), unit: profile.getWeightUnit(), total: profile.getTotalWeight() };
	if (process.argv[4] === "totals")
		return totals;
	const stacks = {};
	const open = [];
	let last = 0;
	const advance = at => {
		if (at > last && open.length)
			stacks[open.join(";")] = (stacks[open.join(";")] || 0) + (at - last);
		last = at;
	};
	profile.forEachCall(
		(node, at) => { advance(at); open.push(node.frame.name); },
		(node, at) => { advance(at); open.pop(); });
	const frames = [];
	profile.forEachFrame(f => frames.push({ name: f.name, file: f.file, line: f.line,
		self: f.getSelfWeight(), total: f.getTotalWeight() }));
	return { ...totals, stacks, frames };
});
console.log(JSON.stringify({ name: group.name, index: group.indexToView, profiles }));
