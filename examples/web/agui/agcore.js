// A client of `agcore serve` that needs no packages: it starts runs, follows their events and applies them to a conversation.

/** A conversation with an agent. */
export class Conversation {
  /**
   * `server` is the URL of the server without a path, `headers` are sent with each request, such as `Authorization`. `tools` are
   * those of the page by name: `{description, parameters, run(args)}`. `onChange` is called after each change.
   */
  constructor({ server = "", threadId, headers = {}, agent, tools = {}, state = {}, onChange = () => {} }) {
    Object.assign(this, { api: `${server}/api/v1/agent`, threadId, headers, agent, tools, state, onChange });
    this.version = 0; // of the state; 0 if the server has none
    this.messages = []; // {id, role, content, calls: [{id, name, text, result}]}
    this.questions = []; // {id, message, tool, arguments}
    this.run = undefined; // the id of the active run
  }

  /** Shows what the server has, and continues with a run that has not ended. Call it once, at the start. */
  async load() {
    const thread = encodeURIComponent(this.threadId);
    const [session, history, shared] = await Promise.all([
      this.request(`/sessions/${thread}`),
      this.request(`/history?threadId=${thread}&limit=200`),
      this.request(`/sessions/${thread}/state`),
    ]);
    const active = session?.runs.find(({ status }) => status === "running" || status === "queued");
    for (const message of history?.messages ?? []) {
      // The events of an active run bring the rest.
      if (message.runId !== active?.runId || message.role === "user") this.#restore(message);
    }
    if (shared?.version > 0) ({ state: this.state, version: this.version } = shared);
    const questions = active ? [] : (session?.questions ?? []);
    this.questions = questions.filter(({ question }) => question.kind !== "client").map(({ interruptId, question }) => (
      { id: interruptId, message: question.prompt, tool: question.tool, arguments: question.arguments }));
    this.onChange();
    const calls = questions.filter(({ question }) => question.kind === "client").map(({ question }) => question.call_id);
    if (active) await this.#follow(active.runId);
    else await this.#runCalls(calls);
  }

  /** Sends a message of the user. */
  async send(content) {
    const message = { id: crypto.randomUUID(), role: "user", content };
    this.messages.push(message);
    await this.#start({ messages: [message] }, () => this.messages.splice(this.messages.indexOf(message), 1));
  }

  /** Answers a question; `message` is the reason of a refusal. */
  async answer(question, approved, message) {
    const resume = [{ interruptId: question.id, status: "resolved", payload: { approved, message } }];
    this.questions = this.questions.filter(({ id }) => id !== question.id);
    await this.#start({ messages: [], resume }, () => this.questions.push(question));
  }

  /** Cancels the active run. */
  async stop() {
    if (this.run) await this.request(`/runs/${encodeURIComponent(this.threadId)}/${encodeURIComponent(this.run)}/cancel`, {});
  }

  /** Changes the state, also while a run is active. Fails if someone else has changed it since. */
  async change(state) {
    this.state = state;
    this.onChange();
    // One after the other, since each is based on the version before it.
    const change = this.#changes.then(() => this.#save(state));
    this.#changes = change.catch(() => {});
    await change;
  }

  #changes = Promise.resolve();

  async #save(state) {
    const path = `/sessions/${encodeURIComponent(this.threadId)}/state`;
    // Before the first run there is no thread; that run then brings the state.
    const changed = await this.request(path, { version: this.version, state }, "PATCH").catch((problem) => this.#refused(problem));
    if (changed) this.version = changed.version;
  }

