// Builds the page, and serves it together with a runtime of CopilotKit that passes everything on to `agcore serve`.
//
// AGCORE_URL is the URL of the server, and PORT the port on this machine. ORIGIN is where browsers find the page, if that is
// elsewhere.
import { AsyncLocalStorage } from "node:async_hooks";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";

import { EventType } from "@ag-ui/client";
import { build } from "esbuild";
import { catchError, of } from "rxjs";

import { AgcoreAgent } from "./agcore-agent.js";

// Without it, the runtime reports its use to its maker.
process.env.COPILOTKIT_TELEMETRY_DISABLED ??= "true";
const { AgentRunner, CopilotRuntime } = await import("@copilotkit/runtime/v2");
const { createCopilotNodeListener } = await import("@copilotkit/runtime/v2/node");

const AGCORE = process.env.AGCORE_URL ?? "http://127.0.0.1:8737";
const PORT = Number(process.env.PORT ?? 5173);
const ORIGIN = process.env.ORIGIN ?? `http://127.0.0.1:${PORT}`;
const folder = import.meta.dirname;

// The credentials of the browser go on to agcore.
const callers = new AsyncLocalStorage();
const agentOf = (authorization) => new AgcoreAgent({ server: AGCORE, headers: authorization ? { authorization } : {} });

// An error of a stream would end this process.
const reported = catchError(({ message }) => of({ type: EventType.RUN_ERROR, message }));

// agcore keeps the conversations and the runs, so that nothing is lost when this process ends.
class AgcoreRunner extends AgentRunner {
  run({ agent, input }) {
    return agent.run(input).pipe(reported);
  }

  connect({ threadId }) {
    return agentOf(callers.getStore()).connect({ threadId, runId: crypto.randomUUID() }).pipe(reported);
  }

  async isRunning() {
    return false;
  }

  stop({ threadId, runId }) {
    return agentOf(callers.getStore()).cancel(threadId, runId);
  }
}

await build({
  entryPoints: [path.join(folder, "page.jsx")],
  outdir: path.join(folder, "built"),
  bundle: true,
  minify: true,
  splitting: true,
  format: "esm",
  jsx: "automatic",
  define: { "process.env.NODE_ENV": '"production"' },
  loader: { ".woff": "dataurl", ".woff2": "dataurl", ".ttf": "dataurl" },
  logLevel: "warning",
});

const runtime = new CopilotRuntime({ agents: { default: agentOf() }, runner: new AgcoreRunner() });
const copilot = createCopilotNodeListener({ runtime, basePath: "/api/copilotkit" });
const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

async function serveFile(pathname, response) {
  const name = pathname === "/" ? "/index.html" : path.posix.normalize(pathname);
  const type = types[path.extname(name)];
  const isPublic = ["/index.html", "/page.css"].includes(name) || name.startsWith("/built/");
  try {
    if (!type || !isPublic) throw new Error("no such file");
    const bytes = await readFile(path.join(folder, name));
    const served = name === "/index.html" ? bytes.toString().replace("http://127.0.0.1:8737", AGCORE) : bytes;
    response.writeHead(200, { "content-type": `${type}; charset=utf-8` }).end(served);
  } catch {
    response.writeHead(404).end();
  }
}

// The runtime would answer the pages of other sites as well.
const isAllowed = ({ host, origin = ORIGIN }) => host === new URL(ORIGIN).host && origin === ORIGIN;

const server = createServer((request, response) => {
  if (!isAllowed(request.headers)) return response.writeHead(403).end(`the page is at ${ORIGIN}\n`);
  const [pathname] = request.url.split("?");
  if (!pathname.startsWith("/api/copilotkit")) return serveFile(pathname, response);
  return callers.run(request.headers.authorization, () => copilot(request, response));
});
server.listen(PORT, "127.0.0.1", () => console.log(`http://127.0.0.1:${PORT}`));
