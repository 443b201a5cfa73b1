// Runs conversations with a server by the client of one line of npm versions.
//
// Usage: node clients.cjs FOLDER LINE URL [after]
//
// FOLDER contains the node_modules with @ag-ui/client, LINE is `1` or `0`. The server is `agcore serve`, whose model plays
// `model.json`, in the order of the runs below. No warning is allowed. The last run calls a tool of the front end; then the server is
// killed and started again, and `after` sends the result.
"use strict";

const assert = require("node:assert/strict");
const path = require("node:path");
const { createRequire } = require("node:module");

const [folder, line, url, phase] = process.argv.slice(2);
const load = createRequire(path.join(path.resolve(folder), "node_modules", "@ag-ui", "client", "package.json"));
const { HttpAgent } = load("@ag-ui/client");

const warnings = [];
console.warn = (...words) => warnings.push(words.join(" "));
console.error = (...words) => warnings.push(words.join(" "));

let runs = phase ? 100 : 0;

// Runs the agent, and returns the events that reached the application, with the error that ended the run, if any.
async function run(agent, text, parameters = {}, onEvent = () => {}) {
  runs += 1;
  if (text) agent.addMessage({ id: `user_${line}_${runs}`, role: "user", content: text });
  const events = [];
  let error;
  try {
    await agent.runAgent({ runId: `run_${line}_${runs}`, ...parameters }, {
      onEvent: ({ event }) => {
        events.push(event);
        onEvent(event);
      },
    });
  } catch (problem) {
    error = problem;
  }
  return { events, error, end: events.at(-1), id: `run_${line}_${runs}` };
}

// An agent of which a page can show a thread again.
class Connecting extends HttpAgent {
  connect(input) {
    return new HttpAgent({ url: `${url}/api/v1/agent/connect` }).run(input);
  }
}

// Shows a thread again, as a page does that was reloaded.
async function reloaded(thread) {
  const page = new Connecting({ url: `${url}/api/v1/agent/run`, threadId: `${thread}_${line}` });
  const events = [];
  await page.connectAgent({}, { onEvent: ({ event }) => events.push(event) });
  return { page, end: events.at(-1) };
}

const newAgent = (thread) => new HttpAgent({ url: `${url}/api/v1/agent/run`, threadId: `${thread}_${line}` });
const roles = (agent) => agent.messages.map((message) => message.role);
const answer = (agent) => agent.messages.at(-1).content;

async function conversation() {
  const fresh = await reloaded("talk");
  assert.deepEqual([fresh.page.messages, fresh.end.type], [[], "RUN_FINISHED"]);
  const agent = newAgent("talk");
  const first = await run(agent, "How is the weather?");
  assert.equal(first.error, undefined);
  assert.deepEqual(roles(agent), ["user", "assistant", "tool", "assistant"]);
  assert.equal(agent.messages[1].toolCalls[0].function.name, "arithmetic");
  assert.equal(agent.messages[2].content, "21");
  assert.equal(answer(agent), "It has 21 degrees.");
  assert.equal(first.end.type, "RUN_FINISHED");
  await run(agent, "What did I ask?");
  assert.equal(answer(agent), "You asked about the weather.");
  assert.equal(agent.messages.length, 6);
  const again = await reloaded("talk");
  assert.deepEqual(roles(again.page), roles(agent));
  assert.equal(answer(again.page), answer(agent));
}

async function approval(isApproved, result, text) {
  const agent = newAgent(isApproved ? "approve" : "deny");
  const asked = await run(agent, "Pay.");
  assert.equal(asked.error, undefined);
  assert.equal(asked.end.outcome.type, "interrupt");
  const [interrupt] = asked.end.outcome.interrupts;
  assert.equal(interrupt.reason, "approval");
  assert.equal(interrupt.toolCallId, agent.messages.at(-1).toolCalls[0].id);
  const again = await reloaded(isApproved ? "approve" : "deny");
  assert.deepEqual(again.end.outcome, asked.end.outcome);
  const resume = [{ interruptId: interrupt.id, status: "resolved", payload: { approved: isApproved, message: "not today" } }];
  // Some clients answer under the id of the run that has asked.
  const resumed = await run(agent, undefined, isApproved ? { resume, runId: asked.id } : { resume });
  assert.equal(resumed.error, undefined);
  assert.equal(resumed.events[0].runId, isApproved ? `${asked.id}.2` : resumed.id);
  const tool = agent.messages.find((message) => message.role === "tool");
  assert.equal(tool.toolCallId, interrupt.toolCallId);
  assert.match(tool.content, result);
  assert.equal(answer(agent), text);
}

const PARAMETERS = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const tools = [{ name: "show_map", description: "Shows a map.", parameters: PARAMETERS }];

async function frontEndTool() {
  const agent = newAgent("map");
  const called = await run(agent, "Show me Rome.", { tools });
  assert.equal(called.error, undefined);
  const [call] = agent.messages.at(-1).toolCalls;
  assert.equal(call.function.name, "show_map");
  assert.deepEqual(JSON.parse(call.function.arguments), { city: "Rome" });
  assert.equal(called.end.type, "RUN_FINISHED");
  if (line === "1") assert.deepEqual(called.end.outcome, { type: "success", pendingToolCallIds: [call.id] });
  agent.addMessage({ id: `result_${line}`, role: "tool", toolCallId: call.id, content: "shown" });
  const continued = await run(agent, undefined, { tools });
  assert.equal(continued.error, undefined);
  assert.deepEqual(roles(agent), ["user", "assistant", "tool", "assistant"]);
  assert.equal(answer(agent), "The map is shown.");
}

