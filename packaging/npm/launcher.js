#!/usr/bin/env node
// Starts the hookctl of this platform. Hooks never come here: `hookctl install` registers the program itself.
"use strict";
const fs = require("fs");
const os = require("os");
const path = require("path");
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

// Do npx, `pnpm dlx`, `yarn dlx` or bunx keep it only for a while? A hook whose program is gone judges nothing.
function isPassing(program) {
  const temporary = fs.realpathSync(os.tmpdir()) + path.sep;
  return /[\\/](_npx|dlx|dlx-[^\\/]*|bunx-[^\\/]*)[\\/]/.test(program) || program.startsWith(temporary);
}

// Where programs of this user stay.
function lastingPlace(program) {
  const windows = process.platform === "win32" && (process.env.LOCALAPPDATA || path.join(os.homedir(), "AppData", "Local"));
  const directory = windows ? path.join(windows, "hookctl", "bin") : path.join(os.homedir(), ".local", "bin");
  return path.join(directory, path.basename(program));
}

// Copies it next to its place and renames it: an agent that starts it meanwhile finds the old one or the new one.
function keep(program) {
  const place = lastingPlace(program);
  const next = path.join(path.dirname(place), `.hookctl.new.${process.pid}`);
  try {
    fs.mkdirSync(path.dirname(place), { recursive: true });
    fs.copyFileSync(program, next, fs.constants.COPYFILE_EXCL);
    fs.chmodSync(next, 0o755);
    fs.renameSync(next, place);
  } catch (error) {
    fs.rmSync(next, { force: true });
    return fail(`cannot copy the program to ${place}, where it would stay: ${error.message}`);
  }
  process.stderr.write(`hookctl: copied to ${place}, for what was fetched to be run once does not last\n`);
  return place;
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

const args = process.argv.slice(2);
const found = findProgram();
const registers = args[0] === "install" && !args.includes("--dry-run") && !args.includes("--help") && !args.includes("-h");
start(registers && isPassing(found) ? keep(found) : found, args);
