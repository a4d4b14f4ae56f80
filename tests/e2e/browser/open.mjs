// A real browser opens a page that `hookctl report` wrote: node open.mjs --page FILE --playwright DIR
// The charts are there and have something in them; nothing is fetched, nothing runs, nothing is complained about.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const text = { type: "string" };
const { values: args } = parseArgs({ options: { page: text, playwright: text } });
const require = createRequire(join(resolve(args.playwright ?? "."), "x.js"));
const { chromium } = require("playwright-core");
const flags = ["no-sandbox", "disable-gpu", "no-first-run", "disable-background-networking", "disable-component-update", "disable-sync"];
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: flags.map((flag) => `--${flag}`),
});
try {
  const page = await browser.newPage({ viewport: { width: 900, height: 1200 } });
  const address = pathToFileURL(resolve(args.page)).href;
  const [seen, said] = [[], []];
  page.on("request", (request) => seen.push(request.url()));
  for (const event of ["pageerror", "console", "dialog"]) page.on(event, (what) => said.push(`${event}: ${what.text?.() ?? what}`));
  await page.goto(address, { waitUntil: "load" });
  const found = await page.evaluate(() => ({
    charts: document.querySelectorAll("svg").length,
    empty: [...document.querySelectorAll("svg")].filter((chart) => !chart.querySelector("rect")).length,
    foreign: document.querySelectorAll("img, script, link, iframe, object, form").length,
  }));
  assert.deepEqual(seen, [address]);
  assert.deepEqual(said, []);
  assert.ok(found.charts >= 4 && found.empty === 0 && found.foreign === 0, JSON.stringify(found));
  console.log(`${found.charts} charts, nothing fetched, nothing complained of`);
} finally {
  await browser.close();
}
