// A server with the TypeScript SDK 2.x, over stdio, or with the argument `http` over HTTP.

import { McpServer, createMcpHandler } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

import { answer, listen } from "./checks.mjs";

let cancelled = 0;

const text = (value) => ({ content: [{ type: "text", text: String(value) }] });

async function report(context, progress) {
  const progressToken = context.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return;
  await context.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress } });
}

function create() {
  const server = new McpServer({ name: "ts2", version: "1" });
  const add = z.object({ a: z.number(), b: z.number() });
  const none = z.object({});
  server.registerTool("add", { description: "Adds.", inputSchema: add }, async ({ a, b }) => text(a + b));
  server.registerTool("fail", { description: "Fails.", inputSchema: none }, async () => {
    throw new Error("the disk is full");
  });
  server.registerTool("steps", { description: "Reports progress.", inputSchema: none }, async (_, context) => {
    for (const step of [1, 2, 3]) await report(context, step);
    return text("done");
  });
  server.registerTool("wait", { description: "Waits.", inputSchema: none }, async (_, context) => {
    const end = new Promise((resolve) => context.mcpReq.signal.addEventListener("abort", resolve));
    await report(context, 1);
    await end;
    cancelled += 1;
    return text("cancelled");
  });
  server.registerTool("cancelled", { description: "Counts.", inputSchema: none }, async () => text(cancelled));
  return server;
}

if (process.argv[2] === "http") {
  const { fetch } = createMcpHandler(create);
  listen((request, response) => answer(fetch, request, response));
} else {
  serveStdio(create);
}
