// The least that works: pair, see what waits, answer. Text of agents is only ever set as text.
"use strict";
const status = document.getElementById("status");
const pending = document.getElementById("pending");

async function post(path, body) {
  const headers = { "Content-Type": "application/json" };
  return fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
}

async function pair() {
  const code = location.hash.slice(1);
  if (!code) return;
  // The code is used up, and nobody need find it in the history.
  history.replaceState(null, "", "/");
  await post("/api/pair", { code, name: navigator.userAgent.slice(0, 60) });
}

function add(parent, name, text) {
  const element = document.createElement(name);
  element.textContent = text;
  parent.append(element);
  return element;
}

function show(question) {
  const article = document.createElement("article");
  add(article, "h2", `${question.tool_name} in ${question.workspace_id}`);
  add(article, "pre", question.target || question.description);
  add(article, "p", question.effects);
  if (question.rule) add(article, "p", `${question.rule}: ${question.why}`);
  const answers = [["Allow Once", "allow", "once"], ["Allow for Session", "allow", "session"], ["Deny", "deny", "once"]];
  for (const [label, decision, scope] of answers) {
    add(article, "button", label).addEventListener("click", async () => {
      await post("/api/answer", { tool_use_id: question.tool_use_id, decision, scope });
      refresh();
    });
  }
  pending.append(article);
}

async function refresh() {
  const response = await fetch("/api/state");
  if (!response.ok) {
    status.textContent = "This browser is not paired: run `hookctl serve pair` and open what it prints.";
    return false;
  }
  const state = await response.json();
  status.textContent = `${state.sessions.length} sessions, ${state.pending.length} questions`;
  pending.replaceChildren();
  state.pending.forEach(show);
  return true;
}

function listen() {
  const socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/ws`);
  socket.addEventListener("message", refresh);
  socket.addEventListener("close", () => setTimeout(start, 2000));
}

async function start() {
  if (await refresh().catch(() => false)) listen();
}

pair().then(start);
