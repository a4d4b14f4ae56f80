// The page: asks what there is, listens to what happens, and sends a human's answers over the same socket.
import { countsChart, historyItem, make, questionCard, sessionCard, showTimeLeft } from "/view.js";

const byId = (id) => document.getElementById(id);
const [status, pending, told] = [byId("status"), byId("pending"), byId("told")];
/** The questions that are shown, by their number: a card stays while its question does, with what is typed there. */
const cards = new Map();
/** Calls over the socket that have no answer yet. */
const calls = new Map();
let [socket, number, skew, delay, nextBefore, historyAsked] = [null, 0, 0, 500, null, 0];

const now = () => Date.now() + skew;

/** What is shown beside the cookie: a cookie goes to all ports of this host, and this stays with this page. */
const KEY = "hookctl_key";
const key = () => localStorage.getItem(KEY) ?? "";
const withKey = (headers) => (key() ? { "X-Hookctl-Key": key(), ...headers } : headers);

async function post(path, body) {
  return fetch(path, { method: "POST", headers: withKey({ "Content-Type": "application/json" }), body: JSON.stringify(body) });
}

async function load(path) {
  const response = await fetch(path, { headers: withKey({}) });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.json();
}

function show(id) {
  for (const main of ["pairing", "board"]) byId(main).hidden = main !== id;
  byId("logout").hidden = id !== "board";
}

// ---- pairing

async function pair(code, name) {
  const response = await post("/api/pair", { code, name: name || deviceName() });
  if (response.ok) {
    localStorage.setItem(KEY, (await response.json()).key);
    return true;
  }
  const words = { 401: "This code is not known, or was used already.", 429: "Too many tries: wait a minute." };
  byId("pair-error").textContent = words[response.status] ?? `The server says ${response.status}.`;
  return false;
}

function deviceName() {
  const known = ["iPhone", "iPad", "Android", "Macintosh", "Windows", "Linux"];
  return `browser (${known.find((name) => navigator.userAgent.includes(name)) ?? "unknown"})`;
}

byId("pair-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (await pair(byId("pair-code").value.trim(), byId("pair-name").value.trim())) start();
});

byId("logout").addEventListener("click", async () => {
  await post("/api/logout", {});
  localStorage.removeItem(KEY);
  socket?.close();
  location.replace("/");
});

// ---- questions

async function answer(card, said) {
  const buttons = [...card.querySelectorAll("button")].filter((button) => !button.disabled);
  buttons.forEach((button) => (button.disabled = true));
  try {
    await call("permission/respond", { tool_use_id: card.dataset.id, ...said });
  } catch (error) {
    card.querySelector(".said").textContent = error.message;
    buttons.forEach((button) => (button.disabled = false));
  }
  refresh();
}

function tell(text) {
  told.prepend(make("li", { text }));
  while (told.children.length > 5) told.lastChild.remove();
}

function resolved(event) {
  const card = cards.get(event.tool_use_id);
  const title = card?.element.querySelector("h3").textContent ?? "A question";
  const words = { allow: "allowed", deny: "denied" };
  const by = event.source === "memory" ? "from memory" : event.resolved_by ? `by ${event.resolved_by}` : "";
  if (event.decision in words) tell(`${title}: ${words[event.decision]}${event.scope === "session" ? " for the session" : ""} ${by}`);
  else tell(`${title}: over (${event.input})`);
}

function showQuestions(questions) {
  const open = new Set(questions.map((question) => question.tool_use_id));
  for (const [id, card] of cards) {
    if (!open.has(id)) {
      card.element.remove();
      cards.delete(id);
    }
  }
  for (const question of questions) {
    if (cards.has(question.tool_use_id)) continue;
    const element = questionCard(question, answer);
    cards.set(question.tool_use_id, { element, expires: question.expires });
    pending.append(element);
  }
  byId("nothing").hidden = cards.size > 0;
  document.title = cards.size ? `(${cards.size}) hookctl` : "hookctl";
  tick();
}

function tick() {
  for (const { element, expires } of cards.values()) showTimeLeft(element, expires, now());
}

// ---- what there is

let [asked, again] = [false, false];

