// Drives pages in Chromium, by Playwright.  See page_driver.mjs.

import fs from "node:fs"

import { drive, given } from "./page_driver.mjs"

const [{ chromium }, program] = await given("index.mjs")
const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox", "--disable-gpu"] })

async function open({ width, height, dark }) {
	const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light" })
	return { context, page: await context.newPage() }
}

function stepsOf(page) {
	const settled = () => page.waitForFunction(() => !document.querySelector("[aria-busy=true]") &&
		document.querySelector(".view, .drop, p[role=alert]"), null, { timeout: 60000 })

	const does = {
		settle: settled,
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
		script: async file => { await page.evaluate(fs.readFileSync(file, "utf8")) },
		setFile: async file => page.setInputFiles("input[type=file]", file),
		media: async media => { await page.emulateMedia({ media }); await page.waitForTimeout(200) },
		shot: async file => { await page.screenshot({ path: file }) },
	}
	return does
}

await drive(browser, open, stepsOf)
