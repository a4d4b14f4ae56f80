#!/usr/bin/env node
// Starts the hookctl of this platform. Hooks never come here: `hookctl install` registers the program itself, where it stays.
"use strict";
const { spawn } = require("child_process");

function fail(text) {
  process.stderr.write(`hookctl: ${text}\n`);
  process.exit(2);
}

// The program's own file, in the package of this platform.
function findProgram() {
  const name = `${process.platform}-${process.arch}`;
  const file = process.platform === "win32" ? "hookctl.exe" : "hookctl";
  try {
    return require.resolve(`@hookctl/${name}/bin/${file}`);
  } catch {
    const known = Object.keys(require("../package.json").optionalDependencies);
    if (!known.includes(`@hookctl/${name}`)) {
      return fail(`there is no package for ${name}; there are: ${known.join(", ")}`);
    }
    return fail(`@hookctl/${name} is missing: install hookctl again, with optional dependencies`);
  }
}

function start(program, args) {
  const child = spawn(program, args, { stdio: "inherit" });
  const signals = process.platform === "win32" ? ["SIGINT", "SIGBREAK"] : ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];
  // A terminal sends them to both: this one waits for what the program makes of them.
  for (const signal of signals) process.on(signal, () => process.stdin.isTTY || child.kill(signal));
  child.on("error", (error) => fail(`${program} does not start: ${error.message}`));
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

start(findProgram(), process.argv.slice(2));
