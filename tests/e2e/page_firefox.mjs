// Drives pages in Firefox by WebDriver BiDi: node page_firefox.mjs PUPPETEER FIREFOX < PAGES
//
// Pages and what is printed are those of page_driver.mjs, as far as they are needed here.

import path from "node:path"
import readline from "node:readline"
import { pathToFileURL } from "node:url"

const [modules, program] = process.argv.slice(2)
const { default: puppeteer } = await import(pathToFileURL(path.join(modules, "lib/esm/puppeteer/puppeteer-core.js")))

const browser = await puppeteer.launch({ browser: "firefox", executablePath: program, headless: true })

async function drive(given) {
	const context = await browser.createBrowserContext()
	const page = await context.newPage()
	await page.setViewport({ width: given.width ?? 1440, height: given.height ?? 900 })
	const errors = [], requests = [], results = []
	page.on("pageerror", error => errors.push(error.message))
	page.on("console", message => { if (message.type() === "error") errors.push(message.text()) })
	page.on("request", request => { if (!request.url().startsWith(given.url) && !request.url().startsWith("blob:")) requests.push(request.url()) })

	const settled = () => page.waitForFunction(() =>
		document.querySelector(".view[aria-busy=false]") || document.querySelector(".drop, p[role=alert]"), { timeout: 60000 })

	// The first element of a selector, which may end in :has-text('…').
	async function find(selector) {
		const [, before, text] = selector.match(/^(.*?)(?::has-text\('([^']*)'\))?$/)
		await page.waitForFunction((s, t) => [...document.querySelectorAll(s)].some(e => e.innerText.includes(t)), { timeout: 30000 }, before, text ?? "")
		return page.evaluateHandle((s, t) => [...document.querySelectorAll(s)].find(e => e.innerText.includes(t)), before, text ?? "")
	}

	const does = {
		open: async url => { await page.goto(url ?? given.url); await settled() },
		settle: settled,
		press: async (...keys) => { for (const key of keys) { await page.keyboard.press(key); await settled() } },
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
		eval: async source => page.evaluate(source),
		drop: async file => {
			await (await page.$("input[type=file]")).uploadFile(file)
			await page.waitForSelector(".view, p[role=alert]")
			await settled()
		},
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
