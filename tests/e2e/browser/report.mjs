// A real browser opens the page of `hookctl report`: node report.mjs --hookctl BIN --playwright DIR --out DIR
// Nothing is fetched, nothing runs, nothing of a hostile journal becomes markup; it is readable in light and dark.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const text = { type: "string" };
const { values: args } = parseArgs({ options: { hookctl: text, out: text, playwright: text } });
const require = createRequire(join(resolve(args.playwright ?? "."), "x.js"));
const { chromium } = require("playwright-core");
const out = resolve(args.out ?? "browser-out");
mkdirSync(out, { recursive: true });

const root = mkdtempSync(join(tmpdir(), "hookctl-report-"));
const state = join(root, ".local/state/hookctl");
mkdirSync(state, { recursive: true, mode: 0o700 });
const evil = `<img src=http://127.0.0.1:9/x onerror=alert(1)><script>alert(2)</script>"'&</svg>\u001b[2J`;
const decisions = ["allow", "silent", "ask", "deny", "silent"];
const lines = Array.from({ length: 500 }, (_, at) => ({
  time: `2026-11-${String(1 + (at % 20)).padStart(2, "0")}T10:00:00.000Z`, agent: "claude", event: "PreToolUse",
  session: `s${at % 7}`, cwd: at % 3 ? "/home/u/app" : `/home/u/${evil}`, tool: at % 5 ? "Bash" : `mcp__${evil}`,
  what: at % 2 ? `git push ${evil}` : `${evil} x`, decision: decisions[at % 5],
  rule: ["ask", "deny"].includes(decisions[at % 5]) ? `user:${evil}` : "", reason: evil, rules: [], notes: [], ms: at / 7,
}));
lines[4].rules = [`${evil} deny (observed)`];
writeFileSync(join(state, "journal.jsonl"), lines.map((line) => JSON.stringify(line) + "\n").join(""), { mode: 0o600 });
const file = join(root, "report.html");
execFileSync(resolve(args.hookctl), ["report", "-o", file], { cwd: root, env: { ...process.env, HOME: root } });
const source = readFileSync(file, "utf8");
assert.ok(!source.includes("<img") && !source.includes("<script") && !source.includes("\u001b"), "hostile text is escaped");

const flags = ["no-sandbox", "disable-gpu", "no-first-run", "disable-background-networking", "disable-component-update", "disable-sync"];
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: flags.map((flag) => `--${flag}`),
});
try {
  const backs = [];
  for (const colorScheme of ["light", "dark"]) {
    const page = await browser.newPage({ colorScheme, viewport: { width: 900, height: 1200 } });
    const seen = [];
    page.on("request", (request) => seen.push(request.url()));
    for (const event of ["pageerror", "console", "dialog"]) page.on(event, (what) => assert.fail(`${event}: ${what.text?.() ?? what}`));
    await page.goto(pathToFileURL(file).href);
    assert.deepEqual(seen, [pathToFileURL(file).href]);
    const found = await page.evaluate(() => ({
      charts: document.querySelectorAll("svg").length,
      foreign: document.querySelectorAll("img, script, link, iframe, object, a, form, input").length,
      days: document.querySelectorAll("#days g").length,
      bars: [...document.querySelectorAll("rect")].filter((bar) => bar.getBoundingClientRect().width > 0).length,
      wide: document.documentElement.scrollWidth <= innerWidth,
      outside: [...document.querySelectorAll("svg text, svg rect")].filter((one) => {
        const [own, all] = [one.getBoundingClientRect(), one.closest("svg").getBoundingClientRect()];
        return own.left < all.left - 1 || own.right > all.right + 1 || own.bottom > all.bottom + 1;
      }).length,
      back: getComputedStyle(document.body).backgroundColor,
      text: getComputedStyle(document.body).color,
      counts: document.querySelector(".keys").innerText,
    }));
    assert.equal(found.charts, 5, JSON.stringify(found));
    assert.equal(found.foreign, 0);
    assert.equal(found.days, 20);
    assert.ok(found.bars > 40 && found.wide, JSON.stringify(found));
    assert.equal(found.outside, 0, JSON.stringify(found));
    assert.notEqual(found.back, found.text);
    assert.match(found.counts.replace(/\s+/g, " "), /allow 100 silent 199 passed 1 ask 100 deny 100/);
    backs.push(found.back);
    await page.screenshot({ path: join(out, `report-${colorScheme}.png`), fullPage: true });
    await page.close();
  }
  assert.notEqual(backs[0], backs[1]);
  console.log("report: the page holds in light and dark, with nothing fetched");
} finally {
  await browser.close();
  rmSync(root, { recursive: true, force: true });
}
