// Runs chats with a server by the class of the package `ai` on which `useChat` is built, and its default transport.
//
// Usage: node clients.mjs FOLDER MAJOR URL
//
// FOLDER contains the node_modules with the package of the version MAJOR. The server is `agcore serve`, whose model plays
// `model.json`, in the order of the messages below.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [folder, major, url] = process.argv.slice(2);
const dist = path.join(path.resolve(folder), "node_modules/ai/dist");
const entry = ["index.mjs", "index.js"].map((name) => path.join(dist, name)).find((file) => existsSync(file));
const ai = await import(pathToFileURL(entry));
const { AbstractChat, DefaultChatTransport, lastAssistantMessageIsCompleteWithToolCalls } = ai;
const api = `${url}/api/v1/agent/ui${major === "5" ? "?version=5" : ""}`;
const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

// The state that React keeps.
class State {
  status = "ready";
  error = undefined;
  messages = [];
  pushMessage = (message) => {
    this.messages = [...this.messages, message];
  };
  popMessage = () => {
    this.messages = this.messages.slice(0, -1);
  };
  replaceMessage = (index, message) => {
    this.messages = this.messages.map((known, at) => (at === index ? message : known));
  };
  snapshot = (value) => structuredClone(value);
}

class Chat extends AbstractChat {
  constructor({ body, ...options }) {
    const errors = [];
    const waiting = [];
    super({
      ...options,
      state: new State(),
      transport: new DefaultChatTransport({ api, body }),
      onError: (error) => errors.push(error),
      onFinish: () => waiting.splice(0).forEach((resolve) => resolve()),
    });
    this.errors = errors;
    this.waiting = waiting;
  }

  get last() {
    assert.deepEqual(this.errors, []);
    return this.messages.at(-1);
  }
}

const texts = (message) => message.parts.filter((part) => part.type === "text").map((part) => part.text).join("");
const tool = (message, name) => {
  const parts = message.parts.filter((part) => part.toolName === name || part.type === `tool-${name}`);
  assert.equal(parts.length, 1, JSON.stringify(message.parts));
  return parts[0];
};

// Does what makes a chat send a request on its own, and waits for the end of its answer.
async function answered(chat, act, text) {
  const end = new Promise((resolve) => chat.waiting.push(resolve));
  await act();
  await end;
  assert.equal(texts(chat.last), text);
}

async function conversation() {
  const chat = new Chat({ id: `talk_${major}` });
  await chat.resumeStream();
  await chat.sendMessage({ text: "How is the weather?" });
  assert.equal(texts(chat.last), "It has 21 degrees.");
  const call = tool(chat.last, "arithmetic");
  assert.deepEqual([call.type, call.state, call.output], ["dynamic-tool", "output-available", "21"]);
  assert.ok(chat.last.metadata.usage.totalTokens > 0);
  await chat.sendMessage({ text: "What did I ask?" });
  assert.equal(texts(chat.last), "You asked about the weather.");
  await chat.regenerate();
  assert.equal(texts(chat.last), "You asked how warm it is.");
  assert.equal(chat.messages.length, 4);
}

async function approval(name, text, approved, answer) {
  const options = { id: `${name}_${major}`, body: {} };
  if (major !== "5") options.sendAutomaticallyWhen = ai.lastAssistantMessageIsCompleteWithApprovalResponses;
  const chat = new Chat(options);
  await chat.sendMessage({ text });
  if (major === "5") {
    const question = chat.last.parts.find((part) => part.type === "data-agcore-question");
    const resume = [{ interruptId: question.data.id, status: "resolved", payload: approved }];
    await chat.sendMessage(undefined, { body: { resume } });
    assert.equal(texts(chat.last), answer);
    return;
  }
  const call = tool(chat.last, "save_note");
  assert.equal(call.state, "approval-requested");
  const reason = approved ? undefined : "not today";
  const respond = () => chat.addToolApprovalResponse({ id: call.approval.id, approved, reason });
  await answered(chat, respond, answer);
  const done = tool(chat.last, "save_note");
  assert.equal(done.state, approved ? "output-available" : "output-error", JSON.stringify(done));
  assert.equal(chat.messages.length, 2);
}

async function ownTool() {
  const tools = [{ name: "show_map", description: "Shows a map.", parameters: schema }];
  const chat = new Chat({
    id: `map_${major}`,
    body: { tools },
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
  });
  await chat.sendMessage({ text: "Show me Rome." });
  const call = tool(chat.last, "show_map");
  assert.deepEqual([call.type, call.state, call.input], ["tool-show_map", "input-available", { city: "Rome" }]);
  const show = () => chat.addToolResult({ tool: "show_map", toolCallId: call.toolCallId, output: { shown: true } });
  await answered(chat, show, "The map is shown.");
}

await conversation();
await approval("approve", "Pay.", true, "It is paid.");
await approval("deny", "Pay.", false, "I did not pay.");
await ownTool();
console.log(`ai ${major}: a conversation with a tool, a regenerated reply, an approval, a denial, a tool of the page`);
