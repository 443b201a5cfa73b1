"""Runs conversations with a server by the models of the Python package, which has no client of its own.

Usage: python clients.py LINE URL [after], with a Python that has the package. LINE is `1` or `0`. The server is `agcore serve`, whose
model plays `model.json`, in the order of the runs below. After the last of them, the server is killed and started again, and `after`
sends the result of its call.
"""

import json
import sys
import urllib.request

from ag_ui.core import Event, RunAgentInput
from pydantic import TypeAdapter

LINE, URL, *PHASE = sys.argv[1:]
ADAPTER = TypeAdapter(Event)
RUNS = 100 if PHASE else 0


def post(path, body, headers=None):
    """Opens a request; the models write the body."""
    data = json.dumps(body).encode()
    headers = {"content-type": "application/json", "accept": "text/event-stream"} | (headers or {})
    return urllib.request.urlopen(urllib.request.Request(URL + path, data, headers))


def run(thread, text, resume=None, on_event=lambda event, run: None, messages=None, tools=(), path="run", **more):
    """Runs the agent and returns the events, parsed by the models."""
    global RUNS
    RUNS += 1
    name = f"run_py{LINE}_{RUNS}"
    messages = messages or ([{"id": f"user_{name}", "role": "user", "content": text}] if text else [])
    members = {"threadId": f"{thread}_py{LINE}", "runId": name, "state": {}, "messages": messages, "context": []}
    members |= {"tools": list(tools)} | more
    members |= {"forwardedProps": {}} | ({"resume": resume} if resume else {}) | ({"protocolVersion": "1.0"} if LINE == "1" else {})
    body = RunAgentInput.model_validate(members).model_dump(mode="json", by_alias=True, exclude_none=True)
    events = []
    with post(f"/api/v1/agent/{path}", body) as answer:
        for line in answer:
            if line.startswith(b"data: "):
                events.append(ADAPTER.validate_json(line[6:]))
                on_event(events[-1], name)
    return events


def text(events):
    """Returns the deltas of all texts."""
    return "".join(event.delta for event in events if event.type == "TEXT_MESSAGE_CONTENT")


def result(events):
    """Returns the content of the result of the only tool call."""
    (event,) = [event for event in events if event.type == "TOOL_CALL_RESULT"]
    return event.content


def approval(thread, approved, expected, answer):
    (interrupt,) = run(thread, "Pay.")[-1].outcome.interrupts
    payload = {"approved": approved, "message": "not today"}
    events = run(thread, None, [{"interruptId": interrupt.id, "status": "resolved", "payload": payload}])
    assert expected in result(events), result(events)
    assert text(events) == answer, text(events)


SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = [{"name": "show_map", "description": "Shows a map.", "parameters": SCHEMA}]


def front_end_tool():
    tools = TOOLS
    events = run("map", "Show me Rome.", tools=tools)
    (call,) = [event for event in events if event.type == "TOOL_CALL_START"]
    assert call.tool_call_name == "show_map" and events[-1].type == "RUN_FINISHED", events
    if LINE == "1":
        assert events[-1].outcome.pending_tool_call_ids == [call.tool_call_id], events[-1]
    shown = {"id": "result", "role": "tool", "toolCallId": call.tool_call_id, "content": "shown"}
    assert text(run("map", None, messages=[shown], tools=tools)) == "The map is shown."


def cancel(event, name):
    if event.type == "TEXT_MESSAGE_CONTENT":
        with post(f"/api/v1/agent/runs/cancel_py{LINE}/{name}/cancel", {}) as answer:
            assert answer.status == 200


def shared_state():
    context = [{"description": "The time of the user", "value": "noon"}]
    # Long enough that a change is sent as a patch, which is shorter.
    events = run("list", "Add milk.", state={"items": ["tea"], "note": "For Sunday. " * 50}, context=context)
    (delta,) = [event for event in events if event.type == "STATE_DELTA"]
    assert [step["op"] if isinstance(step, dict) else step.op for step in delta.delta] == ["add"], delta
    assert text(events) == "I have added milk.", events


DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="


def image_and_branch():
    image = {"type": "binary", "mimeType": "image/png", "data": DOT}
    if LINE == "1":
        image = {"type": "image", "source": {"type": "data", "value": DOT, "mimeType": "image/png"}}
    content = [{"type": "text", "text": "Which color is it?"}, image]
    assert text(run("dot", None, messages=[{"id": "dot", "role": "user", "content": content}])) == "It is a red dot."
    thread = f"/api/v1/agent/sessions/dot_py{LINE}/branches"
    with post(thread, {"threadId": f"blue_py{LINE}"}) as answer:
        assert json.load(answer)["threadId"] == f"blue_py{LINE}"
    assert text(run("blue", "Say it is blue.")) == "In the branch it is a blue dot."


def before_the_kill():
    (call,) = [event for event in run("late", "Show me Lima.", tools=TOOLS) if event.type == "TOOL_CALL_START"]
    assert call.tool_call_name == "show_map", call


def after_the_kill():
    (shown,) = [event for event in run("late", None, path="connect") if event.type == "MESSAGES_SNAPSHOT"]
    (call,) = shown.messages[-1].tool_calls
    shown = {"id": "late", "role": "tool", "toolCallId": call.id, "content": "shown"}
    assert text(run("late", None, messages=[shown], tools=TOOLS)) == "The map was shown after all."
    print(f"PyPI {LINE}.x: a result after the server was killed and started again")


def main():
    if PHASE == ["after"]:
        return after_the_kill()
    events = run("talk", "How is the weather?")
    assert (result(events), text(events)) == ("21", "It has 21 degrees."), events
    assert text(run("talk", "What did I ask?")) == "You asked about the weather."
    approval("approve", True, "Saved to ", "It is paid.")
    approval("deny", False, "not today", "I did not pay.")
    front_end_tool()
    end = run("cancel", "Think.", on_event=cancel)[-1]
    assert end.type == "RUN_FINISHED" and end.outcome.type == "cancelled" if LINE == "1" else end.code == "RUN_CANCELED", end
    assert text(run("cancel", "Are you back?")) == "I am back."
    shared_state()
    image_and_branch()
    before_the_kill()
    print(
        f"PyPI {LINE}.x: {RUNS} runs: a conversation with a tool, an approval, a denial, a tool of the front end, a cancel, a shared "
        "state, context, an image and a branch"
    )


main()
