// A client with the TypeScript SDK 1.x: `ts1_client.mjs URL` or `ts1_client.mjs COMMAND [ARGUMENT…]`.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { runChecks } from "./checks.mjs";

const [server, ...rest] = process.argv.slice(2);
const transport = server.startsWith("http://")
  ? new StreamableHTTPClientTransport(new URL(server))
  : new StdioClientTransport({ command: server, args: rest });
const client = new Client({ name: "ts1", version: "1" });
await client.connect(transport);
await runChecks(client, (name, input, options) => client.callTool({ name, arguments: input }, undefined, options));
await client.close();
process.exit();
