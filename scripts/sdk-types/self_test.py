"""Proves that the check can fail: bodies that are right but for one thing, and what must be said of it.

The same few faults are put into a good body of every package, as each writes its types in another way.
"""

import copy

from vendors import VENDORS
from walker import Walker

CHAT = {
    "model": "m",
    "messages": [{"role": "user", "content": "Hi"}],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
}
GOOD = {
    "openai": CHAT,
    "mistral": CHAT,
    "groq": CHAT,
    "openrouter": CHAT,
    "zhipu": CHAT,
    "anthropic": {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "Hi"}]},
    "openai-responses": {"model": "m", "input": [{"role": "user", "content": "Hi"}]},
    "ollama-native": {"model": "m", "messages": [{"role": "user", "content": "Hi"}]},
}


def put(*path_and_value):
    """A change of a body: the value at the end of the path."""
    *path, last, value = path_and_value

    def change(body):
        for step in path:
            body = body[step]
        body[last] = value

    return change


def drop(name):
    return lambda body: body.pop(name)


# vendors, what is done to the good body, the place of the fault, a part of what is said of it
CASES = [
    (set(GOOD), put("no_such_member", 1), "$.no_such_member", "is unknown to"),
    (set(GOOD) - {"anthropic", "ollama-native"}, put("temperature", "warm"), "$.temperature", "'warm' is no float"),
    (set(GOOD) - {"anthropic", "ollama-native"}, put("temperature", True), "$.temperature", "True is no float"),
    (set(GOOD) - {"openrouter", "openai-responses"}, drop("model"), "$.model", "is missing"),
    (set(GOOD) - {"openai-responses", "ollama-native"}, put("messages", 0, "role", "robot"), "$.messages[0].role", "is not one of"),
    (set(GOOD) - {"ollama-native"}, put("stream", "yes"), "$.stream", "'yes' is"),
    ({"openai", "groq", "mistral", "openrouter", "zhipu"}, put("messages", 0, "extra", 1), "$.messages[0].extra", "is unknown"),
    ({"openai", "groq", "mistral", "openrouter"}, put("max_tokens", 1.5), "$.max_tokens", "1.5 is no int"),
    ({"openai", "groq", "mistral"}, put("reasoning_effort", "enormous"), "$.reasoning_effort", "is not one of"),
    ({"openai", "groq", "mistral"}, put("tools", 0, "function", "name", 1), "$.tools[0].function.name", "1 is no str"),
    ({"openai", "groq", "mistral"}, put("tools", 0, "function", "odd", 1), "$.tools[0].function.odd", "is unknown"),
    ({"openai", "openrouter"}, put("messages", 0, "content", [{"type": "text"}]), "$.messages[0].content[0].text", "is missing"),
    ({"openai"}, put("messages", {"role": "user"}), "$.messages", "is no array"),
    ({"openai"}, put("logit_bias", {"1": 5.0}), "$.logit_bias.1", "5.0 is no int"),
    ({"anthropic"}, put("messages", 0, "content", [{"type": "text", "text": 1}]), "$.messages[0].content[0].text", "1 is no str"),
    ({"anthropic"}, put("thinking", {"type": "enabled"}), "$.thinking.budget_tokens", "is missing"),
    ({"openai-responses"}, put("input", 0, "role", "robot"), "$.input[0].role", "is not one of"),
    ({"openai-responses"}, put("reasoning", {"effort": "enormous"}), "$.reasoning.effort", "is not one of"),
    ({"ollama-native"}, put("messages", 0, "images", "x"), "$.messages[0].images", "is no array"),
    ({"ollama-native"}, put("messages", 0, "odd", 1), "$.messages[0].odd", "is unknown"),
]


def missed():
    """What was not found, a line each."""
    for name, body in GOOD.items():
        for fault in faults(name, body):
            yield f"{name}: a good body is called wrong: {fault}"
    for names, change, path, problem in CASES:
        for name in sorted(names):
            body = copy.deepcopy(GOOD[name])
            change(body)
            found = faults(name, body)
            if not any(fault.path == path and problem in fault.problem for fault in found):
                told = "; ".join(map(str, found)) or "nothing"
                yield f"{name}: {path} {problem}: was not found, but {told}"


def faults(name, body):
    kinds = faults.kinds
    if name not in kinds:
        kinds[name] = VENDORS[name].load()
    return Walker(VENDORS[name].extra_kinds(), VENDORS[name].stand_ins).faults(kinds[name], body)


faults.kinds = {}


def run():
    lines = list(missed())
    print("\n".join(lines) or f"{sum(len(names) for names, *_ in CASES)} wrong bodies, all found")
    return 1 if lines else 0
