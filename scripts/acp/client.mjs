// Drives `agcore acp` with the reference client of npm.
//
// Usage: node client.mjs FOLDER PROGRAM WORK
//
// FOLDER contains the node_modules with @agentclientprotocol/sdk, PROGRAM is agcore, whose model plays `model.json` in the order of
// the prompts below, and WORK is an empty folder in which the sessions work.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [folder, program, work] = process.argv.slice(2);
const sdk = path.join(path.resolve(folder), "node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js");
const acp = await import(pathToFileURL(sdk));
const { agent: methods, client: own } = acp.methods;

// Texts in the editor that are not saved.
const unsaved = new Map();
const kinds = (updates) => updates.map((update) => update.sessionUpdate);
const text = (updates, kind = "agent_message_chunk") =>
  updates.filter((update) => update.sessionUpdate === kind).map((update) => update.content.text).join("");
const call = (updates, id, status) =>
  updates.find((update) => update.toolCallId === id && update.status === status);

// Waits until a condition holds: the client handles updates beside the answers that follow them.
async function until(condition) {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

// Starts the program, and returns the connection with what arrives at it.
async function open(answers = []) {
  const child = spawn(program, ["acp"], { stdio: ["pipe", "pipe", "inherit"], cwd: path.parse(work).root });
  const ended = new Promise((resolve) => child.on("exit", (code) => resolve(code)));
  const editor = { child, ended, updates: [], questions: [], written: [], answers };
  const app = acp
    .client({ name: "judge" })
    .onRequest(own.session.requestPermission, async ({ params }) => {
      editor.questions.push(params);
      const answer = editor.answers.shift();
      if (answer === "leave") {
        child.stdin.end();
        return new Promise(() => {});
      }
      return { outcome: { outcome: "selected", optionId: answer } };
    })
    .onRequest(own.fs.readTextFile, async ({ params }) => {
      if (unsaved.has(params.path)) return { content: unsaved.get(params.path) };
      return { content: fs.readFileSync(params.path, "utf8") };
    })
    .onRequest(own.fs.writeTextFile, async ({ params }) => {
      editor.written.push(params.path);
      unsaved.delete(params.path);
      fs.writeFileSync(params.path, params.content);
      return {};
    })
    .onNotification(own.session.update, async ({ params }) => {
      editor.updates.push(params.update);
    });
  editor.connection = app.connect(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));
  editor.agent = editor.connection.agent;
  const fsAbility = { readTextFile: true, writeTextFile: true };
  editor.initialized = await editor.agent.request(methods.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION,
    clientCapabilities: { fs: fsAbility },
    clientInfo: { name: "judge", version: "1" },
  });
  return editor;
}

// Sends a prompt, and returns its updates with the reason for its end.
async function say(editor, sessionId, blocks) {
  const start = editor.updates.length;
  const prompt = typeof blocks === "string" ? [{ type: "text", text: blocks }] : blocks;
  const { stopReason } = await editor.agent.request(methods.session.prompt, { sessionId, prompt });
  await new Promise((resolve) => setImmediate(resolve));
  return { stopReason, updates: editor.updates.slice(start) };
}

async function close(editor) {
  editor.child.stdin.end();
  assert.equal(await editor.ended, 0);
}

const file = path.join(work, "hello.txt");

