// A shopping list that a user and an agent of `agcore serve` write together.
import { Conversation } from "./agcore.js";

const find = (selector) => document.querySelector(selector);

// The conversation is in the address, so that it is still there after a reload.
const isNew = !location.hash;
if (isNew) history.replaceState(null, "", `#${crypto.randomUUID()}`);
addEventListener("hashchange", () => location.reload());

const conversation = new Conversation({
  server: find("meta[name=agcore-server]").content,
  threadId: location.hash.slice(1),
  // With tokens: headers: { Authorization: `Bearer ${token}` }, with the token of the user who has logged in.
  state: { title: "Shopping", items: [] },
  // What the agent may do on this page. The names must differ from those of the tools of the server.
  tools: {
    set_color: {
      description: "Sets the background color of the page.",
      parameters: {
        type: "object",
        properties: { color: { type: "string", description: "a color of CSS, such as lightblue" } },
        required: ["color"],
      },
      run({ color }) {
        if (!CSS.supports("color", color)) throw new Error(`${color} is not a color of CSS`);
        document.body.style.background = color;
        return `the background is ${color} now`;
      },
    },
  },
  onChange: show,
});

// Everything is inserted as text: what a model writes is never HTML of the page.
function element(name, content, properties = {}) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...[content].flat());
  return made;
}

function show() {
  const { messages, questions, run, state } = conversation;
  const showCall = ({ name, text, result }) => {
    return element("p", `${name} ${text} ${result === undefined ? "…" : `→ ${result}`}`, { className: "call" });
  };
  const shown = messages.flatMap(({ role, content, calls = [] }) => [
    ...(content ? [element("p", content, { className: role })] : []),
    ...calls.map(showCall),
  ]);
  find("#messages").replaceChildren(...shown);
  find("#questions").replaceChildren(...(run ? [] : questions.map(showQuestion)));
  find("#stop").hidden = !run;
  find("#send button").disabled = Boolean(run);
  if (document.activeElement !== find("#title")) find("#title").value = state.title ?? "";
  find("#items").replaceChildren(...(state.items ?? []).map((item) => element("li", String(item))));
  showEnd();
}

function showEnd() {
  find("#messages").scrollTop = find("#messages").scrollHeight;
}

function showQuestion(question) {
  const button = (text, isApproved) => element("button", text, {
    onclick: () => attempt(conversation.answer(question, isApproved, isApproved ? undefined : "the user has refused")),
  });
  const { tool, message, arguments: args } = question;
  return element("div", [
    element("strong", tool ? `May the agent run ${tool}?` : message),
    element("pre", args === undefined ? "" : JSON.stringify(args, null, 2)),
    button("Approve", true),
    button("Refuse", false),
  ]);
}

// Shows and returns why an operation has failed, if it has.
async function attempt(operation) {
  find("#problem").hidden = true;
  try {
    await operation;
  } catch (problem) {
    const isOlder = problem.code === "state_changed";
    const advice = "Someone else has changed the list. Check it, and repeat your change.";
    find("#problem").textContent = isOlder ? advice : problem.message;
    find("#problem").hidden = false;
    showEnd();
    return problem;
  }
}

find("#send").addEventListener("submit", async (event) => {
  event.preventDefault();
  const { text } = event.target.elements;
  const content = text.value.trim();
  if (!content || conversation.run) return;
  text.value = "";
  const problem = await attempt(conversation.send(content));
  if (problem?.wasNotStarted) text.value ||= content;
});
find("#send textarea").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  find("#send").requestSubmit();
});
find("#stop").addEventListener("click", () => attempt(conversation.stop()));
find("#title").addEventListener("change", ({ target }) => {
  attempt(conversation.change({ ...conversation.state, title: target.value }));
});
find("#add").addEventListener("submit", (event) => {
  event.preventDefault();
  const { entry } = event.target.elements;
  const { state } = conversation;
  if (entry.value.trim()) attempt(conversation.change({ ...state, items: [...(state.items ?? []), entry.value.trim()] }));
  entry.value = "";
});
find("#new").addEventListener("click", () => location.assign(location.pathname));

show();
if (!isNew) attempt(conversation.load());
