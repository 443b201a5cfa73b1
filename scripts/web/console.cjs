// Uses the console of `agcore serve` in Chromium, as a person would, and takes screenshots.
//
// Usage: node console.cjs FOLDER CHROMIUM URL SHOTS
//
// FOLDER contains the node_modules with playwright-core, CHROMIUM is the program or its name, URL is that of `agcore serve`, whose
// model plays `console-model.json`, and SHOTS is the folder for the screenshots.
// No warning is allowed on the console of the browser, no violation of the policy, and no request to another machine.
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const net = require("node:net");
const path = require("node:path");
const { createRequire } = require("node:module");

const [folder, program, server, shots] = process.argv.slice(2);
const { chromium: browsers } = createRequire(path.join(path.resolve(folder), "package.json"))("playwright-core");
const axe = fs.readFileSync(path.join(folder, "node_modules", "axe-core", "axe.min.js"), "utf8");
const problems = [];
let count = 0;

// The way from the browser to the server, which can be cut.
const sockets = new Set();
let isCut = false;
const way = net.createServer((near) => {
  if (isCut) return near.destroy();
  const { hostname, port } = new URL(server);
  const far = net.connect(Number(port), hostname);
  for (const [one, other] of [[near, far], [far, near]]) {
    sockets.add(one);
    one.on("error", () => other.destroy());
    one.on("close", () => { sockets.delete(one); other.destroy(); });
    one.pipe(other);
  }
});
let url;

function cut(is) {
  isCut = is;
  if (is) for (const socket of sockets) socket.destroy();
}

async function open(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 820 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  page.on("pageerror", (error) => problems.push(`error: ${error.stack}`));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(`${message.type()}: ${message.text()} at ${page.url()}`);
  });
  page.on("request", (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol.startsWith("http") && host !== new URL(url).host) problems.push(`a request to ${host}`);
  });
  return page;
}

async function shoot(page, label) {
  count += 1;
  await page.screenshot({ path: path.join(shots, `console-${String(count).padStart(2, "0")}-${label}.png`) });
}

// Checks that nothing is wider than the screen.
async function fits(page) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.equal(wide, 0, `the page is ${wide} px too wide at ${page.url()}`);
}

