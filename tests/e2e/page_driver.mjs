// Drives pages in one browser: node page_driver.mjs PLAYWRIGHT CHROMIUM < PAGES
//
// Each line of PAGES is JSON: {url, width, height, dark, steps: [[DO, …], …]}.  Prints a line of JSON for each: what each
// step gives, the errors of the page, and every request that it made beyond itself.

import fs from "node:fs"
import path from "node:path"
import readline from "node:readline"
import { pathToFileURL } from "node:url"

const [modules, program] = process.argv.slice(2)
const { chromium } = await import(pathToFileURL(path.join(modules, "index.mjs")))

const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox", "--disable-gpu"] })

async function drive(given) {
	const context = await browser.newContext({ viewport: { width: given.width ?? 1440, height: given.height ?? 900 }, colorScheme: given.dark ? "dark" : "light" })
	const page = await context.newPage()
	const errors = [], requests = [], results = []
	page.on("pageerror", error => errors.push(error.message))
	page.on("console", message => { if (message.type() === "error") errors.push(message.text()) })
	page.on("request", request => { if (!request.url().startsWith(given.url) && !request.url().startsWith("blob:")) requests.push(request.url()) })

	// The page has answered all that it asked.
	const settled = () => page.waitForFunction(() => !document.querySelector("[aria-busy=true]") &&
		document.querySelector(".view, .drop, p[role=alert]"), null, { timeout: 60000 })

	const does = {
		open: async url => { await page.goto(url ?? given.url); await settled() },
		settle: settled,
		press: async (...keys) => { for (const key of keys) { await page.keyboard.press(key); await settled() } },
		type: async text => page.keyboard.type(text),
		click: async selector => { await page.click(selector); await settled() },
		fill: async (selector, text) => { await page.fill(selector, text); await settled() },
		enter: async (selector, text) => { await page.fill(selector, text); await page.press(selector, "Enter"); await page.waitForTimeout(50); await settled() },
		choose: async (selector, value) => { await page.selectOption(selector, value); await settled() },
		// With the pointer still down.
		hold: async (selector, from, to) => {
			const box = await page.locator(selector).boundingBox()
			await page.mouse.move(box.x + from[0], box.y + from[1])
			await page.mouse.down()
			await page.mouse.move(box.x + to[0], box.y + to[1], { steps: 5 })
			await page.waitForTimeout(50)
			await settled()
		},
		release: async () => {
			await page.mouse.up()
			await page.waitForTimeout(50)
			await settled()
		},
		drag: async (selector, from, to) => {
			await does.hold(selector, from, to)
			await does.release()
		},
		hover: async (selector, at) => {
			const box = await page.locator(selector).boundingBox()
			await page.mouse.move(box.x + at[0], box.y + at[1])
		},
		double: async (selector, at) => {
			const box = await page.locator(selector).boundingBox()
			await page.mouse.dblclick(box.x + at[0], box.y + at[1])
			await settled()
		},
		wheel: async (selector, at, by, key) => {
			const box = await page.locator(selector).boundingBox()
			await page.mouse.move(box.x + at[0], box.y + at[1])
			const before = await page.evaluate(() => location.hash)
			await page.keyboard.down(key)
			await page.mouse.wheel(...by)
			await page.keyboard.up(key)
			await page.waitForFunction(before => location.hash !== before, before)
			await settled()
		},
		see: async selector => { await page.waitForSelector(selector) },
		texts: async selector => page.locator(selector).allInnerTexts(),
		eval: async source => page.evaluate(source),
		script: async file => { await page.evaluate(fs.readFileSync(file, "utf8")) },
		drop: async file => {
			await page.setInputFiles("input[type=file]", file)
			await page.waitForSelector(".view, p[role=alert]")
			await settled()
		},
		media: async media => { await page.emulateMedia({ media }); await page.waitForTimeout(200) },
		shot: async file => { await page.screenshot({ path: file }) },
	}

	try {
		for (const [step, ...more] of given.steps) results.push((await does[step](...more)) ?? null)
	} catch (error) {
		errors.push(`step ${results.length} ${JSON.stringify(given.steps[results.length])}: ${error.message}`)
	}
	await context.close()
	return { results, errors, requests }
}

for await (const line of readline.createInterface({ input: process.stdin }))
	console.log(JSON.stringify(await drive(JSON.parse(line))))
await browser.close()
