// A server with the TypeScript SDK 1.x, over stdio, or with the argument `http` over HTTP.

import { randomUUID } from "node:crypto";

import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

import { listen } from "./checks.mjs";

let cancelled = 0;

const text = (value) => ({ content: [{ type: "text", text: String(value) }] });

async function report(extra, progress) {
  const progressToken = extra._meta?.progressToken;
  if (progressToken === undefined) return;
  await extra.sendNotification({ method: "notifications/progress", params: { progressToken, progress } });
}

function create() {
  const server = new McpServer({ name: "ts1", version: "1" });
  const add = { a: z.number(), b: z.number() };
  server.registerTool("add", { description: "Adds.", inputSchema: add }, async ({ a, b }) => text(a + b));
  server.registerTool("fail", { description: "Fails.", inputSchema: {} }, async () => {
    throw new Error("the disk is full");
  });
  server.registerTool("steps", { description: "Reports progress.", inputSchema: {} }, async (_, extra) => {
    for (const step of [1, 2, 3]) await report(extra, step);
    return text("done");
  });
  server.registerTool("wait", { description: "Waits.", inputSchema: {} }, async (_, extra) => {
    const end = new Promise((resolve) => extra.signal.addEventListener("abort", resolve));
    await report(extra, 1);
    await end;
    cancelled += 1;
    return text("cancelled");
  });
  server.registerTool("cancelled", { description: "Counts.", inputSchema: {} }, async () => text(cancelled));
  return server;
}

if (process.argv[2] === "http") {
  const sessions = new Map();
  listen(async (request, response) => {
    let transport = sessions.get(request.headers["mcp-session-id"]);
    if (transport === undefined) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (id) => sessions.set(id, transport),
      });
      await create().connect(transport);
    }
    await transport.handleRequest(request, response);
  });
} else {
  await create().connect(new StdioServerTransport());
}
