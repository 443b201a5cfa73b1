// Uses one of the pages of `examples/web` in Chromium, as a person would, and takes screenshots.
//
// Usage: node drive.cjs FOLDER CHROMIUM PAGE ROOT URL PORT SHOTS
//
// FOLDER contains the node_modules with playwright-core, CHROMIUM is the program or its name, PAGE is `agui`, `copilotkit`,
// `copilotkit-direct` or `use-chat`, and ROOT is the folder of the page. The page is served on PORT of this machine, with `copilotkit`
// by its own server, and SHOTS is the folder for the screenshots. URL is that of `agcore serve`, which allows the origin of the page,
// and whose model plays `model.json`, with `use-chat` `chat.json`.
// No warning is allowed on the console, and no request to another machine.
"use strict";

const assert = require("node:assert/strict");
const { execFileSync, spawn } = require("node:child_process");
const fs = require("node:fs");
const http = require("node:http");
const path = require("node:path");
const { createRequire } = require("node:module");

const [folder, program, name, root, url, port, shots] = process.argv.slice(2);
const { chromium: browsers } = createRequire(path.join(path.resolve(folder), "package.json"))("playwright-core");
const origin = `http://127.0.0.1:${port}`;

// What a person finds on each of the pages.
const FOUND = {
  agui: {
    box: (page) => page.getByLabel("Message"),
    users: (page) => page.locator("#messages .user"),
    answers: (page) => page.locator("#messages .assistant"),
    isIdle: async (page) => page.locator("#stop").waitFor({ state: "hidden" }),
    stop: (page) => page.getByRole("button", { name: "Stop" }),
  },
  "use-chat": {
    box: (page) => page.getByLabel("Message"),
    users: (page) => page.locator("article.user"),
    answers: (page) => page.locator("article.assistant"),
    isIdle: async (page) => page.locator("#stop").waitFor({ state: "hidden" }),
    stop: (page) => page.getByRole("button", { name: "Stop" }),
  },
  copilotkit: {
    box: (page) => page.getByTestId("copilot-chat-textarea"),
    users: (page) => page.getByTestId("copilot-user-message"),
    answers: (page) => page.getByTestId("copilot-assistant-message"),
    isIdle: async () => {},
    // The same button as the one that sends.
    stop: (page) => page.getByTestId("copilot-send-button"),
  },
}[name.replace("-direct", "")];
// The AI SDK has no state that a page and an agent share.
const hasList = name !== "use-chat";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

// Serves the files of the page, with the URL of the server instead of that of the guide, and without the runtime of CopilotKit.
const server = http.createServer((request, response) => {
  const { pathname } = new URL(request.url, origin);
  const file = path.join(root, pathname === "/" ? "index.html" : path.normalize(pathname));
  if (!fs.existsSync(file) || !TYPES[path.extname(file)]) return response.writeHead(404).end();
  response.writeHead(200, { "content-type": `${TYPES[path.extname(file)]}; charset=utf-8` });
  const bytes = fs.readFileSync(file);
  const changed = () => bytes.toString().replace("http://127.0.0.1:8737", url).replace("/api/copilotkit", "");
  response.end(file.endsWith("index.html") ? changed() : bytes);
});

