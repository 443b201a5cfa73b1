"""Runs conversations with a server by the models of the Python package, which has no client of its own.

Usage: python clients.py LINE URL, with a Python that has the package. LINE is `1` or `0`. The server is `agcore serve`, whose
model plays `model.json`, in the order of the runs below.
"""

import json
import sys
import urllib.request

from ag_ui.core import Event, RunAgentInput
from pydantic import TypeAdapter

LINE, URL = sys.argv[1:]
ADAPTER = TypeAdapter(Event)
RUNS = 0


def post(path, body, headers=None):
    """Opens a request; the models write the body."""
    data = json.dumps(body).encode()
    headers = {"content-type": "application/json", "accept": "text/event-stream"} | (headers or {})
    return urllib.request.urlopen(urllib.request.Request(URL + path, data, headers))


def run(thread, text, resume=None, on_event=lambda event, run: None, messages=None, tools=()):
    """Runs the agent and returns the events, parsed by the models."""
    global RUNS
    RUNS += 1
    name = f"run_py{LINE}_{RUNS}"
    messages = messages or ([{"id": f"user_{name}", "role": "user", "content": text}] if text else [])
    members = {"threadId": f"{thread}_py{LINE}", "runId": name, "state": {}, "messages": messages, "context": []}
    members |= {"tools": list(tools)}
    members |= {"forwardedProps": {}} | ({"resume": resume} if resume else {}) | ({"protocolVersion": "1.0"} if LINE == "1" else {})
    body = RunAgentInput.model_validate(members).model_dump(mode="json", by_alias=True, exclude_none=True)
    events = []
    with post("/api/v1/agent/run", body) as answer:
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


def front_end_tool():
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tools = [{"name": "show_map", "description": "Shows a map.", "parameters": schema}]
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


def main():
    events = run("talk", "How is the weather?")
    assert (result(events), text(events)) == ("21", "It has 21 degrees."), events
    assert text(run("talk", "What did I ask?")) == "You asked about the weather."
    approval("approve", True, "Saved to ", "It is paid.")
    approval("deny", False, "not today", "I did not pay.")
    front_end_tool()
    end = run("cancel", "Think.", on_event=cancel)[-1]
    assert end.type == "RUN_FINISHED" and end.outcome.type == "cancelled" if LINE == "1" else end.code == "RUN_CANCELED", end
    assert text(run("cancel", "Are you back?")) == "I am back."
    print(f"PyPI {LINE}.x: {RUNS} runs: a conversation with a tool, an approval, a denial, a tool of the front end and a cancel")


main()