async function conversation() {
  const editor = await open(["allow_once", "reject_once"]);
  assert.equal(editor.initialized.protocolVersion, 1);
  assert.equal(editor.initialized.agentInfo.name, "agcore");
  const opened = await editor.agent.request(methods.session.new, { cwd: work, mcpServers: [] });
  const id = opened.sessionId;
  assert.equal(opened.modes.currentModeId, "default");
  assert.deepEqual(opened.configOptions.map((option) => option.category), ["mode", "model"]);

  const image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const seen = await say(editor, id, [
    { type: "text", text: "What is this?" },
    { type: "image", data: image, mimeType: "image/png" },
    { type: "resource", resource: { uri: `file://${work}/notes.md`, text: "# Notes", mimeType: "text/markdown" } },
    { type: "resource_link", uri: `file://${work}/other.md`, name: "other.md" },
  ]);
  assert.equal(seen.stopReason, "end_turn");
  assert.equal(text(seen.updates), "I see a picture and a file.");
  assert.ok(kinds(editor.updates).includes("available_commands_update"));

  const allowed = await say(editor, id, "Write the file.");
  const [question] = editor.questions;
  assert.deepEqual(question.options.map((option) => option.kind).slice(0, 2), ["allow_once", "allow_always"]);
  const [shown] = question.toolCall.content.filter((content) => content.type === "diff");
  assert.deepEqual([shown.path, shown.oldText ?? null, shown.newText], [file, null, "Hello\n"]);
  assert.deepEqual(question.toolCall.locations.map((place) => place.path), [file]);
  const [diff] = call(allowed.updates, "call_1", "completed").content;
  assert.deepEqual([diff.type, diff.newText], ["diff", "Hello\n"]);
  assert.deepEqual(editor.written, [file]);
  assert.equal(fs.readFileSync(file, "utf8"), "Hello\n");

  unsaved.set(file, "Hello, unsaved\n");
  const read = await say(editor, id, "Read it.");
  assert.equal(call(read.updates, "call_2", "completed").content[0].content.text, "Hello, unsaved\n");

  const rejected = await say(editor, id, "Touch a file.");
  assert.equal(call(rejected.updates, "call_3", "failed").status, "failed");
  assert.equal(editor.questions[1].toolCall.kind, "execute");
  assert.ok(!fs.existsSync(path.join(work, "rejected.txt")));

  const planned = await say(editor, id, "Plan.");
  const [plan] = planned.updates.filter((update) => update.sessionUpdate === "plan");
  assert.deepEqual(plan.entries.map((entry) => entry.status), ["completed", "in_progress"]);

  await editor.agent.request(methods.session.setMode, { sessionId: id, modeId: "acceptEdits" });
  const edited = await say(editor, id, "Edit it.");
  const [edit] = call(edited.updates, "call_5", "completed").content;
  assert.deepEqual([edit.oldText, edit.newText], ["Hello, unsaved\n", "Hello, saved\n"]);
  assert.equal(editor.questions.length, 2);
  assert.ok(editor.updates.some((update) => update.currentModeId === "acceptEdits"));

  const waiting = say(editor, id, "Think.");
  await until(() => text(editor.updates).includes("Let me"));
  await assert.rejects(editor.agent.request(methods.session.prompt, { sessionId: id, prompt: [{ type: "text", text: "x" }] }));
  await editor.agent.notify(methods.session.cancel, { sessionId: id });
  assert.equal((await waiting).stopReason, "cancelled");
  await close(editor);
  return id;
}

async function continued(id) {
  const editor = await open(["leave"]);
  const { sessions } = await editor.agent.request(methods.session.list, { cwd: work });
  assert.deepEqual(sessions.map((session) => [session.sessionId, session.cwd]), [[id, work]]);
  await editor.agent.request(methods.session.load, { sessionId: id, cwd: work, mcpServers: [] });
  await until(() => text(editor.updates).includes("It is edited."));
  assert.ok(text(editor.updates, "user_message_chunk").includes("Write the file."));
  assert.ok(text(editor.updates).includes("It is written."));
  assert.ok(editor.updates.some((update) => update.toolCallId === "call_1" && update.status === "completed"));
  assert.equal(text((await say(editor, id, "Are you back?")).updates), "I am back.");
  // The editor goes in the middle of a question.
  say(editor, id, "Touch another file.").catch(() => {});
  assert.equal(await editor.ended, 0);
  assert.ok(!fs.existsSync(path.join(work, "late.txt")));
}

function agcore(...words) {
  const { status, stdout, stderr } = spawnSync(program, words, { cwd: work, encoding: "utf8", input: "" });
  return { status, stdout, stderr };
}

function inTheTerminal(id) {
  const listed = JSON.parse(agcore("approvals", "list", "--json").stdout);
  const [question] = listed.approvals ?? listed.questions ?? listed;
  assert.equal(agcore("approvals", "deny", question.id).status, 0);
  const settled = agcore("-p", "--resume", id);
  assert.equal(settled.stdout.trim(), "It was not run.", settled.stderr);
  const greeted = agcore("-p", "Hello from the terminal.", "--resume", id);
  assert.equal(greeted.stdout.trim(), "Hello, terminal.", greeted.stderr);
}

const id = await conversation();
await continued(id);
inTheTerminal(id);
console.log("The client of npm is content.");
process.exit(0);
