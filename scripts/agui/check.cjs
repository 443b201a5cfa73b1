// Validates AG-UI events with the packages of one line of npm versions.
//
// Usage: node check.cjs FOLDER LINE FILE
//
// FOLDER contains the node_modules with @ag-ui/client, LINE is `1` or `0`, and each line of FILE is a log: {name, format,
// refused, events, texts, stream}. Each event is parsed by the schemas of @ag-ui/core, and each log is run through the pipeline
// of @ag-ui/client, over HTTP where the log has a stream. The messages of the client must be `texts`. In the standard dialect of 1.0, the schema is closed, and no warning is allowed. Logs with `refused` must fail.
"use strict";

const fs = require("node:fs");
const http = require("node:http");
const path = require("node:path");
const { createRequire } = require("node:module");

const [folder, line, file] = process.argv.slice(2);
const load = createRequire(path.join(path.resolve(folder), "node_modules", "@ag-ui", "client", "package.json"));
const { AbstractAgent, HttpAgent } = load("@ag-ui/client");
const { from } = load("rxjs");
const schema = line === "1" ? load("@ag-ui/core/schemas").EventSchema : load("@ag-ui/core").EventSchemas;
const closed = line === "1" ? closedSchema() : undefined;

// The published JSON Schema allows no other members; the schemas of the package do, and are closed here. Operations of JSON
// Patch are open in both.
function closedSchema() {
  const { z } = load("zod/v4");
  const Ajv = createRequire(path.join(path.resolve(folder), "package.json"))("ajv/dist/2020").default;
  const json = z.toJSONSchema(schema, { unrepresentable: "any", io: "input" });
  const close = (node) => {
    if (Array.isArray(node)) return node.forEach(close);
    if (node === null || typeof node !== "object") return;
    if (node.properties && !node.properties.op) node.additionalProperties = false;
    Object.values(node).forEach(close);
  };
  close(json);
  return new Ajv({ strict: false, allErrors: false }).compile(json);
}

class Replay extends AbstractAgent {
  constructor(threadId, events) {
    super({ threadId });
    this.events = events;
  }
  run() {
    return from(this.events);
  }
}

// Serves the streams of logs, in pieces that end anywhere.
const streams = new Map();
const server = http.createServer((request, response) => {
  const bytes = Buffer.from(streams.get(request.url));
  response.writeHead(200, { "content-type": "text/event-stream", connection: "close" });
  request.resume().on("end", () => {
    for (let at = 0; at < bytes.length; at += 61) response.write(bytes.subarray(at, at + 61));
    response.end();
  });
});

function agentFor(log, threadId) {
  if (!log.stream) return new Replay(threadId, structuredClone(log.events));
  const path = `/${streams.size}`;
  streams.set(path, log.stream);
  return new HttpAgent({ threadId, url: `http://127.0.0.1:${server.address().port}${path}` });
}

// Returns what is wrong with a log.
async function problems(log) {
  const found = [];
  for (const event of log.events) {
    const parsed = schema.safeParse(event);
    if (!parsed.success) found.push(`${event.type}: ${parsed.error.issues[0]?.path?.join(".")} ${parsed.error.issues[0]?.message}`);
    if (log.format === "standard-1" && !closed(event)) found.push(`${event.type}: not allowed by the closed schema: ${JSON.stringify(event)}`);
  }
  const warnings = [];
  const { warn, error } = console;
  console.warn = (...words) => warnings.push(words.join(" "));
  console.error = (...words) => warnings.push(words.join(" "));
  const first = log.events[0] ?? {};
  const failed = log.events.some((event) => event.type === "RUN_ERROR");
  try {
    const agent = agentFor(log, first.threadId ?? "t");
    await agent.runAgent({ runId: first.runId ?? "r" });
    if (log.texts && !failed) {
      const texts = agent.messages.filter((message) => message.role === "assistant" && message.content).map((message) => message.content);
      if (JSON.stringify(texts) !== JSON.stringify(log.texts)) found.push(`the client has ${JSON.stringify(texts)}, expected ${JSON.stringify(log.texts)}`);
    }
  } catch (problem) {
    found.push(`the client ends with: ${problem.message}`);
  } finally {
    Object.assign(console, { warn, error });
  }
  // The client of 1.0 warns about the members of the superset. A failed run is reported as an error in any case.
  if (!failed && log.format !== "superset-1") found.push(...warnings);
  return found;
}

async function main() {
  const counts = {};
  let wrong = 0;
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  for (const text of fs.readFileSync(file, "utf8").split("\n").filter(Boolean)) {
    const log = JSON.parse(text);
    if (!log.format.endsWith(`-${line}`)) continue;
    const found = await problems(log);
    if (log.refused ? found.length === 0 : found.length > 0) {
      wrong += 1;
      console.log(`${log.format}, ${log.name}: ${log.refused ? "was not refused" : found.slice(0, 3).join("\n  ")}`);
    }
    const count = (counts[log.format] ??= { logs: 0, streams: 0, events: 0, refused: 0 });
    count.logs += 1;
    count.streams += log.stream ? 1 : 0;
    count.events += log.events.length;
    count.refused += log.refused ? 1 : 0;
  }
  for (const [format, count] of Object.entries(counts)) {
    console.log(`npm ${line}.x, ${format}: ${count.logs} logs (${count.streams} over HTTP) with ${count.events} events, ${count.refused} refused on purpose`);
  }
  server.close();
  process.exitCode = wrong > 0 || Object.keys(counts).length === 0 ? 1 : 0;
}

main();