// Serves the page until the function that is returned is called.
async function serve() {
  if (name !== "copilotkit") {
    // npm is a script on Windows.
    if (name === "use-chat") execFileSync("npm", ["run", "build"], { cwd: root, shell: process.platform === "win32" });
    await new Promise((listening) => server.listen(Number(port), "127.0.0.1", listening));
    return () => server.close().closeAllConnections();
  }
  const env = { ...process.env, AGCORE_URL: url, PORT: port };
  const child = spawn(process.execPath, [path.join(root, "server.mjs")], { env, stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((listening, failed) => {
    child.stdout.once("data", listening);
    child.once("exit", (code) => failed(new Error(`server.mjs has ended with ${code}`)));
  });
  return () => child.kill();
}

// CopilotKit counts agents without its runtime among what it sells.
const known = name === "copilotkit-direct" ? /selfManagedAgents/ : /^$/;
const problems = [];
let expected; // what the browser may report at present
let count = 0;

async function shoot(page, label) {
  count += 1;
  await page.screenshot({ path: path.join(shots, `${name}-${String(count).padStart(2, "0")}-${label}.png`) });
}

async function open(browser) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
  page.setDefaultTimeout(30_000);
  page.on("pageerror", (error) => problems.push(`error: ${error.stack}`));
  page.on("console", (message) => {
    if (!["error", "warning"].includes(message.type()) || known.test(message.text()) || expected?.test(message.text())) return;
    problems.push(`${message.type()}: ${message.text()}`);
  });
  page.on("request", (request) => {
    const { protocol, host } = new URL(request.url());
    const isKnown = [new URL(url).host, `127.0.0.1:${port}`].includes(host);
    if (protocol.startsWith("http") && !isKnown) problems.push(`a request to ${host}`);
  });
  await page.goto(origin);
  return page;
}

async function say(page, text) {
  await FOUND.box(page).fill(text);
  await FOUND.box(page).press("Enter");
  await FOUND.users(page).filter({ hasText: text }).waitFor();
}

async function hears(page, text) {
  await FOUND.answers(page).filter({ hasText: text }).last().waitFor();
  await FOUND.isIdle(page);
}

const thread = (page) => new URL(page.url()).hash.slice(1);
const hasItems = async (page, expected) => hasList && assert.deepEqual(await page.locator(".list li").allTextContents(), expected);
const background = (page) => page.evaluate(() => document.body.style.background);
const get = async (page, route) => (await fetch(`${url}/api/v1/agent${route.replace("THREAD", thread(page))}`)).json();

async function addItem(page, item) {
  await page.getByLabel("New item").fill(item);
  await page.getByLabel("New item").press("Enter");
  await page.locator(".list li", { hasText: item }).waitFor();
}

// Checks that a person sees a button without scrolling.
async function isInView(button) {
  const isSeen = await button.evaluate((element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    return document.elementFromPoint(left + width / 2, top + height / 2) === element;
  });
  assert.ok(isSeen, "the button is covered, or out of view");
}

async function chat(page) {
  await say(page, "Hello");
  await hears(page, "Hello Ann. I can write the list with you.");
  await shoot(page, "chat");
}

async function tool(page) {
  await say(page, "Make the page yellow.");
  await hears(page, "The page is yellow now.");
  assert.equal(await background(page), "lemonchiffon");
  await shoot(page, "tool-of-the-page");
}

// The model refuses to add milk unless it has the title and the items that were typed.
async function state(page) {
  const change = async (type) => {
    const [answer] = await Promise.all([page.waitForResponse((answer) => answer.request().method() === "PATCH"), type()]);
    return answer.status();
  };
  const title = page.getByLabel("Title");
  await title.fill("Shopping for Sunday");
  assert.equal(await change(() => title.press("Tab")), 200);
  for (const item of ["bread", "butter", "green tea"]) assert.equal(await change(() => addItem(page, item)), 200);
  const typed = { title: "Shopping for Sunday", items: ["bread", "butter", "green tea"] };
  assert.deepEqual((await get(page, "/sessions/THREAD/state")).state, typed);
  await say(page, "Add milk.");
  await hears(page, "I have added milk.");
  await page.locator(".list li", { hasText: "milk" }).waitFor();
  await hasItems(page, ["bread", "butter", "green tea", "milk"]);
  await shoot(page, "shared-state");
}

// A call of a tool of the server, with its result.
async function serverTool(page) {
  await say(page, "What is 20 + 1?");
  await hears(page, "It is 21.");
  const card = page.locator(".tool", { hasText: "arithmetic" });
  await card.locator("summary").click();
  await card.locator(".output", { hasText: "21" }).waitFor();
  await shoot(page, "tool-of-the-server");
  await card.locator("summary").click();
}

async function approval(page) {
  await say(page, "Save a note.");
  await page.getByText("May the agent run save_note?").waitFor();
  await page.getByText("Shop on Sunday.").last().waitFor();
  await isInView(page.getByRole("button", { name: "Approve" }));
  await shoot(page, "approval");
  await page.getByRole("button", { name: "Approve" }).click();
  await hears(page, "The note is saved.");
  assert.equal(await page.getByRole("button", { name: "Approve" }).count(), 0);
}

// Two questions are still there after a reload, as is the conversation. They are answered one after the other.
async function refusal(page) {
  await say(page, "Save another one.");
  const refuse = page.getByRole("button", { name: "Refuse" });
  await refuse.nth(1).waitFor();
  await page.reload();
  await refuse.nth(1).waitFor();
  await hears(page, "The note is saved.");
  await hasItems(page, ["bread", "butter", "green tea", "milk"]);
  assert.equal(await FOUND.users(page).count(), 5);
  await isInView(refuse.first());
  await shoot(page, "reloaded-with-questions");
  await refuse.first().click();
  await refuse.nth(1).waitFor({ state: "hidden" });
  await page.getByText("Call Eve.").last().waitFor();
  await refuse.click();
  await hears(page, "Then I do not save it.");
  const { messages } = await get(page, "/history?threadId=THREAD");
  const results = messages.filter(({ metadata }) => metadata?.name === "save_note" && metadata.type === "tool_result");
  assert.match(results[0].content, /^Saved to /);
  assert.match(results[1].content, /the user has refused/);
  assert.match(results[2].content, /the user has refused/);
  await shoot(page, "refused");
}

// The page is reloaded between a call and its result: it runs the call then.
async function lateResult(page) {
  expected = /Failed to load resource|net::ERR_FAILED|Failed to fetch|network error|AgentRun|agent_run/i;
  const runs = (address) => /^\/api\/(v1\/agent\/(runs?(\/[^/]+)?|ui)|copilotkit\/agent\/default\/run)$/.test(address.pathname);
  let started = 0;
  await page.route(runs, (route) => {
    if (route.request().method() !== "POST") return route.continue();
    started += 1;
    return started === 2 ? route.abort() : route.continue();
  });
  // A stream that has ended may be reported as well.
  const isStart = (request) => request.method() === "POST" && runs(new URL(request.url()));
  await Promise.all([page.waitForEvent("requestfailed", isStart), say(page, "Make the page blue.")]);
  await page.unroute(runs);
  await page.reload();
  await hears(page, "The page is blue now.");
  expected = undefined;
  assert.equal(await background(page), "lightblue");
  await shoot(page, "late-result");
}

// The page is reloaded while an answer arrives: it shows the whole answer, once.
async function activeRun(page) {
  await say(page, "Tell me about tea.");
  await FOUND.answers(page).filter({ hasText: "Tea grows" }).waitFor();
  await page.reload();
  const whole = "Tea grows on hills, and rice grows in the valley below, and milk comes from the meadow between them.";
  await hears(page, whole);
  await say(page, "Thanks.");
  await hears(page, "You are welcome.");
  assert.equal(await page.getByText(whole).count(), 1);
  // Markup of a model is not that of the page.
  assert.notEqual(await page.title(), "1");
  await shoot(page, "reloaded-while-active");
}

async function stop(page) {
  await say(page, "Think.");
  await FOUND.answers(page).filter({ hasText: "Let me" }).waitFor();
  await shoot(page, "before-stop");
  expected = /ERR_ABORTED|AbortError|aborted|RUN_CANCELED|cancel/i;
  await FOUND.stop(page).click();
  let status;
  do status = (await get(page, "/sessions/THREAD")).runs.at(-1).status;
  while (["running", "queued"].includes(status));
  assert.equal(status, "cancelled");
  await FOUND.isIdle(page);
  await say(page, "Are you back?");
  await hears(page, "I am back.");
  expected = undefined;
}

// Someone else changes the list: an edit of the older version is refused, and the newer version is shown.
async function conflict(page) {
  const { version, state } = await get(page, "/sessions/THREAD/state");
  const body = JSON.stringify({ version, state: { ...state, title: "Shopping for Monday" } });
  const headers = { "content-type": "application/json" };
  assert.equal((await fetch(`${url}/api/v1/agent/sessions/${thread(page)}/state`, { method: "PATCH", headers, body })).status, 200);
  expected = /409/;
  await page.getByLabel("New item").fill("rice");
  await page.getByLabel("New item").press("Enter");
  await page.getByRole("alert").waitFor();
  assert.equal(await page.getByLabel("Title").inputValue(), "Shopping for Monday");
  await hasItems(page, ["bread", "butter", "green tea", "milk"]);
  await shoot(page, "conflict");
  expected = undefined;
  await addItem(page, "rice");
  await page.getByRole("alert").waitFor({ state: "hidden" });
}

async function narrow(page) {
  await page.setViewportSize({ width: 420, height: 800 });
  await page.reload();
  await hears(page, "I am back.");
  await hasItems(page, ["bread", "butter", "green tea", "milk", "rice"]);
  await shoot(page, "narrow");
}

async function main() {
  fs.mkdirSync(shots, { recursive: true });
  const close = await serve();
  const places = process.env.PATH.split(path.delimiter).map((place) => path.join(place, program));
  const executablePath = [program, ...places].find((file) => path.isAbsolute(file) && fs.existsSync(file));
  const browser = await browsers.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
  const end = hasList ? [conflict, narrow] : [narrow];
  const steps = [chat, tool, hasList ? state : serverTool, approval, refusal, lateResult, activeRun, stop, ...end];
  const page = await open(browser);
  let at;
  try {
    for (at of steps) await at(page);
    assert.deepEqual(problems, []);
    console.log(`${name}: ${steps.length} steps in Chromium ${browser.version()}, ${count} screenshots in ${shots}`);
  } catch (problem) {
    await shoot(page, `failed-${at.name}`).catch(() => {});
    console.log(`${name}, ${at.name}: ${problem.stack}\n${problems.join("\n")}`);
    process.exitCode = 1;
  }
  await browser.close();
  close();
}

main();
