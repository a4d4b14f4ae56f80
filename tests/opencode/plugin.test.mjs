// The plugin as OpenCode runs it, with a program in hookctl's place and with hookctl itself.
//   node plugin.test.mjs PLUGIN WORKDIR HOOKCTL
import assert from "node:assert/strict"
import { readFileSync, writeFileSync, existsSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

const [, , source, dir, hookctl] = process.argv
const text = readFileSync(source, "utf8")
assert.equal(text.match(/^const COMMAND = \[.*\]$/gm).length, 1, "one line for install")
let copies = 0

/** The plugin with that command and those limits. */
async function load(command, seconds = "{ PreToolUse: 5, other: 5 }", context = {}, off = []) {
  const written = text
    .replace(/^const OFF = \[\]$/m, () => `const OFF = ${JSON.stringify(off)}`)
    .replace(/^const COMMAND = .*$/m, () => `const COMMAND = ${JSON.stringify(command)}`)
    .replace(/^const SECONDS = .*$/m, `const SECONDS = ${seconds}`)
  const path = join(dir, `plugin-${copies++}.mjs`)
  writeFileSync(path, written)
  const module = await import(pathToFileURL(path))
  assert.deepEqual(Object.keys(module), ["Hookctl"], "OpenCode takes every export for a plugin")
  return module.Hookctl({ directory: dir, ...context })
}

/** A program that notes what it is given and answers so. */
function fake(answer, status = 0, stderr = "") {
  const script = join(dir, `fake-${copies++}.mjs`)
  writeFileSync(
    script,
    `import fs from "node:fs"
const input = fs.readFileSync(0, "utf8")
fs.appendFileSync(${JSON.stringify(script)} + ".seen", input + "\\n")
process.stdout.write(${JSON.stringify(typeof answer === "string" ? answer : JSON.stringify(answer))})
process.stderr.write(${JSON.stringify(stderr)})
process.exitCode = ${status}`,
  )
  const seen = () => readFileSync(`${script}.seen`, "utf8").trim().split("\n").map((line) => JSON.parse(line))
  return { command: [process.execPath, script], seen, called: () => existsSync(`${script}.seen`) }
}

const call = { tool: "bash", sessionID: "ses_1", callID: "call_1" }
const before = (hooks, args, input = call) => hooks["tool.execute.before"](input, { args })
const after = (hooks, output, args = { command: "ls" }) => hooks["tool.execute.after"]({ ...call, args }, output)

async function denied(promise, reason) {
  await assert.rejects(promise, (error) => error instanceof Error && error.message.includes(reason))
}

const tests = {
  async "says what the call is and nothing else"() {
    const program = fake("")
    const hooks = await load(program.command)
    await before(hooks, { command: "ls" })
    assert.deepEqual(program.seen(), [
      {
        agent: "opencode",
        hook_event_name: "PreToolUse",
        session_id: "ses_1",
        cwd: dir,
        tool_name: "bash",
        tool_input: { command: "ls" },
        tool_use_id: "call_1",
      },
    ])
  },
  async "names the server of a tool"() {
    const program = fake("")
    const hooks = await load(program.command)
    await hooks.config({ mcp: { my: {}, "my.echo": {} } })
    await before(hooks, {}, { ...call, tool: "my_echo_say_it" })
    assert.equal(program.seen()[0].mcp_server, "my_echo")
  },
  async "a deny is an error with its reason"() {
    const hooks = await load(fake({ decision: "deny", reason: "Not here." }).command)
    await denied(before(hooks, { command: "ls" }), "Not here.")
  },
  async "new arguments are written into the old object"() {
    const hooks = await load(fake({ updatedInput: { command: "pwd" } }).command)
    const args = { command: "ls", workdir: "/" }
    await before(hooks, args)
    assert.deepEqual(args, { command: "pwd" })
  },
  async "context before a tool waits for its result"() {
    const hooks = await load(fake({ additionalContext: "Use tabs." }).command)
    await before(hooks, { command: "ls" })
    const output = { title: "ls", output: "a.txt", metadata: {} }
    await after(hooks, output)
    assert.equal(output.output, "a.txt\n\nUse tabs.\n\nUse tabs.")
    const again = { title: "ls", output: "a.txt", metadata: {} }
    await after(hooks, again)
    assert.equal(again.output, "a.txt\n\nUse tabs.", "told once")
  },
  async "results are replaced and withheld"() {
    const output = () => ({ title: "ls", output: "secret", metadata: { output: "secret" } })
    const replaced = output()
    await after(await load(fake({ updatedToolOutput: { output: "***", metadata: { output: "***" } } }).command), replaced)
    assert.deepEqual(replaced, { title: "ls", output: "***", metadata: { output: "***" } })
    const withheld = output()
    await after(await load(fake({ decision: "deny", reason: "Withheld." }).command), withheld)
    assert.equal(withheld.output, "Withheld.")
    const parts = { content: [{ type: "text", text: "secret" }] }
    await after(await load(fake({ updatedToolOutput: "***" }).command), parts)
    assert.deepEqual(parts, { content: [{ type: "text", text: "***" }] })
  },
  async "whatever goes wrong before a tool refuses it"() {
    for (const [program, reason] of [
      [{ command: [join(dir, "nothing-there")] }, "could not be started"],
      [fake("", 1, "broken"), "exit status 1 broken"],
      [fake("", 2, "Refused by status."), "Refused by status."],
      [fake({ decision: "deny", reason: "x" }, 1), "exit status 1"],
      [fake("no JSON"), "no JSON object"],
      [fake("[1]"), "no JSON object"],
      [fake({ decision: "perhaps" }), "a decision that is not known"],
    ]) {
      await denied(before(await load(program.command), { command: "ls" }), reason)
    }
    const slow = [process.execPath, "-e", "setTimeout(() => {}, 20000)"]
    await denied(before(await load(slow, "{ PreToolUse: 0.3, other: 0.3 }"), { command: "ls" }), "within 0.3 seconds")
  },
  async "whatever goes wrong elsewhere changes nothing and is logged"() {
    const logged = []
    const client = { app: { log: async ({ body }) => logged.push(body.message) } }
    const hooks = await load([join(dir, "nothing-there")], undefined, { client })
    const output = { title: "ls", output: "a.txt", metadata: {} }
    await after(hooks, output)
    const parts = [{ type: "text", text: "do it" }]
    await hooks["chat.message"]({ sessionID: "ses_1" }, { message: {}, parts })
    await hooks.event({ event: { type: "session.idle", properties: { sessionID: "ses_1" } } })
    assert.equal(output.output, "a.txt")
    assert.equal(parts[0].text, "do it")
    assert.equal(logged.length, 3)
  },
  async "a prompt gets its context and can be refused"() {
    const parts = [{ type: "text", text: "do it" }, { type: "file" }]
    const program = fake({ additionalContext: "Branch main." })
    await (await load(program.command))["chat.message"]({ sessionID: "ses_1" }, { message: {}, parts })
    assert.equal(parts[0].text, "do it\n\nBranch main.")
    assert.equal(program.seen()[0].prompt, "do it")
    const refusing = await load(fake({ decision: "deny", reason: "Not that." }).command)
    await denied(refusing["chat.message"]({ sessionID: "ses_1" }, { message: {}, parts }), "Not that.")
  },
  async "a session's start is told once and heard at every request"() {
    const program = fake({ additionalContext: "Tabs." })
    const hooks = await load(program.command)
    const properties = { sessionID: "ses_1", info: { id: "ses_1" } }
    const system = []
    await hooks.event({ event: { type: "session.created", properties } })
    await hooks["experimental.chat.system.transform"]({ sessionID: "ses_1" }, { system })
    await hooks["experimental.chat.system.transform"]({ sessionID: "ses_1" }, { system })
    assert.deepEqual(system, ["Tabs.", "Tabs."])
    assert.deepEqual(program.seen().map((event) => [event.hook_event_name, event.source]), [["SessionStart", "startup"]])
  },
  async "a session with a parent is another agent"() {
    const program = fake("")
    const hooks = await load(program.command)
    const properties = { info: { id: "ses_2", parentID: "ses_1" } }
    await hooks.event({ event: { type: "session.created", properties } })
    await before(hooks, { command: "ls" }, { ...call, sessionID: "ses_2" })
    await hooks.event({ event: { type: "session.idle", properties: { sessionID: "ses_2" } } })
    const names = program.seen().map((event) => [event.hook_event_name, event.agent_id])
    assert.deepEqual(names, [["SubagentStart", "ses_2"], ["PreToolUse", "ses_2"], ["SubagentStop", "ses_2"]])
  },
  async "nobody is told of what is switched off"() {
    const program = fake({ decision: "deny", reason: "no" })
    const hooks = await load(program.command, undefined, {}, ["PreToolUse"])
    await before(hooks, { command: "ls" })
    assert.equal(program.called(), false)
    const output = { title: "ls", output: "a.txt", metadata: {} }
    await after(hooks, output)
    assert.deepEqual(program.seen().map((event) => event.hook_event_name), ["PostToolUse"])
  },
  async "a notice is shown to the human"() {
    const shown = []
    const client = { tui: { showToast: async ({ body }) => shown.push(body.message) } }
    const hooks = await load(fake({ systemMessage: "Paused." }).command, undefined, { client })
    await before(hooks, { command: "ls" })
    assert.deepEqual(shown, ["Paused."])
  },
  async "hookctl itself refuses, and lets pass"() {
    const hooks = await load([hookctl, "hook", "--agent", "opencode"], "{ PreToolUse: 60, other: 60 }")
    await denied(before(hooks, { command: "rm -rf /", description: "d" }), "[delete-root]")
    await before(hooks, { command: "ls", description: "d" })
    const output = { title: "ls", output: "a.txt", metadata: {} }
    await after(hooks, output)
    assert.equal(output.output, "a.txt")
  },
}

for (const [name, test] of Object.entries(tests)) {
  try {
    await test()
  } catch (error) {
    console.error(`${name}: ${error.stack}`)
    process.exitCode = 1
  }
}
