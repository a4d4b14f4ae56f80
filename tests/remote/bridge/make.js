// What node itself makes of values.txt: node make.js
const fs = require("fs");
const path = (name) => require("path").join(__dirname, name);
const lines = fs.readFileSync(path("values.txt"), "utf8").split("\n").filter((line) => line);
lines.push(JSON.stringify({ long: "é\n".repeat(5000) }));
fs.writeFileSync(path("values.json"), JSON.stringify(lines.map((line) => JSON.parse(line)), null, 2));
// An event as the hook of agent-hooks keeps it.
const event = JSON.parse(fs.readFileSync(path("event.txt"), "utf8"));
event.__hook_timestamp = "@ISO@";
event.__hook_received = "@MS@";
fs.writeFileSync(path("event.json"), JSON.stringify([event], null, 2).replace('"@MS@"', "@MS@"));