// Checks that the page has no serious fault that keeps people from using it.
async function check(page) {
  // Not as a script of the page, which its policy would refuse.
  const session = await page.context().newCDPSession(page);
  await session.send("Runtime.evaluate", { expression: axe, allowUnsafeEvalBlockedByCSP: true });
  await session.detach();
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  const found = serious.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 200)).join(" | ")}`);
  assert.deepEqual(found, [], `at ${page.url()}`);
}

const title = (page) => page.title();
const api = async (route) => (await fetch(`${server}/api/v1/agent${route}`)).json();

async function say(page, text) {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.getByLabel("Message", { exact: true }).press("Control+Enter");
  await page.locator(".entry.user").filter({ hasText: text }).waitFor();
}

const hears = (page, text) => page.locator(".entry.answer .markdown").filter({ hasText: text }).last().waitFor();

// What a new user finds.
async function emptyPages(page) {
  for (const [name, text] of [["runs", "No runs yet"], ["inbox", "No open questions"], ["chat", "No conversations yet"]]) {
    await page.goto(`${url}/console/${name}`);
    await page.getByText(text).first().waitFor();
    await shoot(page, `empty-${name}`);
    await check(page);
  }
}

async function firstChat(page) {
  await page.goto(`${url}/console/chat`);
  await say(page, "Hello");
  await hears(page, "save notes");
  const link = page.getByRole("link", { name: "tea", exact: true });
  assert.equal(await link.getAttribute("rel"), "noopener noreferrer nofollow");
  await page.getByLabel("Message", { exact: true }).waitFor();
  await shoot(page, "chat");
}

// A question is answered in the chat, where it was asked.
async function approval(page) {
  await say(page, "Please note: book a table in Lisbon.");
  await page.getByRole("button", { name: "Allow" }).waitFor();
  await page.getByText("Book a table in Lisbon.").first().waitFor();
  assert.match(await title(page), /^\(1\) /);
  await shoot(page, "chat-question");
  await page.getByRole("button", { name: "Allow" }).click();
  await hears(page, "The note is saved.");
  await page.getByLabel("Message", { exact: true }).waitFor();
  assert.doesNotMatch(await title(page), /^\(1\) /);
}

// Arguments are edited: what does not fit the schema is refused beside the field, and what fits is what runs.
async function editing(page) {
  await say(page, "Please note: edit me.");
  const question = page.locator(".question");
  await question.waitFor();
  await question.getByText("Edit the arguments").click();
  const field = question.getByLabel("Arguments as JSON");
  await field.fill('{"text": 5}');
  await question.getByRole("button", { name: "Allow with these arguments" }).click();
  await page.locator("textarea[aria-invalid=true]").waitFor();
  assert.match(await page.locator(".question .notice.error").textContent(), /\$\.text/);
  assert.equal(await page.getByLabel("Arguments as JSON").inputValue(), '{"text": 5}');
  await shoot(page, "chat-edited-refused");
  await check(page);
  await page.getByLabel("Arguments as JSON").fill('{"text": "Edited by a person."}');
  await page.getByRole("button", { name: "Allow with these arguments" }).click();
  await hears(page, "The note is saved.");
  const { runs: known } = await api("/runs");
  const { spans } = await api(`/runs/${known[0].threadId}/${known[0].runId}/timeline`);
  assert.ok(spans.some((span) => span.kind === "tool"), JSON.stringify(spans));
  await page.getByLabel("Message", { exact: true }).waitFor();
}

// Several questions are selected by keyboard and denied together, and a second tab that is late learns who was faster.
async function bulk(page, browser) {
  const tabs = [];
  for (let thread = 0; thread < 3; thread += 1) {
    await page.goto(`${url}/console/chat`);
    await say(page, "Please note: one of several.");
    await page.locator(".question").waitFor();
  }
  for (let tab = 0; tab < 2; tab += 1) {
    tabs.push(await open(browser));
    await tabs[tab].goto(`${url}/console/inbox`);
    await tabs[tab].locator(".question").nth(2).waitFor();
  }
  const [first, second] = tabs;
  for (const _ of [1, 2]) {
    await first.keyboard.press("j");
    await first.keyboard.press("x");
  }
  assert.equal(await first.locator("[name=selected]:checked").count(), 2);
  await shoot(first, "inbox-selected");
  await check(first);
  await second.getByLabel("All on this page").check();
  await first.getByRole("button", { name: "Deny selected" }).click();
  await first.getByRole("heading", { name: "Outcome" }).waitFor();
  assert.equal(await first.locator(".notice li").count(), 2);
  await shoot(first, "inbox-outcome");
  await check(first);
  for (const tab of tabs) await tab.context().close();
  await page.goto(`${url}/console/inbox`);
  await page.locator("[name=selected]").first().check();
  await page.getByRole("button", { name: "Allow selected" }).click();
  await page.getByText("allowed").first().waitFor();
}

async function cost(page) {
  await page.goto(`${url}/console/cost`);
  await page.getByRole("heading", { name: "By model" }).waitFor();
  const report = await api("/costs");
  assert.equal(await page.locator("tbody").first().locator("tr").count(), report.models.length);
  await shoot(page, "cost");
  await fits(page);
  await check(page);
  await page.getByLabel("From").fill("2020-01-01");
  await page.getByLabel("to", { exact: true }).fill("2020-01-31");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByText("No model calls in this time").waitFor();
}

// A question appears in an inbox that is open, and is denied there by keyboard. The second tab learns that it was answered.
async function inbox(page, browser) {
  const tab = await open(browser);
  await tab.goto(`${url}/console/inbox`);
  await tab.getByText("No open questions").waitFor();
  await say(page, "Note a file name.");
  await tab.locator(".question").waitFor();
  await shoot(tab, "inbox");
  assert.equal(await tab.locator(".question img").count(), 0);
  assert.ok((await tab.locator(".question .hidden-char").first().textContent()) === "U+202E");
  await fits(tab);
  await tab.keyboard.press("j");
  await tab.getByLabel("Reason, if you deny").fill("not this one");
  await tab.keyboard.press("Escape");
  await tab.keyboard.press("d");
  await tab.getByText("Answered. The run continues.").waitFor();
  await page.reload();
  await hears(page, "Then I do not save it.");
  assert.equal(await page.locator(".entry img").count(), 0);
  assert.doesNotMatch(await title(page), /owned/);
  await tab.context().close();
}

// A message is edited, and the conversation continues from there in another one.
async function branching(page) {
  const before = page.url();
  const first = page.locator(".entry.user").first();
  await first.getByText("Edit", { exact: true }).click();
  await first.locator("textarea").fill("Hello from a branch");
  await first.getByRole("button", { name: "Continue from here" }).click();
  await hears(page, "Another answer");
  assert.notEqual(page.url(), before);
  assert.equal(await page.locator(".entry.user").count(), 1);
  await page.getByLabel("Message", { exact: true }).waitFor();
  await shoot(page, "chat-branch");
  await check(page);
  await page.goto(before);
  await page.locator(".entry.user .plain").filter({ hasText: /^Hello$/ }).waitFor();
}

async function stop(page) {
  await say(page, "Tell me about tea.");
  await page.locator(".entry.answer .plain").filter({ hasText: "Tea grows" }).waitFor();
  await shoot(page, "chat-streaming");
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("The run was cancelled.").waitFor();
}

// A reader that loses the connection in the middle of an answer has the whole answer afterwards, once.
async function reconnect(page) {
  await page.getByLabel("Message", { exact: true }).waitFor();
  await say(page, "And where does it grow?");
  await page.locator(".entry.answer .plain").filter({ hasText: "Camellia" }).waitFor();
  cut(true);
  await page.locator("#connection[data-state=waiting]").waitFor();
  await shoot(page, "chat-reconnecting");
  cut(false);
  await hears(page, "when they are young.");
  const text = await page.locator(".entry.answer").last().textContent();
  assert.equal(text.match(/Camellia/g).length, 1, text);
}

async function runs(page) {
  await page.goto(`${url}/console/runs`);
  await page.getByRole("cell", { name: "completed" }).first().waitFor();
  const { runs: known } = await api("/runs");
  assert.equal(await page.locator("tbody tr").count(), known.length);
  await shoot(page, "runs");
  await fits(page);
  await page.getByLabel("Status").selectOption("cancelled");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.waitForURL(/status=cancelled/);
  assert.equal(await page.locator("tbody tr").count(), known.filter((run) => run.status === "cancelled").length);
  await page.goto(`${url}/console/runs`);
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(/runs\/.+\/.+/);
}

// The run with a tool call, and the details of its row.
async function timeline(page) {
  const { runs: known } = await api("/runs");
  for (const run of known) {
    const { spans } = await api(`/runs/${run.threadId}/${run.runId}/timeline`);
    if (!spans.some((span) => span.kind === "tool")) continue;
    await page.goto(`${url}/console/runs/${run.threadId}/${run.runId}`);
    assert.equal(await page.locator(".span").count(), spans.length);
    await page.locator(".k-tool a").first().click();
    await page.locator("#inspector").getByText("save_note").first().waitFor();
    assert.match(page.url(), /row=/);
    await page.locator("#inspector details").first().click();
    await shoot(page, "run");
    await fits(page);
    return;
  }
  assert.fail("no run has a tool call");
}

// Language, colours and a phone.
async function views(page, browser) {
  await page.goto(`${url}/console/runs`);
  await page.locator(".menu summary").click();
  await shoot(page, "menu");
  await page.getByRole("button", { name: "中文" }).click();
  await page.getByRole("heading", { name: "运行" }).waitFor();
  for (const name of ["runs", "inbox", "chat", "cost"]) {
    await page.goto(`${url}/console/${name}`);
    await shoot(page, `chinese-${name}`);
  }
  await page.locator(".menu summary").click();
  await page.getByRole("button", { name: "English" }).click();
  await page.locator(".menu summary").click();
  await page.getByRole("button", { name: "Dark" }).click();
  const thread = (await api("/sessions")).sessions[0].threadId;
  const { runs: known } = await api("/runs");
  const run = `runs/${known[1].threadId}/${known[1].runId}?row=1`;
  for (const [label, name] of [["runs", "runs"], ["run", run], ["chat", `chat/${thread}`], ["inbox", "inbox"], ["cost", "cost"]]) {
    await page.goto(`${url}/console/${name}`);
    await shoot(page, `dark-${label}`);
    await check(page);
  }
  const phone = await open(browser, { viewport: { width: 390, height: 844 } });
  for (const [label, name] of [["runs", "runs"], ["run", run], ["chat", `chat/${thread}`], ["new", "chat"], ["inbox", "inbox"], ["cost", "cost"]]) {
    await phone.goto(`${url}/console/${name}`);
    await fits(phone);
    await check(phone);
    await shoot(phone, `phone-${label}`);
  }
}

// Everything reads and works without scripts.
async function withoutScripts(browser) {
  const page = await open(browser, { javaScriptEnabled: false });
  await page.goto(`${url}/console/runs`);
  await page.locator("tbody tr a").first().click();
  await page.locator(".span a").first().click();
  await page.locator("#inspector dl").waitFor();
  await page.getByRole("link", { name: "Inbox" }).click();
  await page.getByText("No open questions").waitFor();
  await shoot(page, "without-scripts");
}

async function keyboard(page) {
  await page.goto(`${url}/console/inbox`);
  await page.keyboard.press("?");
  await page.locator("dialog[open]").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog[open]").waitFor({ state: "detached" }).catch(() => {});
  await page.keyboard.press("g");
  await page.keyboard.press("c");
  await page.waitForURL(/console\/chat/);
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "message");
}

async function main() {
  await new Promise((listening) => way.listen(0, "127.0.0.1", listening));
  url = `http://127.0.0.1:${way.address().port}`;
  fs.mkdirSync(shots, { recursive: true });
  const places = process.env.PATH.split(path.delimiter).map((place) => path.join(place, program));
  const executablePath = [program, ...places].find((file) => path.isAbsolute(file) && fs.existsSync(file));
  const browser = await browsers.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
  try {
    const page = await open(browser);
    await emptyPages(page);
    await firstChat(page);
    await approval(page);
    await editing(page);
    await inbox(page, browser);
    await bulk(page, browser);
    await cost(page);
    await page.goto(`${url}/console/chat/${(await api("/sessions")).sessions.at(-1).threadId}`);
    await branching(page);
    await stop(page);
    await reconnect(page);
    await runs(page);
    await timeline(page);
    await keyboard(page);
    await withoutScripts(browser);
    await views(page, browser);
  } finally {
    await browser.close();
    way.close();
  }
  // The browser reports that the connection was lost, and that arguments were refused.
  const isExpected = (problem) => /the server responded with a status of 400 .* at .*\/console\/inbox\//.test(problem);
  const found = problems.filter((problem) => !isExpected(problem) && !/net::ERR_(CONNECTION_RESET|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING|CONNECTION_CLOSED|CONNECTION_REFUSED)/.test(problem));
  assert.deepEqual(found, []);
  console.log("ok       the console in Chromium");
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
