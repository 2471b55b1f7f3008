// Runs the module of a page outside of a browser: node page_module.mjs PAGE.html < REQUESTS
//
// REQUESTS are lines of JSON: [FILE, NAME, [REQUEST, …]].  Prints a line for each: the answers in
// base64, that to opening the file first.  The module's system calls are those of ui/wasm.ts.

import fs from "node:fs"
import zlib from "node:zlib"

const page = fs.readFileSync(process.argv[2], "utf8")
const packed = /id="module">([^<]*)</.exec(page)[1]
const compiled = new WebAssembly.Module(zlib.gunzipSync(Buffer.from(packed, "base64")))

class Ended extends Error {}

function start() {
	let memory
	const system = {
		fd_write(_fd, pieces, count, written) {
			const view = new DataView(memory.buffer)
			let total = 0
			for (let i = 0; i < count; i++) total += view.getUint32(pieces + 8 * i + 4, true)
			view.setUint32(written, total, true)
			return 0
		},
		proc_exit() { throw new Ended() },
	}
	const imports = new Proxy(system, { get: (known, name) => known[name] ?? (() => 8) })
	const { exports } = new WebAssembly.Instance(compiled, { wasi_snapshot_preview1: imports })
	memory = exports.memory
	exports._initialize()
	const put = bytes => {
		const at = exports.page_alloc(bytes.length)
		new Uint8Array(memory.buffer, at, bytes.length).set(bytes)
		return at
	}
	const reply = () => Buffer.from(new Uint8Array(memory.buffer, exports.page_reply(), exports.page_reply_size()))
	let opened = 0
	return {
		open(bytes, name) {
			exports.page_open(put(bytes), bytes.length, put(Buffer.from(`${name}\0`)), opened)
			const told = reply()
			if ("profile" in JSON.parse(told)) opened++
			return told
		},
		ask(request) {
			const bytes = Buffer.from(JSON.stringify(request))
			exports.page_ask(put(bytes), bytes.length)
			return reply()
		},
	}
}

for (const line of fs.readFileSync(0, "utf8").split("\n")) {
	if (!line) continue
	const [file, name, requests] = JSON.parse(line), answers = []
	try {
		const module = start()
		answers.push(module.open(fs.readFileSync(file), name).toString("base64"))
		for (const request of requests) answers.push(module.ask(request).toString("base64"))
	} catch (error) {
		answers.push(error instanceof Ended ? "ended" : `failed ${error}`)
	}
	console.log(JSON.stringify(answers))
}
