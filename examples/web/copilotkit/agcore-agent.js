// An agent of `agcore serve` for @ag-ui/client 0.0.59, in Node.js and in browsers.
//
// HttpAgent can run it already. This class adds what a server that keeps conversations makes possible: `connect` shows a thread
// again, with its state and its open questions, a connection that breaks loses no event of a run, and Stop cancels the run.
import { EventType, HttpAgent } from "@ag-ui/client";
import { Observable, defer, mergeMap } from "rxjs";

export class AgcoreAgent extends HttpAgent {
  /**
   * Takes the configuration of HttpAgent, with `server` instead of `url`: the URL of the server without a path. `agent` is the
   * name of an agent or a flow, by default the first one of the server.
   */
  constructor({ server = "", agent, ...config }) {
    const api = `${server}/api/v1/agent`;
    super({ ...config, url: `${api}/run` });
    Object.assign(this, { api, agent });
  }

  clone() {
    const { api, agent } = this;
    return Object.assign(super.clone(), { api, agent });
  }

  run(input) {
    const forwardedProps = { agent: this.agent, ...input.forwardedProps };
    const body = JSON.stringify({ ...input, forwardedProps });
    const start = async () => {
      const started = await this.request(`/runs/${encodeURIComponent(input.threadId)}`, { method: "POST", body });
      if (!started) throw new Error("there is no such agent, question or call");
      // CopilotKit answers a question under the id of the run that has asked. The run with the answer has another one.
      return started.runId;
    };
    return defer(start).pipe(mergeMap((runId) => this.follow(pathOf(input.threadId, runId))));
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

  connect({ threadId, runId }) {
    return this.follow("/connect", { method: "POST", body: JSON.stringify({ threadId, runId, messages: [] }) });
  }

  /** Cancels a run of a thread, by default the one that is active. Returns whether there is one to cancel. */
  async cancel(threadId, runId) {
    const thread = encodeURIComponent(threadId);
    const isActive = ({ status }) => status === "running" || status === "queued";
    const id = runId ?? (await this.request(`/sessions/${thread}`))?.runs.find(isActive)?.runId;
    if (id === undefined) return false;
    const run = await this.request(`/runs/${thread}/${encodeURIComponent(id)}/cancel`, { method: "POST", body: "{}" });
    return run !== undefined && run.status !== "completed" && run.status !== "failed";
  }

  /** Returns the events of a run. */
  follow(path, init) {
    return new Observable((subscriber) => {
      const stop = new AbortController();
      const signal = AbortSignal.any([stop.signal, this.abortController.signal]);
      const failed = (problem) => (signal.aborted ? subscriber.complete() : subscriber.error(problem));
      this.read(path, { ...init, signal }, (event) => subscriber.next(event)).then(() => subscriber.complete(), failed);
      return () => stop.abort();
    });
  }

  /** Reads events up to the end of a run. If the connection breaks, the server sends those after the last one. */
  async read(path, init, next) {
    const { signal } = init;
    let last, pause = 250;
    for (;;) {
      try {
        const headers = { ...this.headers, "content-type": "application/json", ...(last && { "last-event-id": last }) };
        const answer = await this.fetch(this.api + path, { ...init, headers });
        if (!answer.ok) throw await toError(answer);
        for await (const { id, event } of eventsOf(answer.body)) {
          // A thread that was shown again continues with the run that is active.
          if (id && event.type === EventType.RUN_STARTED) [path, init] = [pathOf(event.threadId, event.runId), { signal }];
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

function pathOf(threadId, runId) {
  return `/runs/${encodeURIComponent(threadId)}/events?runId=${encodeURIComponent(runId)}&protocol=0.0.59`;
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
