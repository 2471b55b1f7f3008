"""Pyroscope's client for Node, which others wrote: programs that it watches."""

import os

import harness
import npm

CLIENT = """
const Pyroscope = require('@pyroscope/nodejs').default;
Pyroscope.init({serverAddress: process.argv[2], appName: 'node-shop', tags: {env: 'test', hostname: 'n3'}, OPTIONS});
Pyroscope.start();
// Its timers may fire once more while it stops, and throw that.
let stops = false;
process.on('uncaughtException', (e) => {
	if (stops && /profiler is not (started|enabled)/.test(e.message)) return;
	console.error(e);
	process.exit(1);
});
function end(text) {
	stops = true;
	Pyroscope.stop().then(() => { console.log(text); process.exit(0); }, (e) => { console.error(e); process.exit(1); });
}
"""


def run_node(folder, options, work, url, *arguments):
	"""Runs JavaScript that calls end(text) when it is done, with more options of the client; what it printed."""
	package = npm.package("@pyroscope/nodejs", "0.6.4")
	script = folder / "client.js"
	script.write_text(CLIENT.replace("OPTIONS", options) + work)
	return harness.check(harness.run("node", script, url, *arguments, env={**os.environ, "NODE_PATH": str(package.parent.parent)},
		timeout=120 * harness.PATIENCE)).out