/** Asks for everything that is shown; while that runs, once more at most. */
async function refresh() {
  if (asked) {
    again = true;
    return;
  }
  asked = true;
  try {
    const midnight = new Date();
    midnight.setHours(0, 0, 0, 0);
    const [state, counts] = await Promise.all([load("/api/state"), load(`/api/counts?since=${midnight.getTime()}`)]);
    skew = state.now - Date.now();
    const sessions = state.sessions;
    status.textContent = `${state.device.name}: ${sessions.length} sessions, ${state.pending.length} waiting`;
    showQuestions(state.pending);
    const opened = new Set([...document.querySelectorAll(".session:has(details[open])")].map((one) => one.dataset.id));
    byId("sessions").replaceChildren(...sessions.map((session) => sessionCard(session, now())));
    for (const one of document.querySelectorAll(".session")) {
      const past = one.querySelector("details");
      if (past) past.open = opened.has(one.dataset.id);
    }
    if (!sessions.length) byId("sessions").append(make("p", { text: "No session yet.", kind: "faint" }));
    byId("today").replaceChildren(...countsChart(counts));
    await showHistory(false);
  } catch (error) {
    status.textContent = `Not up to date: ${error.message}`;
  }
  asked = false;
  if (again) {
    again = false;
    setTimeout(refresh, 200);
  }
}

async function showHistory(older) {
  const mine = ++historyAsked;
  const search = encodeURIComponent(byId("search").value);
  const before = older && nextBefore ? `&before=${nextBefore}` : "";
  const found = await load(`/api/history?limit=50&search=${search}${before}`);
  // Somebody typed on meanwhile.
  if (mine !== historyAsked) return;
  const items = found.entries.map(historyItem);
  if (older) byId("history").append(...items);
  else byId("history").replaceChildren(...items);
  nextBefore = found.next_before;
  byId("older").hidden = !nextBefore;
}

byId("search").addEventListener("input", () => showHistory(false).catch(() => {}));
byId("older").addEventListener("click", () => showHistory(true).catch(() => {}));

// ---- the socket

function call(method, params) {
  return new Promise((resolve, reject) => {
    if (socket?.readyState !== WebSocket.OPEN) {
      reject(new Error("The server cannot be reached just now."));
      return;
    }
    const id = ++number;
    calls.set(id, { resolve, reject });
    socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  });
}

function take(message) {
  if (calls.has(message.id)) {
    const { resolve, reject } = calls.get(message.id);
    calls.delete(message.id);
    if (message.error) reject(new Error(message.error.message));
    else resolve(message.result);
    return;
  }
  if (message.method === "event/pty_permission_resolved") resolved(message.params);
  // By a sign of life alone too: what is stale goes without an event.
  if (message.method || message.event === "heartbeat") refresh();
}

function listen() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  socket = new WebSocket(`${scheme}://${location.host}/ws`, ["hookctl", key()]);
  socket.addEventListener("open", () => {
    delay = 500;
    document.body.classList.add("live");
    refresh();
  });
  socket.addEventListener("message", (event) => take(JSON.parse(event.data)));
  socket.addEventListener("close", () => {
    document.body.classList.remove("live");
    for (const { reject } of calls.values()) reject(new Error("The connection broke: look whether the question still stands."));
    calls.clear();
    status.textContent = "Reconnecting";
    setTimeout(start, delay);
    delay = Math.min(delay * 2, 10_000);
  });
}

async function start() {
  let paired;
  try {
    ({ paired } = await load("/api/paired"));
  } catch {
    status.textContent = "Reconnecting";
    setTimeout(start, delay);
    delay = Math.min(delay * 2, 10_000);
    return;
  }
  show(paired ? "board" : "pairing");
  status.textContent = paired ? "Connecting" : "Not paired";
  if (paired) listen();
}

// ---- keys

const shown = () => [...pending.children];

/** The question that a key means: the one that has the focus. Without one it gets it, and nothing is answered. */
function focused() {
  const question = document.activeElement?.closest("article.question");
  if (!question) shown()[0]?.focus();
  return question;
}

function step(by) {
  const all = shown();
  const at = all.indexOf(document.activeElement?.closest("article.question"));
  all[Math.min(all.length - 1, Math.max(0, at < 0 ? 0 : at + by))]?.focus();
}

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  a: () => focused()?.querySelector("button.once").click(),
  s: () => focused()?.querySelector("button.session").click(),
  d: () => focused()?.querySelector("button.no").click(),
  r: () => focused()?.querySelector("form input").focus(),
  "/": () => byId("search").focus(),
};

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") document.activeElement?.blur();
  const types = event.target instanceof HTMLInputElement;
  if (types || event.ctrlKey || event.metaKey || event.altKey || event.repeat || !(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
});

setInterval(tick, 1000);

// The code is used up, and nobody need find it in the history.
const code = decodeURIComponent(location.hash.slice(1));
if (code) {
  history.replaceState(null, "", "/");
  byId("pair-code").value = code;
  await pair(code, "");
}
start();
