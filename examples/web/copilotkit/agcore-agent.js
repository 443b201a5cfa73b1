// An agent of `agcore serve` for @ag-ui/client 0.0.59, in Node.js and in browsers.
//
// HttpAgent can run it already. This class adds what a server that keeps conversations makes possible: `connect` shows a thread
// again, with its state and its open questions, and a connection that breaks loses no event of a run.
import { EventType, HttpAgent } from "@ag-ui/client";
import { EMPTY, Observable, concat, defer, from, mergeMap } from "rxjs";

export class AgcoreAgent extends HttpAgent {
  /**
   * Takes the configuration of HttpAgent, with `server` instead of `url`: the URL of the server without a path. `agent` is the
   * name of an agent or a flow, by default the first one of the server. With `isNew`, the server cannot know the thread yet.
   */
  constructor({ server = "", agent, isNew = false, ...config }) {
    const api = `${server}/api/v1/agent`;
    super({ ...config, url: `${api}/run` });
    Object.assign(this, { api, agent, isNew });
  }

  clone() {
    const { api, agent, isNew } = this;
    return Object.assign(super.clone(), { api, agent, isNew });
  }

  run(input) {
    // CopilotKit answers a question under the id of the run that has asked. Here each run has an id of its own.
    const runId = input.resume === undefined ? input.runId : `${input.runId}.${crypto.randomUUID().slice(0, 8)}`;
    const forwardedProps = { agent: this.agent, ...input.forwardedProps };
    const body = JSON.stringify({ ...input, runId, forwardedProps });
    const start = async () => {
      const started = await this.request(`/runs/${encodeURIComponent(input.threadId)}`, { method: "POST", body });
      if (!started) throw new Error("there is no such agent, question or call");
    };
    return defer(start).pipe(mergeMap(() => this.follow(input.threadId, runId)));
  }

  abortRun() {
    super.abortRun();
    // A client that disconnects does not end its run.
    void this.cancel(this.threadId).catch((problem) => console.warn(problem));
  }

  connectAgent(parameters, subscriber) {
    // They are read again.
    this.pendingInterrupts = [];
    return super.connectAgent(parameters, subscriber);
  }

  connect(input) {
    return defer(() => from(this.restore(input))).pipe(
      mergeMap(({ events, active }) => concat(from(events), active ? this.follow(input.threadId, active) : EMPTY)),
    );
  }

  /** Cancels the run of a thread that is active. Returns whether there is one. */
  async cancel(threadId, runId) {
    const session = await this.request(`/sessions/${encodeURIComponent(threadId)}`);
    const active = session?.runs.find(isActive);
    if (!active || (runId && runId !== active.runId && !active.runId.startsWith(`${runId}.`))) return false;
    const path = `/runs/${encodeURIComponent(threadId)}/${encodeURIComponent(active.runId)}/cancel`;
    return Boolean(await this.request(path, { method: "POST", body: "{}" }));
  }

  async restore({ threadId, runId }) {
    const thread = encodeURIComponent(threadId);
    const paths = [`/sessions/${thread}`, `/history?threadId=${thread}&limit=200`, `/sessions/${thread}/state`];
    const [session, history, shared] = this.isNew ? [] : await Promise.all(paths.map((path) => this.request(path)));
    this.isNew = false;
    const active = session?.runs.find(isActive)?.runId;
    const interrupts = active ? [] : (session?.questions ?? []).flatMap(toInterrupt);
    // The events of an active run bring its messages, except for what the user has written.
    const known = history?.messages.filter((message) => message.runId !== active || message.role === "user") ?? [];
    const events = [
      { type: EventType.RUN_STARTED, threadId, runId },
      { type: EventType.MESSAGES_SNAPSHOT, messages: known.flatMap(toMessage) },
    ];
    if (shared?.version > 0) {
      events.push({ type: EventType.STATE_SNAPSHOT, snapshot: shared.state, metadata: { agcore: { version: shared.version } } });
    }
    const outcome = interrupts.length > 0 ? { type: "interrupt", interrupts } : { type: "success" };
    return { events: [...events, { type: EventType.RUN_FINISHED, threadId, runId, outcome }], active };
  }

  /** Returns the events of a run. */
  follow(threadId, runId) {
    const path = `/runs/${encodeURIComponent(threadId)}/events?runId=${encodeURIComponent(runId)}&protocol=0.0.59`;
    return new Observable((subscriber) => {
      const stop = new AbortController();
      const signal = AbortSignal.any([stop.signal, this.abortController.signal]);
      const failed = (problem) => (signal.aborted ? subscriber.complete() : subscriber.error(problem));
      this.read(path, signal, (event) => subscriber.next(event)).then(() => subscriber.complete(), failed);
      return () => stop.abort();
    });
  }

  /** Reads events up to the end of a run. If the connection breaks, the server sends those after the last one. */
  async read(path, signal, next) {
    let last, pause = 250;
    for (;;) {
      try {
        const headers = last === undefined ? this.headers : { ...this.headers, "last-event-id": last };
        const answer = await this.fetch(this.api + path, { headers, signal });
        if (!answer.ok) throw await toError(answer);
        for await (const { id, event } of eventsOf(answer.body)) {
          last = id ?? last;
          pause = 250;
          next(event);
          if (event.type === EventType.RUN_FINISHED || event.type === EventType.RUN_ERROR) return;
        }
      } catch (problem) {
        if (signal.aborted || problem.status < 500) throw problem;
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
      pause = Math.min(pause * 2, 15_000);
    }
  }

  /** Returns the answer, or `undefined` if there is no such thread. */
  async request(path, init = {}) {
    const headers = { ...this.headers, "content-type": "application/json" };
    const answer = await this.fetch(this.api + path, { ...init, headers });
    if (answer.status === 404) return undefined;
    if (!answer.ok) throw await toError(answer);
    return answer.json();
  }
}

async function toError(answer) {
  const { detail } = await answer.json().catch(() => ({}));
  return Object.assign(new Error(detail ?? `the server answers with ${answer.status}`), { status: answer.status });
}

/** Reads server-sent events. */
async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (text + value).split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      const field = (name) => block.split("\n").find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      if (field("data")) yield { id: field("id"), event: JSON.parse(field("data")) };
    }
  }
}

const isActive = ({ status }) => status === "running" || status === "queued";

// Calls of tools of the page are not shown as questions: the page runs them.
function toInterrupt({ interruptId: id, question: { kind, prompt, call_id: toolCallId, tool, arguments: args } }) {
  const metadata = { agcore: { tool_name: tool, tool_call_args: args } };
  return kind === "client" ? [] : [{ id, reason: kind, message: prompt, toolCallId, metadata }];
}

function toMessage({ id, role, content, metadata }) {
  switch (metadata?.type) {
    case "tool_call": {
      const call = { name: metadata.name, arguments: JSON.stringify(metadata.arguments) };
      return [{ id, role: "assistant", content, toolCalls: [{ id: metadata.call_id, type: "function", function: call }] }];
    }
    case "tool_result":
      return [{ id, role: "tool", toolCallId: metadata.call_id, content }];
    default:
      return role === "user" || role === "assistant" ? [{ id, role, content }] : [];
  }
}
