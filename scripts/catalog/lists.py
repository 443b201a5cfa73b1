#!/usr/bin/env python3
"""Prepares public price lists for the snapshot that agcore-catalog ships.

    lists.py --ready                  checks that the packages of requirements.txt are installed in these versions
    lists.py FOLDER [LITELLM SECOND]  writes litellm.json and second.json into FOLDER, from the installed packages or from
                                      these two wheels

The list of LiteLLM is written as it is. That of genai-prices is Python code, which is not run: only calls with literal
arguments are read. Its rules say which names a price is for, so that each name of LiteLLM's list is looked up with them. The
result has the form of the list of models.dev.

The exit status is 0 on success, and 3 if packages are missing.
"""

import ast
import datetime
import decimal
import importlib.metadata
import json
import pathlib
import re
import sys
import zipfile

NOT_READY = 3
HERE = pathlib.Path(__file__).resolve().parent
LITELLM = "litellm/model_prices_and_context_window_backup.json"
SECOND = "genai_prices/data.py"

# The vendors of genai-prices, with the names of models.dev and LiteLLM.
VENDORS = {
    "anthropic": ("anthropic", ["anthropic"]),
    "aws": ("amazon-bedrock", ["bedrock_converse"]),
    "azure": ("azure", ["azure"]),
    "cerebras": ("cerebras", ["cerebras"]),
    "cohere": ("cohere", ["cohere", "cohere_chat"]),
    "deepseek": ("deepseek", ["deepseek"]),
    "fireworks": ("fireworks-ai", ["fireworks_ai"]),
    "google": ("google", ["gemini"]),
    "groq": ("groq", ["groq"]),
    "minimax": ("minimax", ["minimax"]),
    "mistral": ("mistral", ["mistral"]),
    "moonshotai": ("moonshotai", ["moonshot"]),
    "openai": ("openai", ["openai"]),
    "perplexity": ("perplexity", ["perplexity"]),
    "together": ("togetherai", ["together_ai"]),
    "voyageai": ("voyage", ["voyage"]),
    "x-ai": ("xai", ["xai"]),
    "zai": ("zai", ["zai"]),
}

# The rates of genai-prices for a million tokens, with their names in the list of models.dev.
RATES = {
    "input_mtok": "input",
    "output_mtok": "output",
    "cache_read_mtok": "cache_read",
    "cache_write_mtok": "cache_write",
    "output_reasoning_mtok": "reasoning",
    "input_audio_mtok": "input_audio",
    "output_audio_mtok": "output_audio",
}


class Call:
    """A call in the code, with its arguments as members."""

    def __init__(self, kind, members):
        self.kind = kind
        self.members = members

    def get(self, name):
        return self.members.get(name)


def value(node):
    """Returns the value of an expression of literals, lists and calls."""
    if isinstance(node, ast.Call):
        kind = ast.unparse(node.func)
        if kind == "Decimal":
            return decimal.Decimal(ast.literal_eval(node.args[0]))
        if kind in ("datetime.date", "datetime.datetime", "datetime.time"):
            numbers = [ast.literal_eval(argument) for argument in node.args]
            return datetime.date(*numbers[:3]) if kind != "datetime.time" else None
        return Call(kind, {keyword.arg: value(keyword.value) for keyword in node.keywords})
    if isinstance(node, ast.List):
        return [value(element) for element in node.elts]
    if isinstance(node, ast.Dict):
        return {value(key): value(element) for key, element in zip(node.keys, node.values)}
    if isinstance(node, ast.Attribute):
        return ast.unparse(node)
    return ast.literal_eval(node)


def providers(code):
    for node in ast.parse(code).body:
        target = getattr(node, "target", None)
        if isinstance(node, ast.AnnAssign) and getattr(target, "id", None) == "providers":
            return value(node.value)
    raise SystemExit("the package has no list of providers")


def matches(clause, name):
    """Returns whether a rule is for a name, which is in small letters."""
    if clause is None:
        return False
    members = clause.members
    if clause.kind == "ClauseOr":
        return any(matches(one, name) for one in members["or_"])
    if clause.kind == "ClauseAnd":
        return all(matches(one, name) for one in members["and_"])
    (text,) = [member for member in members.values() if isinstance(member, str)]
    return {
        "ClauseEquals": lambda: name == text.lower(),
        "ClauseStartsWith": lambda: name.startswith(text.lower()),
        "ClauseEndsWith": lambda: name.endswith(text.lower()),
        "ClauseContains": lambda: text.lower() in name,
        "ClauseRegex": lambda: re.search(text, name) is not None,
    }[clause.kind]()


def prices_of(model, day):
    """Returns the price that applies to a model on a day, at most hours."""
    prices = model.get("prices")
    if not isinstance(prices, list):
        return prices
    applying = None
    for row in prices:
        constraint = row.get("constraint")
        if constraint is None:
            applying = row.get("prices")
        elif constraint.kind == "StartDateConstraint" and constraint.get("start_date") <= day:
            applying = row.get("prices")
    return applying


def cost_of(prices):
    """Returns a price in the form of models.dev; None if it cannot be expressed."""
    cost = {}
    tiers = {}
    for name, rate in prices.members.items():
        target = RATES.get(name)
        if target is None:
            continue
        if isinstance(rate, Call):
            cost[target] = rate.get("base")
            for tier in rate.get("tiers"):
                tiers.setdefault(tier.get("start"), {})[target] = tier.get("price")
        else:
            cost[target] = rate
    for start, rates in tiers.items():
        if start % 1000 or "input" not in rates:
            return None
        cost[f"context_over_{start // 1000}k"] = rates
    return cost if "input" in cost else None


def second(code, listed, day):
    result = {}
    for provider in providers(code):
        if provider.get("id") not in VENDORS:
            continue
        target, names = VENDORS[provider.get("id")]
        models = result.setdefault(target, {"models": {}})["models"]
        for key, entry in listed.items():
            if entry.get("litellm_provider") not in names:
                continue
            name = key.removeprefix(entry["litellm_provider"] + "/")
            found = next((one for one in provider.get("models") if matches(one.get("match"), name.lower())), None)
            prices = found and prices_of(found, day)
            cost = prices and cost_of(prices)
            if cost:
                models[name] = {"id": name, "cost": cost}
    return result


def number(found):
    if isinstance(found, decimal.Decimal):
        # Exact: the shortest text that a float reads back as the same number.
        return float(found)
    raise TypeError(type(found).__name__)


def pinned():
    lines = (HERE / "requirements.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def missing():
    for package, wanted in pinned().items():
        try:
            found = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            yield f"{package} is not installed"
            continue
        if found != wanted:
            yield f"{package} {found} is installed instead of {wanted}"


def read(package, path, wheel):
    if wheel:
        return zipfile.ZipFile(wheel).read(path).decode()
    return pathlib.Path(importlib.metadata.distribution(package).locate_file(path)).read_text()


def main(arguments):
    if arguments == ["--ready"]:
        problems = list(missing())
        print("\n".join(problems))
        return NOT_READY if problems else 0
    folder = pathlib.Path(arguments[0])
    wheels = (arguments[1:] + [None, None])[:2]
    litellm = read("litellm", LITELLM, wheels[0])
    sources = json.loads((HERE / "sources.json").read_text())
    day = datetime.date.fromisoformat(sources[1]["date"])
    listed = second(read("genai-prices", SECOND, wheels[1]), json.loads(litellm), day)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "litellm.json").write_text(litellm)
    (folder / "second.json").write_text(json.dumps(listed, default=number, sort_keys=True, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
