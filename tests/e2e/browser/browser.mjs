// A real browser drives the page of `hookctl serve`: node browser.mjs --serve BIN --hookctl BIN --client BIN --out DIR
// Chromium is Debian's (CHROMIUM, /usr/bin/chromium); playwright-core is found by NODE_PATH or --playwright DIR.
// The pages of the run are kept in DIR. Nothing but 127.0.0.1 is asked for anything, and no page may log an error.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const text = { type: "string" };
const { values: args } = parseArgs({ options: { serve: text, hookctl: text, client: text, out: text, playwright: text } });
// They are started in other directories.
for (const name of ["serve", "hookctl", "client"]) args[name] &&= resolve(args[name]);
const require = createRequire(join(resolve(args.playwright ?? "."), "x.js"));
const { chromium } = require("playwright-core");
const out = resolve(args.out ?? "browser-out");
mkdirSync(out, { recursive: true });
const here = dirname(fileURLToPath(import.meta.url));

/** Whoever waits for another process looks again until then, in milliseconds. */
const PATIENCE = 15_000;

async function until(what, look) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const found = await look();
    if (found) return found;
    assert.ok(Date.now() < end, `never: ${what}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

// ---- the server

const root = mkdtempSync(join(tmpdir(), "hookctl-browser-"));
const home = join(root, "home");
mkdirSync(home);
// Nothing of whoever runs this: an agent may not pair a device.
const plain = { HOME: home, PATH: "/usr/bin:/bin" };
const children = new Set();

function run(program, args, options = {}) {
  const child = spawn(program, args, { env: plain, stdio: ["ignore", "pipe", "pipe"], ...options });
  children.add(child);
  child.on("exit", () => children.delete(child));
  child.on("error", (error) => assert.fail(`${program}: ${error}`));
  return child;
}

async function startServer(port, more = []) {
  const child = run(args.serve, ["--port", String(port), "--pair", "--answer-within", "50", "--heartbeat", "2", ...more]);
  const found = {};
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      found.url ??= /http:\/\/127\.0\.0\.1:\d+\s*$/.exec(line)?.[0].trim();
      found.code ??= /\/pair#(\S+)/.exec(line)?.[1];
    });
  }
  await until("the server's address", () => found.url && found.code);
  return { child, ...found };
}

async function newCode() {
  const child = run(args.serve, ["pair"]);
  let printed = "";
  child.stdout.on("data", (bytes) => (printed += bytes));
  await new Promise((done) => child.on("exit", done));
  const code = /\/pair#(\S+)/.exec(printed)?.[1];
  assert.ok(code, `a code: ${printed}`);
  return code;
}

let server = await startServer(0);
const base = server.url;

async function hook(path, body) {
  const response = await fetch(`${base}/api/hooks/${path}`, { method: "POST", body: JSON.stringify(body) });
  return response.json();
}

let asked = 0;
const [project, otherProject] = ["shop", "blog"].map((name) => join(root, name));
for (const folder of [project, otherProject]) mkdirSync(folder);

/** A question as a hook asks it; the answer comes when a human gave one. */
function ask(tool_name, tool_input, session_id = "one") {
  const tool_use_id = `toolu_${++asked}`;
  const event = { hook_event_name: "PreToolUse", session_id, cwd: project, tool_name, tool_input, tool_use_id };
  return { id: tool_use_id, answer: hook("permission-request", event) };
}

// ---- the browsers

const flags = ["no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking", "disable-component-update", "disable-sync"];
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: flags.map((flag) => `--${flag}`),
});
const errors = [];
/** While the server is down a browser may say so. */
let down = false;
/** What went over the sockets of each page. */
const traffic = new Map();

/** The server dies, and another stands in its place. */
async function restartServer(more) {
  down = true;
  const port = new URL(base).port;
  server.child.kill("SIGKILL");
  await Promise.all([desk, phone].map((page) => page.getByText("Reconnecting").waitFor()));
  await keep(desk, "05-reconnecting");
  server = await startServer(port, more);
  await Promise.all([isLive(desk), isLive(phone)]);
  down = false;
}

async function open(name, options) {
  const context = await browser.newContext({ baseURL: base, userAgent: undefined, ...options });
  const page = await context.newPage();
  const note = (what) => down || errors.push(`${name}: ${what}`);
  page.on("console", (message) => message.type() === "error" && note(message.text()));
  page.on("pageerror", (error) => note(String(error)));
  const frames = { received: [], sent: [] };
  traffic.set(page, frames);
  page.on("websocket", (socket) => {
    socket.on("framereceived", ({ payload }) => frames.received.push(JSON.parse(payload)));
    socket.on("framesent", ({ payload }) => frames.sent.push(JSON.parse(payload)));
  });
  context.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${base}/`) && !url.startsWith("data:")) errors.push(`${name} asks ${url}`);
  });
  return page;
}

