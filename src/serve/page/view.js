// What is seen. Text of agents is only ever set as text: nothing here reads markup.

/** Characters that show nothing, or turn around what is beside them, written out. */
const visible = (text) =>
  String(text).replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u3164\u115f\u1160\uffa0]/gu, (one) =>
    one === "\n" || one === "\t" ? one : `\\u{${one.codePointAt(0).toString(16)}}`,
  );

/** An element with text and children. */
export function make(name, { text, kind, ...attributes } = {}, ...children) {
  const element = document.createElement(name);
  if (text !== undefined && text !== null) element.textContent = visible(text);
  if (kind) element.className = kind;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children.filter(Boolean));
  return element;
}

/** Seconds and minutes, as people say them. */
export function duration(milliseconds) {
  if (milliseconds < 1000) return `${Math.max(0, Math.round(milliseconds))} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return `${Math.round(milliseconds / 60_000)} min`;
}

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "short", timeStyle: "short" });

function facts(pairs) {
  const list = make("dl");
  for (const [name, value] of pairs) {
    if (value) list.append(make("dt", { text: name }), make("dd", { text: value }));
  }
  return list;
}

/** The lines of two texts beside each other: what is gone, what is new, what stays. */
export function diffLines(before, after) {
  const [old, fresh] = [before.split("\n"), after.split("\n")];
  // Above that a table of all pairs takes too long for a phone.
  if (old.length * fresh.length > 250_000) {
    return [...old.map((line) => ["-", line]), ...fresh.map((line) => ["+", line])];
  }
  const common = Array.from({ length: old.length + 1 }, () => new Uint32Array(fresh.length + 1));
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      common[i][j] = old[i] === fresh[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const lines = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < fresh.length) {
    if (i < old.length && j < fresh.length && old[i] === fresh[j]) lines.push([" ", old[(j++, i++)]]);
    else if (j === fresh.length || (i < old.length && common[i + 1][j] >= common[i][j + 1])) lines.push(["-", old[i++]]);
    else lines.push(["+", fresh[j++]]);
  }
  return lines;
}

function diff(before, after) {
  const box = make("pre", { kind: "diff", tabindex: "0", "aria-label": "what changes" });
  for (const [sign, line] of diffLines(before, after)) {
    const kind = { "-": "removed", "+": "added" }[sign];
    box.append(make("span", { text: `${sign} ${line}\n`, kind }));
  }
  return box;
}

const asText = (value) => (typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value, null, 2));

const isChange = (edit) => typeof edit?.old_string === "string" && typeof edit?.new_string === "string";

/** What the call would do, as its tool has it: nothing of its input is left out. */
function preview(question) {
  const input = question.tool_input;
  if (input === null || typeof input !== "object" || Array.isArray(input)) {
    return [make("pre", { text: asText(input), tabindex: "0" })];
  }
  const { old_string, new_string, content, command, edits, ...rest } = input;
  const boxes = [];
  if (typeof command === "string") boxes.push(make("pre", { text: command, kind: "command", tabindex: "0" }));
  else if (command !== undefined) rest.command = command;
  if (isChange(input)) boxes.push(diff(old_string, new_string));
  else Object.assign(rest, { old_string, new_string });
  if (Array.isArray(edits) && edits.length && edits.every(isChange)) {
    for (const { old_string, new_string, ...more } of edits) {
      boxes.push(diff(old_string, new_string), facts(Object.entries(more).map(([key, value]) => [key, asText(value)])));
    }
  } else if (edits !== undefined) rest.edits = edits;
  if (typeof content === "string") boxes.push(diff("", content));
  else if (content !== undefined) rest.content = content;
  return [...boxes, facts(Object.entries(rest).map(([key, value]) => [key, asText(value)]))];
}

/** A question with its answers. `answer` is called with what the human chose. */
export function questionCard(question, answer) {
  const card = make("article", { kind: "question", tabindex: "-1", "data-id": question.tool_use_id });
  const left = make("progress", { max: Math.max(1, question.expires - question.created), "aria-label": "time left" });
  card.append(
    make("h3", { text: `${question.tool_name} in ${question.workspace_id}` }),
    ...preview(question),
    facts([
      ["target", question.target],
      ["does", question.effects],
      ["rule", question.rule],
      ["why", question.why],
      ["directory", question.cwd],
      ["for session", question.session_pattern ?? "would hold for this call alone"],
      ["note", question.cut ? "the hook had to shorten the text of this call" : ""],
    ]),
    left,
    make("p", { kind: "faint left" }),
  );
  const choose = (label, kind, choice) => {
    const button = make("button", { text: label, kind: `${kind} ${choice.key}`, type: "button" });
    button.addEventListener("click", () => answer(card, choice.said()));
    return button;
  };
  const reason = make("input", { maxlength: "4000", placeholder: "Reason, which the model reads", "aria-label": "reason" });
  const why = make("form", {}, reason, make("button", { text: "Deny with reason", kind: "deny with-reason" }));
  why.addEventListener("submit", (event) => {
    event.preventDefault();
    answer(card, { decision: "deny", scope: "once", reason: reason.value });
  });
  const session = choose("Allow for Session", "allow", { key: "session", said: () => ({ decision: "allow", scope: "session" }) });
  session.disabled = !question.session_pattern;
  card.append(
    make(
      "div",
      { kind: "answers" },
      choose("Allow Once", "allow", { key: "once", said: () => ({ decision: "allow", scope: "once" }) }),
      session,
      choose("Deny", "deny", { key: "no", said: () => ({ decision: "deny", scope: "once" }) }),
      why,
    ),
    make("p", { kind: "deny-text said", role: "alert" }),
  );
  return card;
}

/** Shows how much time a question has left. */
export function showTimeLeft(card, expires, now) {
  const left = Math.max(0, expires - now);
  card.querySelector("progress").value = left;
  card.querySelector(".left").textContent = left ? `${Math.ceil(left / 1000)} s left, then the agent asks by itself` : "time is over";
}

const STATES = {
  start: "started",
  active: "working",
  tool_running: "runs a tool",
  permission_pending: "waits for you",
  inactive: "quiet",
};

/** A session with what it did. */
export function sessionCard(session, now) {
  const timeline = make("ol", { kind: "timeline" });
  for (const step of session.tool_history) {
    const took = step.end ? duration(step.duration_ms ?? step.end - step.start) : `runs for ${duration(now - step.start)}`;
    const input = step.input ?? {};
    const what = typeof input === "string" ? input : [input.command, input.file_path, input.url, input.pattern].find((text) => typeof text === "string");
    timeline.append(
      make(
        "li",
        {},
        make("span", { text: `${clock.format(step.start)} `, kind: "faint" }),
        make("strong", { text: step.tool }),
        make("span", { text: ` ${(what ?? "").slice(0, 200)} ` }),
        make("span", { text: took, kind: step.is_error ? "deny-text" : "faint" }),
      ),
    );
  }
  const tools = session.tool_history.length;
  const past = make("details", {}, make("summary", { text: `${tools} ${tools === 1 ? "call" : "calls"}` }), timeline);
  const state = session.answer_on_desktop ? "asks on its own terminal" : STATES[session.state] ?? session.state;
  return make(
    "article",
    { kind: "session", "data-id": session.session_id },
    make("h3", { text: session.project || session.workspace_id || session.session_id }),
    facts([
      ["state", session.current_tool ? `${state}: ${session.current_tool}` : state],
      ["kind", session.kind],
      ["last activity", `${duration(now - session.last_activity)} ago`],
      ["directory", session.cwd],
      ["says", session.message],
    ]),
    tools ? past : null,
  );
}

function outcome(entry) {
  if (entry.state === "answered") {
    const by = { memory: "from memory", server: "by the server" }[entry.source] ?? (entry.by ? `by ${entry.by}` : "");
    const scope = entry.scope === "session" ? " for the session" : "";
    return `${entry.decision === "allow" ? "allowed" : "denied"}${scope} ${by}`.trim();
  }
  return { cancelled: "its hook went away", expired: "nobody answered in time" }[entry.state] ?? entry.state;
}

/** A question that is over. */
export function historyItem(entry) {
  const kind = entry.state !== "answered" ? "faint" : entry.decision === "allow" ? "allow-text" : "deny-text";
  return make(
    "li",
    {},
    make("span", { text: `${day.format(entry.created)} `, kind: "faint" }),
    make("strong", { text: `${entry.tool_name} ` }),
    make("span", { text: `${entry.target || entry.description || ""} ` }),
    make("span", { text: outcome(entry), kind }),
    make("span", { text: entry.answered ? ` after ${duration(entry.answered - entry.created)}` : "", kind: "faint" }),
    entry.reason && entry.state === "answered" ? make("div", { text: entry.reason, kind: "faint" }) : null,
  );
}

function chart(rows) {
  const most = Math.max(1, ...rows.map(([, count]) => count));
  const box = make("div", { kind: "chart" });
  for (const [name, count] of rows) {
    const bar = make("div", { kind: "bar", "aria-hidden": "true" });
    bar.style.width = `${(100 * count) / most}%`;
    box.append(make("span", { text: name, kind: "name" }), bar, make("span", { text: String(count) }));
  }
  return box;
}

/** Today's answers by verdict and by rule. */
export function countsChart(counts) {
  if (!counts.total) return [make("p", { text: "No questions yet.", kind: "faint" })];
  const words = { allow: "allowed", deny: "denied", timeout: "no answer", cancelled: "hook gone", open: "open" };
  const verdicts = Object.entries(words).map(([key, word]) => [word, counts.verdicts[key]]);
  const rules = counts.rules.slice(0, 10).map(({ rule, count }) => [rule, count]);
  return [chart(verdicts.filter(([, count]) => count)), rules.length ? make("h3", { text: "By rule" }) : "", rules.length ? chart(rules) : ""].filter(Boolean);
}
