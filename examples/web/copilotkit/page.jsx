// A shopping list that a user and an agent of `agcore serve` write together, with CopilotKit 1.74.
import {
  CopilotChat, CopilotKitProvider, useAgent, useCopilotKit, useDefaultRenderTool, useFrontendTool, useInterrupt,
} from "@copilotkit/react-core/v2";
import "@copilotkit/react-core/v2/styles.css";
import { useEffect, useRef, useState } from "react";
import { createRoot } from "react-dom/client";
import { z } from "zod";

import { AgcoreAgent } from "./agcore-agent.js";

// The conversation is in the address, so that it is still there after a reload.
if (!location.hash) history.replaceState(null, "", `#${crypto.randomUUID()}`);
addEventListener("hashchange", () => location.reload());
const threadId = location.hash.slice(1);

const setting = (name) => document.querySelector(`meta[name=${name}]`).content;
const server = setting("agcore-server");
// With tokens: `{ Authorization: "Bearer …" }`, with the token of the user who has logged in.
const headers = {};
// Through the runtime of CopilotKit in `server.mjs`, or without it.
const connection = setting("copilotkit-runtime")
  ? { runtimeUrl: setting("copilotkit-runtime"), useSingleEndpoint: false, headers }
  : { selfManagedAgents: { default: new AgcoreAgent({ server, threadId, headers }) } };

const EMPTY_LIST = { title: "Shopping", items: [] };

// What the agent may do on this page. The names must differ from those of the tools of the server.
const tools = {
  set_color: {
    description: "Sets the background color of the page.",
    parameters: z.object({ color: z.string().describe("a color of CSS, such as lightblue") }),
    handler: async ({ color }) => {
      if (!CSS.supports("color", color)) throw new Error(`${color} is not a color of CSS`);
      document.body.style.background = color;
      return `the background is ${color} now`;
    },
  },
};

// What a conversation needs when the page has loaded it: a state, and the results of calls that waited for the page.
function useLoadedConversation(agent) {
  const { copilotkit } = useCopilotKit();
  useEffect(() => {
    let isLoaded = false;
    const begin = async () => {
      if (Object.keys(agent.state).length === 0) agent.setState(EMPTY_LIST);
      const hasResult = (id) => agent.messages.some((message) => message.toolCallId === id);
      const calls = agent.messages.flatMap((message) => message.toolCalls ?? [])
        .filter((call) => tools[call.function.name] && !hasResult(call.id));
      for (const call of calls) {
        const { parameters, handler } = tools[call.function.name];
        const run = async () => handler(parameters.parse(JSON.parse(call.function.arguments)));
        const content = await run().catch((problem) => `Error: ${problem.message}`);
        agent.addMessage({ id: crypto.randomUUID(), role: "tool", toolCallId: call.id, content });
      }
      if (calls.length > 0) await copilotkit.runAgent({ agent });
    };
    const { unsubscribe } = agent.subscribe({
      onRunFinalized: () => {
        if (!isLoaded) setTimeout(begin);
        isLoaded = true;
      },
    });
    return unsubscribe;
  }, [agent, copilotkit]);
}

// The state, with a function that changes it at once, also while a run is active. The server refuses a change of an old version.
function useSharedState(agent, onVersion) {
  const version = useRef(0);
  const changes = useRef(Promise.resolve());
  const [problem, setProblem] = useState("");
  const see = (number) => {
    version.current = number;
    onVersion(number);
  };
  useEffect(() => {
    const { unsubscribe } = agent.subscribe({
      onEvent: ({ event }) => { if (event.metadata?.agcore?.version !== undefined) see(event.metadata.agcore.version); },
    });
    return unsubscribe;
  }, [agent]);
  const save = async (state) => {
    const url = `${server}/api/v1/agent/sessions/${threadId}/state`;
    const body = JSON.stringify({ version: version.current, state });
    const answer = await fetch(url, { method: "PATCH", headers: { ...headers, "content-type": "application/json" }, body });
    // Before the first run there is no thread; that run then brings the state.
    if (answer.status === 404) return;
    const found = await answer.json();
    if (answer.ok) return see(found.version);
    if (found.code !== "state_changed") throw new Error(found.detail);
    const newest = await (await fetch(url, { headers })).json();
    see(newest.version);
    agent.setState(newest.state);
    throw new Error("Someone else has changed the list. Check it, and repeat your change.");
  };
  const change = (members) => {
    agent.setState({ ...agent.state, ...members });
    const saved = changes.current.then(() => save(agent.state));
    changes.current = saved.then(() => setProblem(""), (error) => setProblem(error.message));
  };
  return [agent.state, change, problem];
}

function List({ onVersion }) {
  const { agent } = useAgent();
  const [{ title = "", items = [] }, change, problem] = useSharedState(agent, onVersion);
  const add = (event) => {
    event.preventDefault();
    const { entry } = event.target.elements;
    if (entry.value.trim()) change({ items: [...items, entry.value.trim()] });
    entry.value = "";
  };
  return (
    <section className="list">
      <input className="title" aria-label="Title" key={title} defaultValue={title}
        onBlur={({ target }) => target.value !== title && change({ title: target.value })} />
      <ul>{items.map((item, place) => <li key={place}>{String(item)}</li>)}</ul>
      <form onSubmit={add}><input name="entry" aria-label="New item" placeholder="Add an item" /></form>
      {problem && <p className="problem" role="alert">{problem}</p>}
      <button onClick={() => location.assign(location.pathname)}>New conversation</button>
    </section>
  );
}

function Approval({ interrupt, resolve }) {
  // CopilotKit sends the answers when all questions have one.
  const [isAnswered, setAnswered] = useState(false);
  const call = interrupt.metadata?.agcore;
  const answer = (payload) => {
    setAnswered(true);
    resolve(payload, interrupt.id);
  };
  if (isAnswered) return null;
  return (
    <div className="approval" role="group" aria-label="Approval">
      <strong>May the agent run {call?.tool_name}?</strong>
      <pre>{JSON.stringify(call?.tool_call_args, null, 2)}</pre>
      <button onClick={() => answer({ approved: true })}>Approve</button>
      <button onClick={() => answer({ approved: false, message: "the user has refused" })}>Refuse</button>
    </div>
  );
}

function Page({ problem, onVersion }) {
  const { agent } = useAgent();
  useLoadedConversation(agent);
  useFrontendTool({ name: "set_color", ...tools.set_color });
  useDefaultRenderTool();
  const questions = useInterrupt({
    // Below the chat, where it is always in view.
    renderInChat: false,
    render: ({ interrupts, resolve }) => (
      <>{interrupts.map((interrupt) => <Approval key={interrupt.id} interrupt={interrupt} resolve={resolve} />)}</>
    ),
  });
  return (
    <div className="page">
      <List onVersion={onVersion} />
      <div className="chat">
        <div className="messages"><CopilotChat threadId={threadId} /></div>
        <div className="questions">{questions}</div>
        {problem && <p className="problem" role="alert">{problem}</p>}
      </div>
    </div>
  );
}

function App() {
  const [problem, setProblem] = useState("");
  const [stateVersion, setVersion] = useState(0);
  return (
    <CopilotKitProvider {...connection} properties={{ stateVersion }} enableInspector={false}
      onError={({ error }) => setProblem(error.message)}>
      <Page problem={problem} onVersion={setVersion} />
    </CopilotKitProvider>
  );
}

createRoot(document.getElementById("root")).render(<App />);
