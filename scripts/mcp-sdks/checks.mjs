// The checks of a client, which are the same for both lines of the TypeScript SDK, and an HTTP server for web handlers.

import http from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

const LIMIT_MS = 10_000;
const PAUSE_MS = 20;

function expect(value, expected) {
  if (!String(value).includes(expected)) throw new Error(`${JSON.stringify(expected)} is not in ${JSON.stringify(value)}`);
}

async function check(name, run) {
  try {
    await run();
    console.log(`ok ${name}`);
  } catch (error) {
    console.log(`FAILED ${name}: ${String(error?.message ?? error).split("\n")[0]}`);
    process.exitCode = 1;
  }
}

/** Runs all checks. `call(name, arguments, options)` calls a tool of the server. */
export async function runChecks(client, call) {
  const text = async (name, input) => (await call(name, input)).content[0].text;
  await check("list", async () => {
    const names = (await client.listTools()).tools.map((tool) => tool.name).sort();
    expect(names.join(" "), "add cancelled fail steps wait");
  });
  await check("call", async () => expect(await text("add", { a: 2, b: 3 }), "5"));
  await check("error", async () => {
    const result = await call("fail", {});
    expect(result.isError, "true");
    expect(result.content[0].text, "the disk is full");
  });
  await check("progress", async () => {
    const steps = [];
    await call("steps", {}, { onprogress: (step) => steps.push(step.progress) });
    expect(steps.join(" "), "1 2 3");
  });
  await check("cancel", async () => {
    const controller = new AbortController();
    const result = await call("wait", {}, { signal: controller.signal, onprogress: () => controller.abort() }).then(
      () => "a result",
      () => "an error",
    );
    expect(result, "an error");
    const end = Date.now() + LIMIT_MS;
    while ((await text("cancelled", {})).trim() === "0") {
      if (Date.now() > end) throw new Error("the server did not notice it");
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  });
}

/** Serves requests on a free port of loopback, and prints the URL. */
export function listen(handle) {
  const server = http.createServer((request, response) => {
    handle(request, response).catch((error) => response.destroy(error));
  });
  server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
}

/** Answers a request with a handler for web requests. */
export async function answer(fetch, request, response) {
  const closed = new AbortController();
  response.on("close", () => closed.abort());
  const answered = await fetch(
    new Request(`http://${request.headers.host}${request.url}`, {
      method: request.method,
      headers: Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      body: request.method === "POST" ? Readable.toWeb(request) : undefined,
      duplex: "half",
      signal: closed.signal,
    }),
  );
  response.writeHead(answered.status, Object.fromEntries(answered.headers));
  response.flushHeaders();
  if (answered.body === null) response.end();
  else await pipeline(Readable.fromWeb(answered.body), response).catch(() => {});
}
