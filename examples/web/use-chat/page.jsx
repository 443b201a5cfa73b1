// A chat with an agent of `agcore serve`, with `useChat` of the Vercel AI SDK 7.
import { useChat } from "@ai-sdk/react";
import {
  DefaultChatTransport, getToolName, isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from "ai";
import { useEffect, useRef, useState } from "react";
import { createRoot } from "react-dom/client";

import { cancel, load } from "./thread.js";

// The conversation is in the address, so that it is still there after a reload.
const isNew = !location.hash;
if (isNew) history.replaceState(null, "", `#${crypto.randomUUID()}`);
addEventListener("hashchange", () => location.reload());
const threadId = location.hash.slice(1);

const api = `${document.querySelector("meta[name=agcore-server]").content}/api/v1/agent`;
// With tokens: `{ Authorization: "Bearer …" }`, with the token of the user who has logged in.
const headers = {};

// What the agent may do on this page. The names must differ from those of the tools of the server.
const tools = {
  set_color: {
    description: "Sets the background color of the page.",
    parameters: {
      type: "object",
      properties: { color: { type: "string", description: "a color of CSS, such as lightblue" } },
      required: ["color"],
    },
    run: ({ color }) => {
      if (!CSS.supports("color", color)) throw new Error(`${color} is not a color of CSS`);
      document.body.style.background = color;
      return `the background is ${color} now`;
    },
  },
};
const offered = Object.entries(tools).map(([name, { description, parameters }]) => ({ name, description, parameters }));

const transport = new DefaultChatTransport({ api: `${api}/ui`, headers, body: { tools: offered } });

function useConversation(messages) {
  const chat = useChat({
    id: threadId,
    messages,
    transport,
    // Follows a run that is active when the page loads.
    resume: !isNew,
    sendAutomaticallyWhen: (conversation) =>
      lastAssistantMessageIsCompleteWithApprovalResponses(conversation) || lastAssistantMessageIsCompleteWithToolCalls(conversation),
    onToolCall: ({ toolCall }) => { if (!toolCall.dynamic) runTool(toolCall.toolName, toolCall.toolCallId, toolCall.input); },
  });
  // Arguments are written by a model: an exception becomes the result, so that it can try again.
  const runTool = (tool, toolCallId, input) => {
    const result = () => {
      try {
        return { output: tools[tool].run(input) };
      } catch (problem) {
        return { state: "output-error", errorText: problem.message };
      }
    };
    void chat.addToolOutput({ tool, toolCallId, ...result() });
  };
  // Calls that were not run before the page was left.
  const isLoaded = useRef(false);
  useEffect(() => {
    if (isLoaded.current) return;
    isLoaded.current = true;
    const parts = messages.at(-1)?.parts ?? [];
    const waiting = parts.filter(({ type, state }) => type.startsWith("tool-") && state === "input-available");
    for (const part of waiting) runTool(getToolName(part), part.toolCallId, part.input);
  });
  return chat;
}

const STATES = {
  "input-streaming": "is called",
  "input-available": "runs",
  "approval-requested": "waits for you",
  "output-available": "done",
  "output-error": "failed",
  "output-denied": "refused",
};

function Tool({ part, onAnswer }) {
  const { state, input, output, errorText, approval } = part;
  const isAsking = state === "approval-requested";
  const name = getToolName(part);
  const status = state === "approval-responded" ? (approval.approved ? "approved" : "refused") : STATES[state];
  const answer = (approved, reason) => onAnswer({ id: approval.id, approved, reason });
  return (
    <details className={`tool ${state}`} open={isAsking || undefined}>
      <summary><code>{name}</code><span>{status}</span></summary>
      <pre>{JSON.stringify(input, null, 2)}</pre>
      {output !== undefined && <pre className="output">{typeof output === "string" ? output : JSON.stringify(output, null, 2)}</pre>}
      {errorText && <pre className="output">{errorText}</pre>}
      {isAsking && (
        <div className="approval">
          <strong>May the agent run {name}?</strong>
          <button onClick={() => answer(true)}>Approve</button>
          <button onClick={() => answer(false, "the user has refused")}>Refuse</button>
        </div>
      )}
    </details>
  );
}

function Message({ message: { role, parts }, onAnswer }) {
  // A text that another one replaces, because the stream of the model broke off.
  const discarded = parts.filter(({ type }) => type === "data-agcore-discarded").length;
  const texts = parts.filter(({ type }) => type === "text");
  const isShown = (part) => part.type === "text" && part.text && !(texts.indexOf(part) < discarded);
  const shown = parts.filter((part) => isShown(part) || isToolUIPart(part));
  if (shown.length === 0) return null;
  return (
    <article className={role}>
      {shown.map((part, place) => isToolUIPart(part)
        ? <Tool key={part.toolCallId} part={part} onAnswer={onAnswer} />
        : <p key={place}>{part.text}</p>)}
    </article>
  );
}

function Chat({ loaded }) {
  const { messages, status, error, sendMessage, addToolApprovalResponse } = useConversation(loaded);
  const end = useRef(null);
  useEffect(() => { end.current.scrollIntoView({ block: "end" }); }, [messages, status]);
  const isBusy = status === "submitted" || status === "streaming";
  const send = (event) => {
    event.preventDefault();
    const { text } = event.target.elements;
    if (isBusy || !text.value.trim()) return;
    void sendMessage({ text: text.value.trim() });
    text.value = "";
  };
  return (
    <div className="page">
      <header>
        <h1>Chat</h1>
        <button onClick={() => location.assign(location.pathname)}>New conversation</button>
      </header>
      <main>
        {messages.length === 0 && <p className="hint">Say hello, or: “Make the page light blue”, “What is 20 + 1?”, “Save a note”.</p>}
        {messages.map((message) => <Message key={message.id} message={message} onAnswer={addToolApprovalResponse} />)}
        {status === "submitted" && <p className="waiting" role="status">…</p>}
        {error && <p className="problem" role="alert">{error.message}</p>}
        <div ref={end} />
      </main>
      <form onSubmit={send}>
        <input name="text" aria-label="Message" placeholder="Write a message" autoComplete="off" autoFocus />
        {isBusy
          ? <button key="stop" type="button" id="stop" onClick={() => cancel(api, threadId, headers)}>Stop</button>
          : <button key="send">Send</button>}
      </form>
    </div>
  );
}

const root = createRoot(document.getElementById("root"));
(isNew ? Promise.resolve([]) : load(api, threadId, headers)).then(
  (loaded) => root.render(<Chat loaded={loaded} />),
  (problem) => root.render(<p className="problem" role="alert">{problem.message}</p>),
);