const card = (page, id) => page.locator(`article.question[data-id="${id}"]`);
const keep = (page, name) => page.screenshot({ path: join(out, `${name}.png`), fullPage: true });
const isLive = (page) => page.locator("body.live").waitFor({ timeout: PATIENCE });

async function fitsItsWidth(page) {
  const [wide, width] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= width, `${wide} > ${width}`);
}

// ---- the client

const clientEnv = { ...plain, CLAUDE_CONFIG_DIR: join(home, ".claude"), DISABLE_AUTOUPDATER: "1", DISABLE_TELEMETRY: "1", SHELL: "/bin/bash", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", NO_PROXY: "127.0.0.1", IS_SANDBOX: "1" };
const call = (command) => ({ tool: "Bash", input: { command, description: "ship" } });
const isThere = (name, folder = project) => existsSync(join(folder, name));
let runs = 0;

/** The real client with a model that does as it is told: its output so far, and its end. */
async function startClient(turns, folder = project, flags = ["--dangerously-skip-permissions"]) {
  const [script, record, portFile] = ["script.json", "record.jsonl", "port"].map((name) => join(root, `${++runs}-${name}`));
  writeFileSync(script, JSON.stringify(turns));
  run("python3", [join(here, "../fake_anthropic.py"), "--script", script, "--record", record, "--port-file", portFile], { env: { ...plain, PATH: process.env.PATH } });
  const port = await until("the model", () => existsSync(portFile) && readFileSync(portFile, "utf8").trim());
  const client = run(args.client, ["-p", "go", "--output-format", "stream-json", "--verbose", ...flags], {
    cwd: folder,
    env: { ...clientEnv, ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`, ANTHROPIC_API_KEY: "dummy-not-a-key" },
  });
  let said = "";
  client.stdout.on("data", (bytes) => (said += bytes));
  client.stderr.on("data", (bytes) => (said += bytes));
  const ended = new Promise((done) => client.on("exit", done));
  return { ended, transcript: () => said };
}

const steps = {
  async "pairs by the link, and by the code that is typed"() {
    await desk.goto(`/pair#${server.code}`);
    await isLive(desk);
    assert.equal(new URL(desk.url()).hash, "", "the code is out of the address");
    await phone.goto("/");
    await phone.locator("#pair-form").waitFor();
    await keep(phone, "01-pairing-phone");
    await phone.fill("#pair-code", server.code);
    await phone.click("#pair-form button");
    await phone.getByText("not known, or was used").waitFor();
    // The one refusal that a browser logs.
    assert.ok(errors.pop()?.includes("401"));
    await phone.fill("#pair-code", await newCode());
    await phone.fill("#pair-name", "phone <b>of</b> mine");
    await phone.click("#pair-form button");
    await isLive(phone);
    await fitsItsWidth(phone);
  },

  async "a question is seen within a second, and allowed once"() {
    await hook("session", { hook_event_name: "SessionStart", session_id: "one", cwd: project, source: "startup" });
    const started = Date.now();
    const one = ask("Bash", { command: "npm publish --tag next && echo '<img src=x onerror=alert(1)>'" });
    await Promise.all([card(desk, one.id).waitFor(), card(phone, one.id).waitFor()]);
    const took = Date.now() - started;
    // A figure, not a test: the machine may be busy.
    console.log(`    seen after ${took} ms${took < 1000 ? "" : ", MORE THAN A SECOND"}`);
    assert.equal(await desk.locator("img").count(), 0, "text is no markup");
    assert.match(await card(desk, one.id).innerText(), /onerror=alert\(1\)/);
    await fitsItsWidth(phone);
    await keep(desk, "02-question-desk");
    await keep(phone, "03-question-phone");
    await card(phone, one.id).getByRole("button", { name: "Allow Once" }).click();
    const answer = await one.answer;
    assert.equal(answer.decision, "allow", JSON.stringify(answer));
    await card(desk, one.id).waitFor({ state: "detached" });
    await desk.locator("#told").getByText("allowed by phone <b>of</b> mine").waitFor();
  },

  async "an allow for the session answers the same call from memory"() {
    const one = ask("Bash", { command: "npm run deploy" });
    await card(desk, one.id).getByRole("button", { name: "Allow for Session" }).click();
    const answer = await one.answer;
    assert.equal(answer.decision, "allow");
    const again = await ask("Bash", { command: "npm run deploy" }).answer;
    assert.deepEqual([again.decision, again.source], ["allow", "memory"], JSON.stringify(again));
    await desk.locator("#history").getByText("from memory").waitFor();
  },

  async "an edit is shown as a change, and denied by keyboard"() {
    const edit = { file_path: join(project, "a.txt"), old_string: "one\ntwo\nthree", new_string: "one\n2\nthree" };
    const one = ask("Edit", edit);
    await card(desk, one.id).waitFor();
    const lines = async (kind) => (await card(desk, one.id).locator(`.${kind}`).allInnerTexts()).map((line) => line.trim());
    assert.deepEqual([await lines("removed"), await lines("added")], [["- two"], ["+ 2"]]);
    await keep(desk, "04-edit-desk");
    // Without a focus a key answers nothing.
    await desk.keyboard.press("a");
    assert.equal(await card(desk, one.id).evaluate((element) => element === document.activeElement), true);
    await desk.keyboard.press("d");
    assert.equal((await one.answer).decision, "deny");
  },

  async "nothing of a call is hidden"() {
    for (const [tool, input, seen] of [
      ["Bash", { command: "ls", dangerouslyDisableSandbox: true }, ["ls", "dangerouslyDisableSandbox", "true"]],
      ["Edit", { file_path: "a", old_string: "x", new_string: "y", replace_all: true }, ["- x", "+ y", "replace_all"]],
      ["MultiEdit", { file_path: "a", edits: [{ old_string: "x", new_string: "y", replace_all: true }] }, ["- x", "+ y", "replace_all"]],
      ["MultiEdit", { file_path: "a", edits: [] }, ["edits", "[]"]],
      ["MultiEdit", { edits: [{ old_string: 7, extra: "seven" }] }, ["seven"]],
      ["Write", { file_path: "a", content: "line one\nline two" }, ["+ line one", "+ line two"]],
      ["Bash", { command: ["ls", "-la"] }, ["-la"]],
      ["mcp__x__y", { deep: { deeper: ["a\u202eb"] } }, ["deeper", "\\u{202e}"]],
      ["Bash", { command: "", old_string: "lonely" }, ["lonely"]],
      ["Bash", { command: `echo ${"long ".repeat(20_000)} end-of-it` }, ["echo long"]],
    ]) {
      const one = ask(tool, input, "shown");
      await card(desk, one.id).waitFor();
      const told = await card(desk, one.id).innerText();
      for (const part of seen) assert.ok(told.includes(part), `${JSON.stringify(input).slice(0, 200)}: no ${part} in ${told.slice(0, 800)}`);
      await fitsItsWidth(phone);
      await card(desk, one.id).getByRole("button", { name: "Deny", exact: true }).click();
      assert.equal((await one.answer).decision, "deny");
    }
  },

  async "a reason goes along with a deny"() {
    const one = ask("Bash", { command: "git push" });
    await card(desk, one.id).waitFor();
    await desk.keyboard.press("j");
    await desk.keyboard.press("r");
    await desk.keyboard.type("Not on a Friday <3");
    await desk.keyboard.press("Enter");
    const answer = await one.answer;
    assert.equal(answer.decision, "deny");
    assert.match(JSON.stringify(answer), /Not on a Friday <3/);
  },

  async "of two browsers that answer at once one wins, and both see it"() {
    for (let round = 0; round < 5; round++) {
      const one = ask("Bash", { command: `touch round-${round}` }, `race-${round}`);
      await Promise.all([card(desk, one.id).waitFor(), card(phone, one.id).waitFor()]);
      const click = (page, name) => card(page, one.id).getByRole("button", { name, exact: true }).click({ noWaitAfter: true, timeout: 2000 });
      // Whoever is late may find no button any more.
      await Promise.allSettled([click(desk, "Allow Once"), click(phone, "Deny")]);
      const answer = await one.answer;
      const told = answer.decision === "allow" ? "allowed by browser" : "denied by phone";
      for (const page of [desk, phone]) {
        await card(page, one.id).waitFor({ state: "detached" });
        const line = await page.locator("#told li").first().innerText();
        assert.ok(line.includes(told), `${line}, but ${JSON.stringify(answer)}`);
      }
    }
  },

  async "after a break of the server the page is live again"() {
    await restartServer([]);
    const one = ask("Bash", { command: "echo back" });
    await Promise.all([card(desk, one.id).waitFor(), card(phone, one.id).waitFor()]);
    await card(desk, one.id).getByRole("button", { name: "Deny", exact: true }).click();
    assert.equal((await one.answer).decision, "deny");
  },

  async "sessions, counts and history tell what was"() {
    const call = { session_id: "one", cwd: project, tool_name: "Bash", tool_use_id: "toolu_done", tool_input: { command: "echo timed" } };
    await hook("tool-start", { hook_event_name: "PreToolUse", ...call });
    await hook("tool-end", { hook_event_name: "PostToolUse", ...call, tool_response: { stdout: "x" } });
    const session = desk.locator('article.session[data-id="one"]');
    await session.locator("summary").click();
    await session.getByText("echo timed").waitFor();
    await desk.locator("#today").getByText("allowed").waitFor();
    await desk.fill("#search", "publish");
    await until("one entry", async () => (await desk.locator("#history li").count()) === 1);
    await keep(desk, "06-board-light");
    await desk.emulateMedia({ colorScheme: "dark" });
    await keep(desk, "07-board-dark");
    await keep(phone, "08-board-phone");
  },

  async "what the human says reaches the model of the real client"() {
    if (!args.client) return "skipped: no client";
    const settings = join(home, ".config/hookctl");
    mkdirSync(settings, { recursive: true });
    mkdirSync(join(home, ".claude"), { recursive: true });
    writeFileSync(
      join(settings, "config.toml"),
      `[remote.phone]\nurl = "${base}"\ndialect = "cdev"\nevents = ["SessionStart", "PostToolUse"]\n\n[rule.ships]\ncommand = "touch shipped-*"\nremote = "phone"\n`,
    );
    const installed = run(args.hookctl, ["install", "--agent", "claude", "--scope", "user"], { cwd: project, env: clientEnv });
    await new Promise((done) => installed.on("exit", (code) => done(assert.equal(code, 0))));
    const { ended, transcript } = await startClient([call("touch shipped-1"), call("touch shipped-2"), "DONE"]);
    const first = desk.locator("article.question", { hasText: "shipped-1" });
    await first.waitFor({ timeout: 60_000 }).catch(() => assert.fail(transcript().slice(-2000)));
    await keep(desk, "09-client-asks");
    await first.getByPlaceholder("Reason").fill("Ask the release manager first");
    await first.getByRole("button", { name: "Deny with reason" }).click();
    const second = phone.locator("article.question", { hasText: "shipped-2" });
    await second.waitFor({ timeout: 60_000 });
    await second.getByRole("button", { name: "Allow Once" }).click();
    await ended;
    assert.match(transcript(), /Ask the release manager first/);
    assert.deepEqual(["shipped-1", "shipped-2"].map((name) => isThere(name)), [false, true], transcript().slice(-2000));
  },

  /** Seed 000's own checklist, each of its thirteen items by two real clients at once, hookctl's hook and the browsers. */
  async "S0-56: the checklist of the seed"() {
    if (!args.client) return "skipped: no client";
    const proved = (number, what) => console.log(`S0-56/${number} ${what}: ok`);
    const seen = (page, method) => traffic.get(page).received.filter((frame) => frame.method === `event/${method}`).map((frame) => frame.params);
    const state = () => desk.evaluate(async () => (await fetch("/api/state", { headers: { "X-Hookctl-Key": localStorage.getItem("hookctl_key") } })).json());
    const before = new Set((await state()).sessions.map((session) => session.session_id));
    for (const frames of traffic.values()) frames.received.length = frames.sent.length = 0;
    const asks = (page, text) => page.locator("article.question", { hasText: text });
    const press = (page, text, name) => asks(page, text).getByRole("button", { name, exact: true }).click();

    // In the usual mode, where what the human says is the only leave that the call has.
    const shop = await startClient([call("touch shipped-no"), call("touch shipped-yes"), call("touch shipped-yes"), call("touch shipped-yes"), "DONE"], project, []);
    const blog = await startClient([call("touch shipped-blog"), "DONE"], otherProject, []);
    const said = () => `${shop.transcript().slice(-1500)}\n${blog.transcript().slice(-1500)}`;
    await Promise.all(["shipped-no", "shipped-blog"].map((text) => asks(desk, text).waitFor({ timeout: 60_000 }))).catch(() => assert.fail(said()));
    const fresh = (await state()).sessions.filter((session) => !before.has(session.session_id));
    assert.deepEqual(fresh.map((session) => session.project).sort(), ["blog", "shop"]);
    const [idBlog, idShop] = ["blog", "shop"].map((name) => fresh.find((session) => session.project === name).session_id);
    const entry = (id) => desk.locator(`article.session[data-id="${id}"]`);

    await until("both sessions begin", () => [idBlog, idShop].every((id) => seen(desk, "claude_hook_session").some((event) => event.session_id === id)));
    proved(1, "the socket connects and receives hook events");
    await Promise.all([entry(idShop), entry(idBlog)].map((one) => one.waitFor()));
    proved(2, "session starts make new external sessions");
    const card = asks(desk, "shipped-no");
    for (const name of ["Allow Once", "Allow for Session", "Deny"]) await card.getByRole("button", { name, exact: true }).waitFor();
    assert.ok(seen(desk, "pty_permission").some((event) => event.session_id === idShop && event.options.length === 3));
    proved(4, "a question is shown with its answers");
    await entry(idShop).getByText("waits for you").waitFor();
    for (const one of [idShop, idBlog]) assert.equal(fresh.find((session) => session.session_id === one).kind, "external");
    await entry(idShop).getByText("external", { exact: true }).waitFor();
    proved(10, "the page says which sessions are external");
    await keep(desk, "10-checklist-two-sessions");
    await Promise.all(["shop", "blog"].map((name) => asks(phone, `in ${name}`).waitFor()));
    proved(13, "one page shows the sessions, what waits, and the history of all");

    await press(phone, "shipped-no", "Deny");
    await asks(phone, "shipped-yes").waitFor({ timeout: 60_000 });
    assert.ok(traffic.get(phone).sent.some((frame) => frame.method === "permission/respond" && frame.params.decision === "deny"));
    proved(5, "the phone answers by permission/respond");
    assert.equal(isThere("shipped-no"), false);
    proved(8, "a deny blocks the call");
    const asked = () => seen(desk, "pty_permission").filter((event) => event.target === "touch shipped-yes");
    const first = asked()[0].tool_use_id;
    await press(phone, "shipped-yes", "Allow Once");
    await until("the same call is asked again", () => asked().length === 2);
    assert.notEqual(asked()[1].tool_use_id, first);
    assert.equal(isThere("shipped-yes"), true);
    proved(6, "Allow Once approves one call, the next is asked again");
    // What comes faster than a human can is taken for a server's memory, and asked once more.
    await new Promise((done) => setTimeout(done, 600));
    await press(desk, "shipped-yes", "Allow for Session");
    const kept = await until("what is remembered", () => seen(desk, "pty_permission_resolved").find((event) => event.tool_use_id === asked()[1].tool_use_id));
    assert.deepEqual([kept.decision, kept.scope], ["allow", "session"]);
    assert.equal(await Promise.race([shop.ended, new Promise((done) => setTimeout(() => done("never"), 40_000))]), 0, said());
    const ends = () => seen(desk, "claude_hook_tool_end").filter((event) => event.session_id === idShop && event.tool_input?.command === "touch shipped-yes");
    await until("three calls ended", () => ends().length === 3);
    assert.equal(asked().length, 2, "the third was nobody asked about");
    proved(7, "Allow for Session is remembered and answers the next like it");

    const stands = async (id) => (await state()).sessions.find((session) => session.session_id === id);
    assert.equal((await stands(idShop)).current_tool, null);
    const extra = { session_id: idShop, cwd: project, tool_name: "Bash", tool_use_id: "toolu_checklist", tool_input: { command: "sleep 9" } };
    await hook("tool-start", { hook_event_name: "PreToolUse", ...extra });
    await entry(idShop).getByText("runs a tool: Bash").waitFor();
    await hook("tool-end", { hook_event_name: "PostToolUse", ...extra, tool_response: { stdout: "" } });
    await entry(idShop).getByText("runs a tool: Bash").waitFor({ state: "detached" });
    proved(3, "tool starts and ends change the session's state");
    assert.equal((await stands(idBlog)).state, "permission_pending", "the other session waits all the while");
    await press(desk, "shipped-blog", "Allow Once");
    await blog.ended;
    assert.ok(isThere("shipped-blog", otherProject) && !isThere("shipped-blog"));
    proved(11, "sessions at the same time are kept apart");
    await entry(idShop).locator("summary").click();
    const lines = () => entry(idShop).locator("ol.timeline li").allInnerTexts();
    await until("the timeline", async () => (await lines()).length === 4);
    const shown = (await lines()).map((line) => /touch \S+|sleep 9/.exec(line)?.[0]);
    assert.deepEqual(shown, ["sleep 9", "touch shipped-yes", "touch shipped-yes", "touch shipped-yes"]);
    await keep(desk, "11-checklist-timeline");
    proved(12, "the timeline has what ran, newest first, and nothing that was denied");

    // Nothing comes in: the page finds out by itself.
    await restartServer(["--stale-after", "3"]);
    await desk.getByText("No session yet.").waitFor({ timeout: PATIENCE });
    proved(9, "sessions go after their time");
    await restartServer([]);
  },

  async "the real client's own http hooks are answered, without hookctl beside it"() {
    if (!args.client) return "skipped: no client";
    writeFileSync(join(home, ".config/hookctl/config.toml"), '[rule.ships]\ncommand = "touch http-1"\nask = "Ship?"\n\n[rule.never]\ncommand = "touch http-2"\ndeny = "Never by http."\n');
    const hook = { type: "http", url: `${base}/claude`, timeout: 70 };
    writeFileSync(join(home, ".claude/settings.json"), JSON.stringify({ hooks: { PreToolUse: [{ matcher: "Bash", hooks: [hook] }] } }));
    const { ended, transcript } = await startClient([call("touch http-1"), call("touch http-2"), call("touch http-3"), "DONE"]);
    const first = desk.locator("article.question", { hasText: "http-1" });
    await first.waitFor({ timeout: 60_000 }).catch(() => assert.fail(transcript().slice(-2000)));
    await first.getByRole("button", { name: "Allow Once" }).click();
    await ended;
    assert.match(transcript(), /Never by http/);
    assert.deepEqual(["http-1", "http-2", "http-3"].map((name) => isThere(name)), [true, false, true], transcript().slice(-2000));
  },

  async "after the log-out nothing is seen"() {
    await phone.click("#logout");
    await phone.locator("#pair-form").waitFor();
    assert.equal(await phone.evaluate(async () => (await fetch("/api/paired")).text()), '{"paired":false}');
    assert.equal(await phone.evaluate(() => localStorage.length), 0, "what the page kept is gone");
    // What was under way when the page logged out is nobody's any more.
    const left = errors.filter((error) => !/^phone: .* status of 401/.test(error));
    errors.splice(0, errors.length, ...left);
  },
};

const desk = await open("desk", { viewport: { width: 1100, height: 800 } });
const phone = await open("phone", { viewport: { width: 375, height: 700 }, hasTouch: true, isMobile: true });
let failed = 0;
try {
  for (const [name, step] of Object.entries(steps)) {
    const started = Date.now();
    console.log(`${name}: ${(await step()) ?? "ok"} (${Date.now() - started} ms)`);
    assert.deepEqual(errors, [], "what the browsers complain of, and what they ask elsewhere");
  }
} catch (error) {
  failed = 1;
  console.error(error);
  await Promise.allSettled([keep(desk, "failed-desk"), keep(phone, "failed-phone")]);
} finally {
  await browser.close();
  for (const child of children) child.kill("SIGKILL");
  rmSync(root, { recursive: true, force: true });
}
process.exit(failed);
