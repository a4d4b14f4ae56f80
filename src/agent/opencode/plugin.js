// managed-by: hookctl  (do not edit; `hookctl uninstall` removes this file)
//
// OpenCode has plugins in the place of hook commands: this one starts hookctl at every event, hands it the
// event as JSON on stdin and does what the JSON on its stdout says. What it says and hears is described in
// hookctl's docs, agent `opencode`.
//
// Before a tool it fails closed: a tool runs only if hookctl ended well and either said nothing or said
// something that is understood. Everywhere else nothing waits for hookctl, so a failure is logged.
//
// `hookctl install` writes the next line anew: the program and its arguments, a JSON array on one line.
const COMMAND = ["hookctl", "hook", "--agent", "opencode"]
// The events that a person switched off (`hookctl events disable`): nobody is told of them. Written by install as well.
const OFF = []
// After how many seconds a program that hangs is killed. hookctl itself answers well before that.
const SECONDS = { PreToolUse: 600, other: 60 }

import { spawn } from "node:child_process"

// How many sessions or calls something is remembered of.
const REMEMBERED = 1000

/** Starts hookctl with the event: its answer, or an Error that says what went wrong. Never rejects. */
function ask(event) {
  return new Promise((resolve) => {
    const failed = (why) => resolve(new Error(`hookctl did not judge this: ${why}`))
    const seconds = SECONDS[event.hook_event_name] ?? SECONDS.other
    let child
    try {
      child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "pipe", "pipe"], windowsHide: true })
    } catch (error) {
      return failed(`${COMMAND[0]} could not be started: ${error.message}`)
    }
    const out = []
    const err = []
    const timer = setTimeout(() => {
      child.kill("SIGKILL")
      failed(`it did not answer within ${seconds} seconds`)
    }, seconds * 1000)
    child.stdout.on("data", (data) => out.push(data))
    child.stderr.on("data", (data) => err.push(data))
    // A program that ended without reading is told of by its status.
    child.stdin.on("error", () => {})
    child.on("error", (error) => {
      clearTimeout(timer)
      failed(`${COMMAND[0]} could not be started: ${error.message}`)
    })
    child.on("close", (status, signal) => {
      clearTimeout(timer)
      const told = Buffer.concat(err).toString("utf8").trim()
      if (status === 2) return resolve({ decision: "deny", reason: told || "Blocked by hookctl" })
      if (status !== 0) return failed(`${signal ? `killed by ${signal}` : `exit status ${status}`} ${told}`.trim())
      const answer = read(Buffer.concat(out).toString("utf8").trim())
      resolve(answer ?? failed("its answer is no JSON object"))
    })
    child.stdin.end(JSON.stringify(event))
  })
}