  /** Shows the newest state if that is why a request was refused. */
  async #refused(problem) {
    if (problem.code === "state_changed") {
      ({ state: this.state, version: this.version } = await this.request(`/sessions/${encodeURIComponent(this.threadId)}/state`));
    }
    this.onChange();
    throw problem;
  }

  /** Starts a run, and follows it. `undo` is called if the server refuses it. */
  async #start(input, undo = () => {}) {
    const tools = Object.entries(this.tools).map(([name, { description, parameters }]) => ({ name, description, parameters }));
    const forwardedProps = { stateVersion: this.version, agent: this.agent };
    const runId = crypto.randomUUID();
    const body = { threadId: this.threadId, runId, state: this.state, context: [], tools, forwardedProps, ...input };
    this.run = runId;
    this.onChange();
    try {
      await this.request(`/runs/${encodeURIComponent(this.threadId)}`, body);
    } catch (problem) {
      this.run = undefined;
      undo();
      problem.wasNotStarted = true;
      await this.#refused(problem);
    }
    await this.#follow(runId);
  }

  /** Applies the events of a run, until it ends. If the connection breaks, the server sends those after the last one. */
  async #follow(runId) {
    this.run = runId;
    let last, pause = 500, end;
    while (!end) {
      try {
        const path = `/runs/${encodeURIComponent(this.threadId)}/events?runId=${encodeURIComponent(runId)}`;
        const headers = last === undefined ? this.headers : { ...this.headers, "last-event-id": last };
        const answer = await fetch(this.api + path, { headers });
        if (!answer.ok) throw await toError(answer);
        for await (const { id, event } of events(answer.body)) {
          last = id ?? last;
          pause = 500;
          this.#apply(event);
          if (event.type === "RUN_FINISHED" || event.type === "RUN_ERROR") end = event;
          this.onChange();
        }
      } catch (problem) {
        if (problem.status && problem.status < 500) throw problem;
      }
      if (!end) {
        await new Promise((resolve) => setTimeout(resolve, pause));
        pause = Math.min(pause * 2, 15_000);
      }
    }
    this.run = undefined;
    this.onChange();
    if (end.type === "RUN_ERROR") throw new Error(end.message);
    await this.#runCalls(end.outcome?.pendingToolCallIds ?? []);
  }

  /** Runs calls of tools of the page, and sends their results. */
  async #runCalls(ids) {
    const results = [];
    for (const call of this.messages.flatMap(({ calls = [] }) => calls).filter(({ id }) => ids.includes(id))) {
      try {
        call.result = String(await this.tools[call.name].run(JSON.parse(call.text)));
      } catch (problem) {
        call.result = `Error: ${problem.message}`;
      }
      results.push({ id: crypto.randomUUID(), role: "tool", toolCallId: call.id, content: call.result });
    }
    if (results.length > 0) await this.#start({ messages: results });
  }

  #apply(event) {
    const message = (id) => {
      let found = this.messages.find((message) => message.id === id);
      if (!found) this.messages.push((found = { id, role: "assistant", content: "", calls: [] }));
      return found;
    };
    const call = () => this.messages.flatMap(({ calls = [] }) => calls).find(({ id }) => id === event.toolCallId);
    switch (event.type) {
      case "TEXT_MESSAGE_START": message(event.messageId); break;
      case "TEXT_MESSAGE_CONTENT": message(event.messageId).content += event.delta; break;
      case "TEXT_MESSAGE_END":
        // The server was restarted, or the reply was refused: another one follows.
        if (event.metadata?.agcore?.discarded) message(event.messageId).content = "";
        break;
      case "TOOL_CALL_START":
        message(event.parentMessageId).calls.push({ id: event.toolCallId, name: event.toolCallName, text: "" });
        break;
      case "TOOL_CALL_ARGS": call().text += event.delta; break;
      case "TOOL_CALL_RESULT": if (call()) call().result = event.content; break;
      case "STATE_SNAPSHOT": this.state = event.snapshot; break;
      case "STATE_DELTA": this.state = patched(this.state, event.delta); break;
      case "RUN_FINISHED":
        // All that are open, also those of earlier runs.
        this.questions = (event.outcome?.interrupts ?? []).map(({ id, message, metadata }) => {
          const { tool_name: tool, tool_call_args: args } = metadata?.agcore ?? {};
          return { id, message, tool, arguments: args };
        });
    }
    this.version = event.metadata?.agcore?.version ?? this.version;
  }

  #restore({ id, role, content, metadata }) {
    const calls = this.messages.flatMap(({ calls = [] }) => calls);
    if (metadata?.type === "tool_call") {
      const { call_id: callId, name, arguments: args } = metadata;
      this.messages.push({ id, role, content, calls: [{ id: callId, name, text: JSON.stringify(args) }] });
    } else if (metadata?.type === "tool_result") {
      const call = calls.find((call) => call.id === metadata.call_id);
      if (call) call.result = content;
    } else if (role === "user" || role === "assistant") {
      this.messages.push({ id, role, content, calls: [] });
    }
  }

  /** Returns the answer to a request, or `undefined` if there is no such thread. Fails with the problem of the server. */
  async request(path, body, method = body ? "POST" : "GET") {
    const headers = body ? { ...this.headers, "content-type": "application/json" } : this.headers;
    const answer = await fetch(this.api + path, { method, headers, body: body && JSON.stringify(body) });
    if (answer.status === 404) return undefined;
    if (!answer.ok) throw await toError(answer);
    return answer.json();
  }
}

async function toError(answer) {
  const problem = await answer.json().catch(() => ({}));
  const error = new Error(problem.detail ?? `the server answers with ${answer.status}`);
  return Object.assign(error, { status: answer.status, code: problem.code });
}

/** Reads server-sent events. */
async function* events(body) {
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

/** Returns a document after a JSON Patch (RFC 6902). */
function patched(document, operations) {
  const root = { "": structuredClone(document) };
  const place = (pointer) => {
    const keys = pointer.split("/").map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
    const key = keys.pop();
    return { parent: keys.reduce((value, key) => value[key], pointer === "" ? { "": root } : root), key };
  };
  const get = (pointer) => (pointer === "" ? root[""] : (({ parent, key }) => parent[key])(place(pointer)));
  const remove = (pointer) => {
    const { parent, key } = place(pointer);
    if (Array.isArray(parent)) parent.splice(key, 1);
    else delete parent[key];
  };
  const add = (pointer, value) => {
    if (pointer === "") return (root[""] = value);
    const { parent, key } = place(pointer);
    if (Array.isArray(parent)) parent.splice(key === "-" ? parent.length : key, 0, value);
    else parent[key] = value;
  };
  for (const { op, path, from, value } of operations) {
    // Such a member would be the prototype of its object.
    if (`${path}/${from}/`.includes("/__proto__/")) continue;
    if (op === "add") add(path, value);
    if (op === "remove") remove(path);
    if (op === "replace") {
      if (path !== "") remove(path);
      add(path, value);
    }
    if (op === "copy") add(path, structuredClone(get(from)));
    if (op === "move") {
      const moved = get(from);
      remove(from);
      add(path, moved);
    }
  }
  return root[""];
}
