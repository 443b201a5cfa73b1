// A thread of `agcore serve` in the form in which `useChat` keeps conversations.

/** Returns the messages of a thread. The stream of an active run brings what the agent has written in it. */
export async function load(api, thread, headers) {
  const get = async (path) => {
    const answer = await fetch(api + path, { headers });
    if (answer.status === 404) return undefined; // no run yet
    if (!answer.ok) throw new Error((await answer.json()).detail);
    return answer.json();
  };
  const id = encodeURIComponent(thread);
  const [session, history] = await Promise.all([get(`/sessions/${id}`), get(`/history?threadId=${id}&limit=200`)]);
  return session && history ? toMessages(session, history.messages) : [];
}

/** Cancels the active run of a thread: a page that only disconnects does not end it. */
export async function cancel(api, thread, headers) {
  const id = encodeURIComponent(thread);
  const session = await (await fetch(`${api}/sessions/${id}`, { headers })).json();
  const active = session.runs?.find(isActive);
  if (active) await fetch(`${api}/runs/${id}/${encodeURIComponent(active.runId)}/cancel`, { method: "POST", headers });
}

const isActive = ({ status }) => status === "running" || status === "queued";

function toMessages({ runs, questions }, rows) {
  const active = runs.find(isActive)?.runId;
  const messages = [];
  for (const { id, role, content, metadata, runId } of rows) {
    if (role === "user") {
      messages.push({ id, role, parts: [{ type: "text", text: content }] });
      continue;
    }
    if (runId === active) continue;
    if (messages.at(-1)?.role !== "assistant") messages.push({ id, role: "assistant", parts: [] });
    const { parts } = messages.at(-1);
    if (metadata?.type === "tool_call") {
      parts.push(toPart(metadata, active ? [] : questions));
    } else if (metadata?.type === "tool_result") {
      const part = parts.find(({ toolCallId }) => toolCallId === metadata.call_id);
      const result = metadata.is_error ? { state: "output-error", errorText: content } : { state: "output-available", output: content };
      if (part) Object.assign(part, result);
    } else {
      parts.push({ type: "text", text: content, state: "done" });
    }
  }
  return messages;
}

// A call that waits for the page is one of its tools; one that waits for a person has the question as its approval.
function toPart({ call_id: toolCallId, name, arguments: input }, questions) {
  const { interruptId, question } = questions.find(({ question }) => question.call_id === toolCallId) ?? {};
  if (question?.kind === "client") return { type: `tool-${name}`, toolCallId, state: "input-available", input };
  const part = { type: "dynamic-tool", toolName: name, toolCallId, input, providerExecuted: true };
  return question ? { ...part, state: "approval-requested", approval: { id: interruptId } } : { ...part, state: "input-available" };
}
