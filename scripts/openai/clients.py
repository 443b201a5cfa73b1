"""Runs conversations with a server by the Python packages `openai` and `litellm`.

Usage: python clients.py PACKAGE URL STRICT_URL TOKEN. PACKAGE is `openai`, `litellm`, or `proxy` for the
package `openai` with the proxy of LiteLLM at URL. The server at URL is `agcore serve`, whose
model plays `model.json`, in the order of the requests below. That at STRICT_URL wants a token, and allows no run.
"""

import json
import sys

PACKAGE, URL, STRICT_URL, TOKEN = sys.argv[1:]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
MAP = {"type": "function", "function": {"name": "show_map", "description": "Shows a map.", "parameters": SCHEMA}}
FLAT = {"type": "function", "name": "show_map", "description": "Shows a map.", "parameters": SCHEMA}


class OpenAI:
    """Chats by the package `openai`."""

    def __init__(self):
        import openai

        self.client = openai.OpenAI(base_url=f"{URL}/v1", api_key="none", max_retries=0)

    def chat(self, **arguments):
        return self.client.chat.completions.create(model="assistant", **arguments)

    def respond(self, **arguments):
        return self.client.responses.create(model="assistant", **arguments)


class LiteLLM:
    """Chats by the package `litellm`, for which the server is one of OpenAI."""

    def __init__(self):
        import litellm

        litellm.telemetry = False
        self.litellm = litellm
        self.to = {"api_base": f"{URL}/v1", "api_key": "none", "model": "openai/assistant", "num_retries": 0}

    def chat(self, **arguments):
        return self.litellm.completion(**self.to, **arguments)

    def respond(self, **arguments):
        return self.litellm.responses(**self.to, **arguments)


CLIENT = {"openai": OpenAI, "litellm": LiteLLM, "proxy": OpenAI}[PACKAGE]()


def user(text):
    return {"role": "user", "content": text}


def text_of_stream(stream):
    """Returns the text of chunks, the reason of the end, the calls and the usage."""
    text, finish, calls, usage = "", None, {}, None
    for chunk in stream:
        usage = getattr(chunk, "usage", None) or usage
        if not chunk.choices:
            continue
        delta = chunk.choices[0].delta
        text += delta.content or ""
        finish = chunk.choices[0].finish_reason or finish
        for call in delta.tool_calls or []:
            known = calls.setdefault(call.index, {"id": "", "name": "", "arguments": ""})
            known["id"] += call.id or ""
            known["name"] += call.function.name or ""
            known["arguments"] += call.function.arguments or ""
    return text, finish, list(calls.values()), usage


def conversation():
    messages = [user("How is the weather?")]
    answer = CLIENT.chat(messages=messages)
    assert answer.choices[0].message.content == "It has 21 degrees.", answer
    assert answer.choices[0].finish_reason == "stop" and answer.usage.total_tokens > 0, answer
    messages += [{"role": "assistant", "content": "It has 21 degrees."}, user("What did I ask?")]
    stream = CLIENT.chat(messages=messages, stream=True, stream_options={"include_usage": True})
    text, finish, calls, usage = text_of_stream(stream)
    assert (text, finish, calls) == ("You asked about the weather.", "stop", []), (text, finish, calls)
    assert usage.total_tokens > 0, usage


def tools():
    messages = [user("Show me Rome and Paris.")]
    message = CLIENT.chat(messages=messages, tools=[MAP]).choices[0]
    assert message.finish_reason == "tool_calls", message
    cities = [json.loads(call.function.arguments)["city"] for call in message.message.tool_calls]
    assert cities == ["Rome", "Paris"], message
    messages.append(message.message.model_dump(exclude_none=True))
    messages += [{"role": "tool", "tool_call_id": call.id, "content": "shown"} for call in message.message.tool_calls]
    for _ in range(2):
        # The second time, the results are known already.
        answer = CLIENT.chat(messages=messages, tools=[MAP]).choices[0].message.content
        assert answer == "The maps are shown.", answer
    messages = [user("Show me Oslo.")]
    _, finish, (call,), _ = text_of_stream(CLIENT.chat(messages=messages, tools=[MAP], stream=True))
    assert finish == "tool_calls" and call["name"] == "show_map", call
    function = {"name": call["name"], "arguments": call["arguments"]}
    messages.append({"role": "assistant", "tool_calls": [{"id": call["id"], "type": "function", "function": function}]})
    messages.append({"role": "tool", "tool_call_id": call["id"], "content": "shown"})
    text, finish, calls, _ = text_of_stream(CLIENT.chat(messages=messages, tools=[MAP], stream=True))
    assert (text, finish, calls) == ("It is shown.", "stop", []), text


