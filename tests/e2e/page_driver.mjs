// What the drivers of browsers share: node page_BROWSER.mjs MODULES PROGRAM < PAGES
//
// Each line of PAGES is JSON: {url, width, height, dark, steps: [[DO, …], …]}.  Prints a line of JSON for each: what each
// step gives, the errors of the page, and every request that it made beyond itself.

import path from "node:path"
import readline from "node:readline"
import { pathToFileURL } from "node:url"

// A file of MODULES as a module, and PROGRAM.
export async function given(file) {
	const [modules, program] = process.argv.slice(2)
	return [await import(pathToFileURL(path.join(modules, file))), program]
}

// A driver's own steps, and those that are the same in all browsers.
function withShared(own, page, url) {
	const { settle } = own
	return {
		open: async other => { await page.goto(other ?? url); await settle() },
		press: async (...keys) => { for (const key of keys) { await page.keyboard.press(key); await settle() } },
		eval: async source => page.evaluate(source),
		drop: async file => {
			await own.setFile(file)
			await page.waitForSelector(".view, p[role=alert]")
			await settle()
		},
		...own,
	}
}

// For each line, open(asked) gives {context, page}, and stepsOf(page) the browser's own steps.  Two of them are needed: `settle`,
// which waits until the page has answered all that it asked, and `setFile`.
export async function drive(browser, open, stepsOf) {
	for await (const line of readline.createInterface({ input: process.stdin })) {
		const asked = JSON.parse(line)
		const { context, page } = await open({ width: 1440, height: 900, ...asked })
		const errors = [], requests = [], results = []
		page.on("pageerror", error => errors.push(error.message))
		page.on("console", message => { if (message.type() === "error") errors.push(message.text()) })
		page.on("request", request => { if (!request.url().startsWith(asked.url) && !request.url().startsWith("blob:")) requests.push(request.url()) })

		const does = withShared(stepsOf(page), page, asked.url)
		try {
			for (const [step, ...more] of asked.steps) results.push((await does[step](...more)) ?? null)
		} catch (error) {
			errors.push(`step ${results.length} ${JSON.stringify(asked.steps[results.length])}: ${error.message}`)
		}
		await context.close()
		console.log(JSON.stringify({ results, errors, requests }))
	}
	await browser.close()
}
