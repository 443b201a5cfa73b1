// Runs conversations with a server by the npm package `openai`.
//
// Usage: node clients.mjs FOLDER URL STRICT_URL TOKEN
//
// FOLDER contains the node_modules with the package. The server at URL is `agcore serve`, whose model plays `model.json`, in the
// order of the requests below. That at STRICT_URL wants a token, and allows no run.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import path from "node:path";

const [folder, url, strictUrl, token] = process.argv.slice(2);
const load = createRequire(path.join(path.resolve(folder), "package.json"));
const OpenAI = load("openai").OpenAI;

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });
const model = "assistant";
const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const map = { type: "function", function: { name: "show_map", description: "Shows a map.", parameters } };
const flat = { type: "function", name: "show_map", description: "Shows a map.", parameters, strict: false };
const user = (content) => ({ role: "user", content });

async function conversation() {
  const messages = [user("How is the weather?")];
  const answer = await client.chat.completions.create({ model, messages });
  assert.equal(answer.choices[0].message.content, "It has 21 degrees.");
  assert.ok(answer.usage.total_tokens > 0);
  messages.push(answer.choices[0].message, user("What did I ask?"));
  const stream = client.chat.completions.stream({ model, messages, stream_options: { include_usage: true } });
  const final = await stream.finalChatCompletion();
  assert.equal(final.choices[0].message.content, "You asked about the weather.");
  assert.ok(final.usage.total_tokens > 0);
}

async function tools() {
  const messages = [user("Show me Rome and Paris.")];
  const { message, finish_reason } = (await client.chat.completions.create({ model, messages, tools: [map] })).choices[0];
  assert.equal(finish_reason, "tool_calls");
  assert.deepEqual(message.tool_calls.map((call) => JSON.parse(call.function.arguments).city), ["Rome", "Paris"]);
  messages.push(message, ...message.tool_calls.map((call) => ({ role: "tool", tool_call_id: call.id, content: "shown" })));
  for (const _ of [1, 2]) {
    // The second time, the results are known already.
    const answer = await client.chat.completions.create({ model, messages, tools: [map] });
    assert.equal(answer.choices[0].message.content, "The maps are shown.");
  }
  // The helper of the package runs the tool, and sends its result.
  const shown = [];
  const show_map = ({ city }) => {
    shown.push(city);
    return "shown";
  };
  const runnable = { type: "function", function: { function: show_map, name: "show_map", parse: JSON.parse, parameters, description: "Shows a map." } };
  const runner = client.chat.completions.runTools({ model, messages: [user("Show me Oslo.")], tools: [runnable], stream: true });
  assert.equal(await runner.finalContent(), "It is shown.");
  assert.deepEqual(shown, ["Oslo"]);
}

async function approval() {
  const answer = await client.chat.completions.create({ model, messages: [user("Pay.")] });
  assert.equal(answer.choices[0].message.content, "I did not pay.");
}

async function responses() {
  const first = await client.responses.create({ model, input: "Hello" });
  assert.deepEqual([first.output_text, first.status], ["Good day.", "completed"]);
  const second = await client.responses.create({ model, input: "What did I say?", previous_response_id: first.id });
  assert.equal(second.output_text, "You greeted me.");
  const stream = client.responses.stream({ model, input: "Bye", previous_response_id: second.id });
  const third = await stream.finalResponse();
  assert.equal(third.output_text, "Goodbye.");
  const called = await client.responses.create({ model, input: "Show me Bonn.", previous_response_id: third.id, tools: [flat] });
  const [item] = called.output;
  assert.deepEqual([item.type, JSON.parse(item.arguments)], ["function_call", { city: "Bonn" }]);
  const input = [{ type: "function_call_output", call_id: item.call_id, output: "shown" }];
  const last = await client.responses.create({ model, input, previous_response_id: called.id, tools: [flat] });
  assert.equal(last.output_text, "Here is Bonn.");
  assert.equal((await client.responses.retrieve(last.id)).output_text, "Here is Bonn.");
}

async function errors() {
  const ask = (client, more = {}) => client.chat.completions.create({ model, messages: [user("Hello")], ...more });
  const fails = async (kind, call, code) => {
    await assert.rejects(call, (error) => {
      assert.ok(error instanceof kind, `${error}`);
      assert.equal(error.code, code);
      return true;
    });
  };
  await fails(OpenAI.NotFoundError, () => ask(client, { model: "none" }), "model_not_found");
  await fails(OpenAI.BadRequestError, () => ask(client, { n: 2 }), "unsupported_parameter");
  await fails(OpenAI.AuthenticationError, () => ask(new OpenAI({ baseURL: `${strictUrl}/v1`, apiKey: "wrong", maxRetries: 0 })), "unauthenticated");
  await fails(OpenAI.RateLimitError, () => ask(new OpenAI({ baseURL: `${strictUrl}/v1`, apiKey: token, maxRetries: 0 })), "quota_exceeded");
  const models = [];
  for await (const one of client.models.list()) models.push(one.id);
  assert.deepEqual(models, ["assistant"]);
}

await conversation();
await tools();
await approval();
await responses();
await errors();
console.log("npm openai: chats, streams, tools, a refused approval, responses with previous ids, errors");