async function cancel() {
  const agent = newAgent("cancel");
  let cancelled;
  const stopped = await run(agent, "Think.", {}, (event) => {
    if (event.type !== "TEXT_MESSAGE_CONTENT" || cancelled) return;
    const route = `${url}/api/v1/agent/runs/cancel_${line}/run_${line}_${runs}/cancel`;
    cancelled = fetch(route, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
  });
  assert.equal((await cancelled).status, 200);
  if (line === "1") {
    assert.equal(stopped.error, undefined);
    assert.deepEqual(stopped.end.outcome, { type: "cancelled" });
  } else {
    assert.equal(stopped.end.type, "RUN_ERROR");
    assert.equal(stopped.end.code, "RUN_CANCELED");
    // The client reports an error of a run as a warning of its own.
    warnings.length = 0;
  }
  const again = await run(agent, "Are you back?");
  assert.equal(again.error, undefined);
  assert.equal(answer(agent), "I am back.");
}

// Returns what the server answers to a request, whose status must be this.
async function ask(method, path, status, body) {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${url}/api/v1/agent/${path}`, { method, headers, body: body && JSON.stringify(body) });
  assert.equal(answer.status, status, await answer.clone().text());
  return answer.json();
}

// The page and the agent change one state; the one that is late is refused.
async function sharedState() {
  const agent = newAgent("list");
  // Long enough that a change is sent as a patch, which is shorter.
  const note = "For Sunday. ".repeat(50);
  agent.setState({ items: ["tea"], note });
  const context = [{ description: "The time of the user", value: "noon" }];
  const { events, error } = await run(agent, "Add milk.", { context });
  assert.equal(error, undefined);
  assert.ok(events.some((event) => event.type === "STATE_DELTA"), JSON.stringify(events));
  assert.deepEqual(agent.state, { items: ["tea", "milk"], note });
  assert.equal(answer(agent), "I have added milk.");
  const { version, state } = await ask("GET", `sessions/list_${line}/state`, 200);
  assert.deepEqual([version, state], [2, agent.state]);
  const patch = { version: 1, patch: [{ op: "remove", path: "/items/0" }] };
  assert.equal((await ask("PATCH", `sessions/list_${line}/state`, 409, patch)).code, "state_changed");
  agent.setState({ items: ["butter"] });
  const late = await run(agent, "Add butter.", { forwardedProps: { stateVersion: 1 } });
  assert.match(`${late.error} ${warnings}`, /409|state_changed/);
  warnings.length = 0;
}

// A red dot of one pixel, in the form of each version.
const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const IMAGE = line === "1"
  ? { type: "image", source: { type: "data", value: DOT, mimeType: "image/png" } }
  : { type: "binary", mimeType: "image/png", data: DOT };

async function imageAndBranch() {
  const agent = newAgent("dot");
  agent.addMessage({ id: `dot_${line}`, role: "user", content: [{ type: "text", text: "Which color is it?" }, IMAGE] });
  const seen = await run(agent);
  assert.equal(seen.error, undefined);
  assert.equal(answer(agent), "It is a red dot.");
  const { messages } = await ask("GET", `history?threadId=dot_${line}`, 200);
  const branch = await ask("POST", `sessions/dot_${line}/branches`, 201, { before: messages[0].id });
  const other = new HttpAgent({ url: `${url}/api/v1/agent/run`, threadId: branch.threadId });
  const again = await run(other, "Say it is blue.");
  assert.equal(again.error, undefined);
  assert.equal(answer(other), "In the branch it is a blue dot.");
  assert.equal((await ask("GET", `history?threadId=dot_${line}`, 200)).messages.length, messages.length);
}

async function beforeTheKill() {
  const agent = newAgent("late");
  const called = await run(agent, "Show me Lima.", { tools });
  assert.equal(called.error, undefined);
  assert.equal(agent.messages.at(-1).toolCalls[0].function.name, "show_map");
}

async function afterTheKill() {
  const { page } = await reloaded("late");
  const [call] = page.messages.at(-1).toolCalls;
  page.addMessage({ id: `late_${line}`, role: "tool", toolCallId: call.id, content: "shown" });
  const continued = await run(page, undefined, { tools });
  assert.equal(continued.error, undefined);
  assert.equal(answer(page), "The map was shown after all.");
  assert.deepEqual(warnings, []);
  console.log(`npm ${line}.x: a result after the server was killed and started again`);
}

async function main() {
  if (phase === "after") return afterTheKill();
  await conversation();
  await approval(true, /^Saved to /, "It is paid.");
  await approval(false, /not today/, "I did not pay.");
  await frontEndTool();
  await cancel();
  await sharedState();
  await imageAndBranch();
  await beforeTheKill();
  assert.deepEqual(warnings, []);
  console.log(`npm ${line}.x: ${runs} runs: a conversation with a tool, reloads, an approval, a denial, a tool of the front end, a cancel, a shared state, context, an image and a branch, without a warning`);
}

main().catch((problem) => {
  console.log(`npm ${line}.x: ${problem.stack}\n${warnings.join("\n")}`);
  process.exitCode = 1;
});