/** The answer in a text, undefined where it is none. */
function read(text) {
  if (text === "") return {}
  try {
    const answer = JSON.parse(text)
    return isObject(answer) ? answer : undefined
  } catch {
    return undefined
  }
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function isDenied(answer) {
  return answer.decision === "deny"
}

/** Keeps a value and lets go of the oldest where there are too many. */
function keep(map, key, value) {
  map.set(key, value)
  if (map.size > REMEMBERED) map.delete(map.keys().next().value)
  return value
}

/** Makes the object what the new one is, without another object in its place: OpenCode holds on to it. */
function overwrite(object, wanted) {
  for (const key of Object.keys(object)) if (!Object.hasOwn(wanted, key)) delete object[key]
  Object.assign(object, wanted)
}

/** The text of a tool's result: OpenCode's own tools have it in `output`, those of MCP servers in parts. */
function textOf(result) {
  if (typeof result.output === "string") return result.output
  const parts = Array.isArray(result.content) ? result.content : []
  return parts.filter((part) => part?.type === "text").map((part) => part.text).join("\n")
}

function setText(result, text) {
  if (!Array.isArray(result.content) || typeof result.output === "string") result.output = text
  if (Array.isArray(result.content)) result.content = [{ type: "text", text }]
}

/** Puts a text behind a result that may have more than text. */
function appendText(result, text) {
  if (typeof result.output === "string" || !Array.isArray(result.content)) {
    result.output = result.output ? `${result.output}\n\n${text}` : text
  }
  if (Array.isArray(result.content)) result.content.push({ type: "text", text })
}

/** The server whose tool that is: OpenCode calls it `server_tool`, with `_` for what a name may not hold. */
function serverOf(tool, servers) {
  const names = servers.map((name) => name.replace(/[^a-zA-Z0-9_-]/g, "_"))
  const fitting = names.filter((name) => tool.startsWith(`${name}_`))
  return fitting.sort((a, b) => b.length - a.length)[0]
}

export const Hookctl = async ({ client, directory }) => {
  // What was told before a tool, by call: OpenCode can take it only behind the result.
  const held = new Map()
  // What hookctl said of a session's start, by session: a promise, for one question is enough.
  const started = new Map()
  // The sessions that began while this runs, and the parents of those that an agent began.
  const created = new Map()
  let servers = []

  // Neither may ever disturb: nobody waits for them, and what they run into is dropped.
  const tellHuman = (message) => {
    try {
      client?.tui?.showToast?.({ body: { title: "hookctl", message, variant: "info" } })?.catch?.(() => {})
    } catch {}
  }
  const log = (message) => {
    try {
      client?.app?.log?.({ body: { service: "hookctl", level: "error", message } })?.catch?.(() => {})
    } catch {}
  }

  const send = async (name, session, fields) => {
    if (OFF.includes(name)) return {}
    // Only a session with a parent has an agent of its own.
    const agent_id = created.get(session) ? session : undefined
    const event = { agent: "opencode", hook_event_name: name, session_id: session, cwd: directory, agent_id, ...fields }
    let answer
    try {
      answer = await ask(event)
    } catch (error) {
      answer = new Error(`hookctl did not judge this: ${error.message}`)
    }
    if (answer.systemMessage) tellHuman(answer.systemMessage)
    return answer
  }

  /** The same where nothing waits for it: a failure is no answer. */
  const tell = async (name, session, fields) => {
    const answer = await send(name, session, fields)
    if (!(answer instanceof Error)) return answer
    log(answer.message)
    return {}
  }

  const start = (session) => {
    const known = started.get(session)
    if (known) return known
    const parent = created.get(session)
    const source = created.has(session) ? "startup" : "resume"
    const answer = parent ? tell("SubagentStart", session, {}) : tell("SessionStart", session, { source })
    return keep(started, session, answer)
  }

  return {
    config: async (config) => {
      servers = Object.keys(config?.mcp ?? {})
    },

    event: async ({ event }) => {
      const session = event?.properties?.sessionID ?? event?.properties?.info?.id
      if (!session) return
      if (event.type === "session.created") {
        keep(created, session, event.properties.info?.parentID ?? "")
        await start(session)
      } else if (event.type === "session.idle") {
        await tell(created.get(session) ? "SubagentStop" : "Stop", session, {})
      }
    },

    "chat.message": async (input, output) => {
      const texts = output.parts.filter((part) => part.type === "text" && !part.synthetic)
      const prompt = texts.map((part) => part.text).join("\n")
      const answer = await tell("UserPromptSubmit", input.sessionID, { prompt })
      if (isDenied(answer)) {
        // OpenCode shows an error that does not say why.
        tellHuman(answer.reason)
        throw new Error(answer.reason)
      }
      if (answer.additionalContext && texts.length > 0) texts[0].text += `\n\n${answer.additionalContext}`
    },

    "experimental.chat.system.transform": async (input, output) => {
      if (!input?.sessionID) return
      const { additionalContext } = await start(input.sessionID)
      if (additionalContext) output.system.push(additionalContext)
    },

    "experimental.session.compacting": async (input, output) => {
      const answer = await tell("PreCompact", input.sessionID, { trigger: "auto" })
      if (answer.additionalContext) output.context.push(answer.additionalContext)
    },

    "tool.execute.before": async (input, output) => {
      const answer = await send("PreToolUse", input.sessionID, {
        tool_name: input.tool,
        tool_input: output.args,
        tool_use_id: input.callID,
        mcp_server: serverOf(input.tool, servers),
      })
      if (answer instanceof Error) throw answer
      if (isDenied(answer)) throw new Error([answer.reason, answer.additionalContext].filter(Boolean).join("\n"))
      if (answer.decision !== undefined) throw new Error("hookctl did not judge this: a decision that is not known")
      if (isObject(answer.updatedInput)) overwrite(output.args, answer.updatedInput)
      if (answer.additionalContext) keep(held, input.callID, answer.additionalContext)
    },

    "tool.execute.after": async (input, output) => {
      const before = held.get(input.callID)
      held.delete(input.callID)
      const answer = await tell("PostToolUse", input.sessionID, {
        tool_name: input.tool,
        tool_input: input.args,
        tool_use_id: input.callID,
        tool_response: { output: textOf(output), metadata: output.metadata },
        mcp_server: serverOf(input.tool, servers),
      })
      const response = answer.updatedToolOutput
      const text = isDenied(answer) ? answer.reason : isObject(response) ? response.output : response
      if (typeof text === "string") setText(output, text)
      if (!isDenied(answer) && isObject(response?.metadata)) output.metadata = response.metadata
      for (const context of [before, answer.additionalContext]) if (context) appendText(output, context)
    },
  }
}
