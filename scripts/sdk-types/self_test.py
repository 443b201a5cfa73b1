"""Proves that the check can fail: bodies with one mistake each, and the expected error.

The same mistakes are made in a valid body for every package, because each package defines its types differently.
"""

import copy

from vendors import VENDORS
from walker import Walker

CHAT = {
    "model": "m",
    "messages": [{"role": "user", "content": "Hi"}],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
}
VALID = {
    "openai": CHAT,
    "mistral": CHAT,
    "groq": CHAT,
    "openrouter": CHAT,
    "zhipu": CHAT,
    "anthropic": {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "Hi"}]},
    "openai-responses": {"model": "m", "input": [{"role": "user", "content": "Hi"}]},
    "ollama-native": {"model": "m", "messages": [{"role": "user", "content": "Hi"}]},
    "gemini-native": {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
}
OTHER_FORM = {"ollama-native", "gemini-native"}


def put(*path_and_value):
    """Returns a change of a body that sets the value at the end of the path."""
    *path, last, value = path_and_value

    def change(body):
        for step in path:
            body = body[step]
        body[last] = value

    return change


def drop(name):
    return lambda body: body.pop(name)


# The vendors, the change of the valid body, the path of the error, and a part of its description.
CASES = [
    (set(VALID), put("no_such_member", 1), "$.no_such_member", "is unknown to"),
    (set(VALID) - OTHER_FORM - {"anthropic"}, put("temperature", "warm"), "$.temperature", "'warm' is not a valid float"),
    (set(VALID) - OTHER_FORM - {"anthropic"}, put("temperature", True), "$.temperature", "True is not a valid float"),
    (set(VALID) - {"openrouter", "openai-responses", "gemini-native"}, drop("model"), "$.model", "is missing"),
    (set(VALID) - OTHER_FORM - {"openai-responses"}, put("messages", 0, "role", "robot"), "$.messages[0].role", "is not one of"),
    (set(VALID) - OTHER_FORM, put("stream", "yes"), "$.stream", "'yes' is"),
    ({"openai", "groq", "mistral", "openrouter", "zhipu"}, put("messages", 0, "extra", 1), "$.messages[0].extra", "is unknown"),
    ({"openai", "groq", "mistral", "openrouter"}, put("max_tokens", 1.5), "$.max_tokens", "1.5 is not a valid int"),
    ({"openai", "groq", "mistral"}, put("reasoning_effort", "enormous"), "$.reasoning_effort", "is not one of"),
    ({"openai", "groq", "mistral"}, put("tools", 0, "function", "name", 1), "$.tools[0].function.name", "1 is not a valid str"),
    ({"openai", "groq", "mistral"}, put("tools", 0, "function", "odd", 1), "$.tools[0].function.odd", "is unknown"),
    ({"openai", "openrouter"}, put("messages", 0, "content", [{"type": "text"}]), "$.messages[0].content[0].text", "is missing"),
    ({"openai"}, put("messages", {"role": "user"}), "$.messages", "is not an array"),
    ({"openai"}, put("logit_bias", {"1": 5.0}), "$.logit_bias.1", "5.0 is not a valid int"),
    ({"anthropic"}, put("messages", 0, "content", [{"type": "text", "text": 1}]), "$.messages[0].content[0].text", "1 is not a valid str"),
    ({"anthropic"}, put("thinking", {"type": "enabled"}), "$.thinking.budget_tokens", "is missing"),
    ({"openai-responses"}, put("input", 0, "role", "robot"), "$.input[0].role", "is not one of"),
    ({"openai-responses"}, put("reasoning", {"effort": "enormous"}), "$.reasoning.effort", "is not one of"),
    ({"ollama-native"}, put("messages", 0, "images", "x"), "$.messages[0].images", "is not an array"),
    ({"ollama-native"}, put("messages", 0, "odd", 1), "$.messages[0].odd", "is unknown"),
    ({"gemini-native"}, drop("contents"), "$.contents", "is missing"),
    ({"gemini-native"}, put("contents", 0, "parts", 0, "odd", 1), "$.contents[0].parts[0].odd", "is unknown"),
    ({"gemini-native"}, put("contents", 0, "parts", 0, "thoughtSignature", 1), "$.contents[0].parts[0].thoughtSignature", "is not a valid"),
    ({"gemini-native"}, put("generationConfig", {"thinkingConfig": {"thinkingLevel": "ENORMOUS"}}), "$.generationConfig.thinkingConfig.thinkingLevel", "is not one of"),
]


def missed():
    """Yields a line for each error that was not found."""
    for name, body in VALID.items():
        for error in errors(name, body):
            yield f"{name}: a valid body is rejected: {error}"
    for names, change, path, problem in CASES:
        for name in sorted(names):
            body = copy.deepcopy(VALID[name])
            change(body)
            found = errors(name, body)
            if not any(error.path == path and problem in error.problem for error in found):
                others = "; ".join(map(str, found)) or "nothing"
                yield f"{name}: {path} {problem}: not found, only: {others}"


def errors(name, body):
    kinds = errors.kinds
    if name not in kinds:
        kinds[name] = VENDORS[name].load()
    return Walker(VENDORS[name].extra_kinds(), VENDORS[name].stand_ins).errors(kinds[name], body)


errors.kinds = {}


def run():
    lines = list(missed())
    print("\n".join(lines) or f"{sum(len(names) for names, *_ in CASES)} invalid bodies, all found")
    return 1 if lines else 0
