// Drives pages in Firefox, by Puppeteer and WebDriver BiDi.  See page_driver.mjs.

import { drive, given } from "./page_driver.mjs"

const [{ default: puppeteer }, program] = await given("lib/esm/puppeteer/puppeteer-core.js")
const browser = await puppeteer.launch({ browser: "firefox", executablePath: program, headless: true })

async function open({ width, height }) {
	const context = await browser.createBrowserContext()
	const page = await context.newPage()
	await page.setViewport({ width, height })
	return { context, page }
}

// As far as they are needed here.
function stepsOf(page) {
	const settled = () => page.waitForFunction(() =>
		document.querySelector(".view[aria-busy=false]") || document.querySelector(".drop, p[role=alert]"), { timeout: 60000 })

	// The first element of a selector, which may end in :has-text('…').
	async function find(selector) {
		const [, before, text] = selector.match(/^(.*?)(?::has-text\('([^']*)'\))?$/)
		await page.waitForFunction((s, t) => [...document.querySelectorAll(s)].some(e => e.innerText.includes(t)), { timeout: 30000 }, before, text ?? "")
		return page.evaluateHandle((s, t) => [...document.querySelectorAll(s)].find(e => e.innerText.includes(t)), before, text ?? "")
	}

	return {
		settle: settled,
		click: async selector => { await (await find(selector)).click(); await settled() },
		enter: async (selector, text) => {
			await page.click(selector)
			await page.keyboard.type(text)
			await page.keyboard.press("Enter")
			await new Promise(done => setTimeout(done, 50))
			await settled()
		},
		choose: async (selector, value) => { await page.select(selector, value); await settled() },
		see: async selector => { await page.waitForSelector(selector, { visible: true }) },
		texts: async selector => page.$$eval(selector, all => all.map(e => e.innerText)),
		setFile: async file => (await page.$("input[type=file]")).uploadFile(file),
	}
}

await drive(browser, open, stepsOf)
