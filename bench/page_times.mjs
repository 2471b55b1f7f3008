// How long a page takes in a browser: node page_times.mjs PLAYWRIGHT CHROMIUM sonde PAGE | speedscope PAGE FILE
//
// Prints JSON, times in ms as the page's own clock has them, from what was done to the frame that shows it. sonde's
// page has its data in it; speedscope's gets a file.

import fs from "node:fs"
import path from "node:path"
import { pathToFileURL } from "node:url"

const [modules, program, kind, file, data] = process.argv.slice(2)
const { chromium } = await import(pathToFileURL(path.join(modules, "index.mjs")))
const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox", "--disable-gpu"] })
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
const wait = { timeout: 240000, polling: "raf" }
const now = () => page.evaluate(() => performance.now())
const answered = () => page.waitForFunction(() => document.querySelector(".view[aria-busy=false]") && performance.now(), null, wait)
	.then(handle => handle.jsonValue())

// From an action to its answer: the action first makes the view busy, or changes nothing.
const timed = async action => {
	const begin = await now()
	await action()
	await page.evaluate(() => new Promise(done => setTimeout(done)))
	return await answered() - begin
}

// The largest process of the browser that draws pages.
const memory = () => Math.max(...fs.readdirSync("/proc").filter(name => /^\d+$/.test(name)).map(pid => {
	try {
		if (!fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--type=renderer")) return 0
		return +/^Rss:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))[1] / 1024
	} catch { return 0 }
}))

// Gaps between frames while the wheel turns over a canvas.
const gaps = async selector => {
	const box = await page.locator(selector).boundingBox()
	await page.mouse.move(box.x + box.width / 2, box.y + Math.min(box.height, 600) / 2)
	await page.evaluate(() => {
		window.gaps = []
		let last = performance.now()
		const step = at => { window.gaps.push(at - last); last = at; window.frame = requestAnimationFrame(step) }
		requestAnimationFrame(at => { last = at; window.frame = requestAnimationFrame(step) })
	})
	for (let i = 0; i < 120; i++) {
		await page.mouse.wheel(0, i % 40 < 20 ? 60 : -60)
		await page.waitForTimeout(16)
	}
	return page.evaluate(() => { cancelAnimationFrame(window.frame); return window.gaps.sort((a, b) => a - b) })
}

const result = {}
if (kind === "sonde") {
	await page.goto(pathToFileURL(file).href)
	result.first = await answered()
	result.read = await page.evaluate(() => performance.getEntriesByType("navigation")[0].responseEnd)
	result.views = {}
	const tabs = await page.locator("[role=tab]").allInnerTexts()
	for (let i = 0; i < tabs.length && i < 9; i++) result.views[tabs[i]] = await timed(() => page.keyboard.press(`${i + 1}`))
	await timed(() => page.keyboard.press("1"))
	const box = await page.locator(".timeline canvas").boundingBox()
	await page.mouse.move(box.x + 500, box.y + 30)
	await page.mouse.down()
	await page.mouse.move(box.x + 800, box.y + 30, { steps: 5 })
	// From the pointer's last move to the frame that shows the view of that time, which follows.
	await page.evaluate(() => {
		let begin = 0
		addEventListener("pointermove", event => { if (event.buttons) begin = performance.now() }, true)
		const look = () => {
			if (begin && document.querySelector(".view[aria-busy=false]")) {
				window.dragged = performance.now() - begin
				begin = 0
			}
			requestAnimationFrame(look)
		}
		look()
	})
	await page.mouse.move(box.x + 850, box.y + 30)
	await answered()
	result.drag = await page.evaluate(() => window.dragged)
	await page.mouse.up()
	await answered()
	await timed(() => page.keyboard.press("u"))
	result.gaps = await gaps(".flame canvas")
} else {
	await page.goto(pathToFileURL(file).href)
	const title = await page.title()
	const begin = await now()
	await page.setInputFiles("input[type=file]", data)
	await page.waitForFunction(title => document.title !== title && document.title.includes(" - "), title, wait)
	result.first = await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))) - begin
}
result.memory = memory()
await browser.close()
console.log(JSON.stringify(result))