def approval():
    answer = CLIENT.chat(messages=[user("Pay.")]).choices[0]
    assert (answer.message.content, answer.finish_reason) == ("I did not pay.", "stop"), answer


def responses():
    first = CLIENT.respond(input="Hello")
    assert (first.output_text, first.status) == ("Good day.", "completed"), first
    second = CLIENT.respond(input="What did I say?", previous_response_id=first.id)
    assert second.output_text == "You greeted me.", second
    text = ""
    for event in CLIENT.respond(input="Bye", previous_response_id=second.id, stream=True):
        text += event.delta if event.type == "response.output_text.delta" else ""
    assert (text, event.type) == ("Goodbye.", "response.completed"), event
    third = event.response
    called = CLIENT.respond(input="Show me Bonn.", previous_response_id=third.id, tools=[FLAT])
    (item,) = called.output
    assert (item.type, json.loads(item.arguments)) == ("function_call", {"city": "Bonn"}), called
    output = {"type": "function_call_output", "call_id": item.call_id, "output": "shown"}
    last = CLIENT.respond(input=[output], previous_response_id=called.id, tools=[FLAT])
    assert last.output_text == "Here is Bonn.", last
    return last


def openai_only(last):
    import openai

    client = CLIENT.client
    assert [model.id for model in client.models.list()] == ["assistant"]
    assert client.models.retrieve("assistant").owned_by == "agcore"
    assert client.responses.retrieve(last.id).output_text == "Here is Bonn."

    def fails(kind, call, code):
        try:
            call()
        except kind as error:
            assert type(error) is kind and error.code == code, (type(error), error.code, error)
        else:
            raise AssertionError(f"{kind.__name__} was expected")

    ask = {"model": "assistant", "messages": [user("Hello")]}
    fails(openai.NotFoundError, lambda: client.chat.completions.create(**ask | {"model": "none"}), "model_not_found")
    fails(openai.BadRequestError, lambda: client.chat.completions.create(**ask, n=2), "unsupported_parameter")
    fails(openai.NotFoundError, lambda: client.responses.retrieve("resp_none"), "not_found")
    pay = {"type": "function", "function": {"name": "save_note", "parameters": SCHEMA}}
    fails(openai.BadRequestError, lambda: client.chat.completions.create(**ask, tools=[pay]), "invalid_request")
    strict = openai.OpenAI(base_url=f"{STRICT_URL}/v1", api_key="wrong", max_retries=0)
    fails(openai.AuthenticationError, lambda: strict.chat.completions.create(**ask), "unauthenticated")
    strict = openai.OpenAI(base_url=f"{STRICT_URL}/v1", api_key=TOKEN, max_retries=0)
    fails(openai.RateLimitError, lambda: strict.chat.completions.create(**ask), "quota_exceeded")


def litellm_only():
    litellm = CLIENT.litellm
    for key, kind in [("wrong", litellm.AuthenticationError), (TOKEN, litellm.RateLimitError)]:
        arguments = CLIENT.to | {"api_base": f"{STRICT_URL}/v1", "api_key": key}
        try:
            litellm.completion(messages=[user("Hello")], **arguments)
        except kind:
            continue
        raise AssertionError(f"{kind.__name__} was expected")


def main():
    conversation()
    tools()
    approval()
    last = responses()
    if PACKAGE == "openai":
        openai_only(last)
    elif PACKAGE == "litellm":
        litellm_only()
    print(f"PyPI {PACKAGE}: chats, streams, tools, a refused approval, responses with previous ids, errors")


main()
