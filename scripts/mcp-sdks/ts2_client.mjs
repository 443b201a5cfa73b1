// A client with the TypeScript SDK 2.x: `ts2_client.mjs URL` or `ts2_client.mjs COMMAND [ARGUMENT…]`.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { runChecks } from "./checks.mjs";

const [server, ...rest] = process.argv.slice(2);
const transport = server.startsWith("http://")
  ? new StreamableHTTPClientTransport(new URL(server))
  : new StdioClientTransport({ command: server, args: rest });
const client = new Client({ name: "ts2", version: "1" }, { versionNegotiation: { mode: "auto" } });
await client.connect(transport);
await runChecks(client, (name, input, options) => client.callTool({ name, arguments: input }, options));
await client.close();
process.exit();
