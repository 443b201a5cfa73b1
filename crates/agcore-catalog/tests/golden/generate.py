#!/usr/bin/env python3
"""Writes the golden cases of billing to billing.jsonl.

The expected values are computed here with rational arithmetic, independently of the Rust code. Each case belongs to a
dimension of the formula. Run `python3 generate.py > billing.jsonl` after adding a case.
"""
import json
from fractions import Fraction

MILLION = 10**6
LIMIT = Fraction(10) ** 14


def half_even(value, decimals=6):
    scaled = value * 10**decimals
    whole = scaled.numerator // scaled.denominator
    rest = scaled - whole
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1):
        whole += 1
    return whole


def six(value):
    whole = half_even(value)
    return f"{whole // MILLION}.{whole % MILLION:06d}"


def tier(limit, input, output, **more):
    return {"max_prompt_tokens": limit, "input": input, "output": output, **more}


def price(model, *tiers, currency="CNY"):
    return {"model": model, "currency": currency, "tiers": list(tiers)}


def usage(prompt=None, completion=None, total=None, **more):
    known = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total, **more}
    return {name: value for name, value in known.items() if value is not None}


def call(model, used, cost=None, currency=None):
    return {"model": model, "usage": used, "provider_cost": cost, "provider_currency": currency}


def sides(used):
    prompt, completion, total = (used.get(k) for k in ("prompt_tokens", "completion_tokens", "total_tokens"))
    if prompt is None and completion is not None and total is not None:
        prompt = max(total - completion, 0)
    elif completion is None and prompt is not None and total is not None:
        completion = max(total - prompt, 0)
    return prompt, completion


def call_cost(row, used):
    prompt, completion = sides(used)
    prompt, completion = prompt or 0, completion or 0
    cached = used.get("cached_tokens")
    if cached is None:
        cached = used.get("prompt_cache_hit_tokens")
    if cached is None and used.get("prompt_cache_miss_tokens") is not None:
        cached = max(prompt - used["prompt_cache_miss_tokens"], 0)
    cached = min(cached or 0, prompt)
    write = min(used.get("cache_write_tokens") or 0, prompt - cached)
    reasoning = min(used.get("reasoning_tokens") or 0, completion)
    position = next(
        i for i, t in enumerate(row["tiers"]) if t["max_prompt_tokens"] is None or prompt <= t["max_prompt_tokens"]
    )
    rates = {k: Fraction(v) for k, v in row["tiers"][position].items() if k != "max_prompt_tokens"}
    hit, wr, rr = (rates.get(k, Fraction(0)) for k in ("hit", "write", "reasoning"))
    cost = (prompt - cached - write) * rates["input"]
    cost += cached * (hit if hit > 0 else rates["input"])
    cost += write * (wr if wr > 0 else rates["input"])
    cost += (completion - reasoning) * rates["output"]
    cost += reasoning * (rr if rr > 0 else rates["output"])
    return cost / MILLION, position


def provider(one, currency):
    """Returns None if not seen, False if it cannot be used, or the amount."""
    if one["provider_cost"] is None:
        return None
    text = one["provider_cost"]
    try:
        json_number = json.loads(text, parse_float=Fraction, parse_int=Fraction, parse_constant=lambda _: False)
    except ValueError:
        return False
    if not isinstance(json_number, Fraction) or text.strip() != text or json_number < 0:
        return False
    if (one["provider_currency"] or "").upper() != currency:
        return False
    return Fraction(half_even(json_number, 24), 10**24)


def expect(case):
    currency = case["session_currency"].upper()
    rows = {(p["model"], p["currency"].upper()): p for p in case["prices"]}
    calls = case["calls"]
    records = [one["usage"] is not None and None not in sides(one["usage"]) for one in calls]
    seen = [provider(one, currency) for one in calls]
    if all(records) and calls and all(cost not in (None, False) or cost == 0 and cost is not False for cost in seen):
        return {"cost": six(sum(seen)), "cost_source": "provider", "tiers": [None] * len(calls)}
    if any((one["model"], currency) not in rows for one in calls):
        return {"cost": None, "cost_source": "unpriced", "tiers": [None] * len(calls)}
    if not all(records):
        source = "incomplete_usage_fallback"
    elif any(cost is not None for cost in seen):
        source = "catalog_fallback_incomplete_provider_cost"
    else:
        source = "catalog_fallback"
    total, tiers = (Fraction(0) if not calls else None), []
    for one in calls:
        used = one["usage"]
        if used is None or sides(used) == (None, None):
            tiers.append(None)
            continue
        cost, position = call_cost(rows[one["model"], currency], used)
        total = (total or Fraction(0)) + cost
        tiers.append(position)
    if total is not None and Fraction(half_even(total), MILLION) >= LIMIT:
        return {"cost": None, "cost_source": None, "tiers": [], "error": "does not fit"}
    return {"cost": None if total is None else six(total), "cost_source": source, "tiers": tiers}


CASES = []


def add(dimension, prices, calls, session="CNY"):
    CASES.append((dimension, {"session_currency": session, "prices": prices, "calls": calls}))


DEEPSEEK = price("deepseek-chat", tier(None, "2", "3", hit="0.2"))
QWEN = price("qwen-plus", tier(32000, "0.8", "2"), tier(None, "2.4", "20"))
FULL = price("full", tier(1000, "1", "10", hit="0.1", write="1.25", reasoning="7"),
             tier(5000, "2", "20", hit="0.2", write="2.5", reasoning="14"), tier(None, "4", "40", hit="0.4", write="5"))
TINY = price("tiny", tier(None, "0.5", "0.5"))

# The worked examples.
add("example", [DEEPSEEK], [call("deepseek-chat", usage(1200, 300, 1500, cached_tokens=1000))])
add("example", [QWEN], [call("qwen-plus", usage(40000, 1000, 41000, cached_tokens=8000, reasoning_tokens=400))])

# The border of each tier.
for prompt in (0, 1, 999, 1000, 1001, 4999, 5000, 5001, 1000000):
    add("tier", [FULL], [call("full", usage(prompt, 100))])
for prompt in (0, 31999, 32000, 32001, 40000, 10**9):
    add("tier", [QWEN], [call("qwen-plus", usage(prompt, 7))])
add("tier", [price("m", tier(0, "5", "5"), tier(None, "1", "1"))], [call("m", usage(0, 10))])
add("tier", [price("m", tier(0, "5", "5"), tier(None, "1", "1"))], [call("m", usage(1, 10))])

# Cached tokens, under each name, and more than the prompt.
for cached in (0, 1, 500, 999, 1000, 1001, 10**12):
    add("cached", [FULL], [call("full", usage(1000, 0, cached_tokens=cached))])
    add("cached", [QWEN], [call("qwen-plus", usage(1000, 1, cached_tokens=cached))])
for hit in (0, 400, 1000, 2000):
    add("cache_hit_tokens", [FULL], [call("full", usage(1000, 5, prompt_cache_hit_tokens=hit, prompt_cache_miss_tokens=1000 - min(hit, 1000)))])
for miss in (0, 300, 1000, 1500):
    add("cache_miss_tokens", [FULL], [call("full", usage(1000, 5, prompt_cache_miss_tokens=miss))])
add("cache_names", [FULL], [call("full", usage(1000, 5, cached_tokens=100, prompt_cache_hit_tokens=900, prompt_cache_miss_tokens=0))])
add("cache_names", [FULL], [call("full", usage(1000, 5, cached_tokens=0, prompt_cache_hit_tokens=900))])

# Cache writes are clamped to what is left after the cached tokens.
for cached, write in ((0, 0), (0, 400), (0, 1000), (0, 1500), (600, 400), (600, 401), (1000, 1), (1500, 500), (None, 300)):
    add("cache_write", [FULL], [call("full", usage(1000, 10, cached_tokens=cached, cache_write_tokens=write))])
    add("cache_write", [QWEN], [call("qwen-plus", usage(1000, 10, cached_tokens=cached, cache_write_tokens=write))])

# Reasoning, and more of it than was generated.
for reasoning in (0, 1, 50, 99, 100, 101, 10**10):
    add("reasoning", [FULL], [call("full", usage(10, 100, reasoning_tokens=reasoning))])
    add("reasoning", [QWEN], [call("qwen-plus", usage(10, 100, reasoning_tokens=reasoning))])

# Rates of 0 mean "not set" for a part, and free for a whole.
ZERO = price("zero", tier(None, "3", "9", hit="0", write="0.0", reasoning="0.000000000000"))
FREE = price("free", tier(None, "0", "0"))
HALF = price("half", tier(None, "0", "8", hit="1", write="2", reasoning="3"))
for one in (ZERO, FREE, HALF):
    for used in (usage(100, 50), usage(100, 50, cached_tokens=40, cache_write_tokens=20, reasoning_tokens=30)):
        add("zero_rate", [one], [call(one["model"], used)])

# One rounding, half to even.
for tokens in range(1, 13):
    add("rounding", [TINY], [call("tiny", usage(tokens, 0))])
for tokens in (1, 3, 5):
    add("rounding", [TINY], [call("tiny", usage(tokens, 0)), call("tiny", usage(tokens, 0))])
add("rounding", [TINY], [call("tiny", usage(1, 1))])
PRECISE = price("precise", tier(None, "0.000000000001", "0.499999999999"))
for tokens in (1, 10**6, 5 * 10**11, 500000000000000001):
    add("rounding", [PRECISE], [call("precise", usage(tokens, 1))])

# Several calls, each with its own model and tier.
add("calls", [FULL, QWEN], [call("full", usage(900, 10)), call("full", usage(1100, 10)), call("qwen-plus", usage(33000, 5))])
add("calls", [FULL], [call("full", usage(600, 0)), call("full", usage(600, 0))])
add("calls", [FULL], [call("full", usage(100, 5, reasoning_tokens=9)), call("full", usage(100, 5, reasoning_tokens=0))])
add("calls", [FULL], [call("full", usage(10, 5, cached_tokens=99)), call("full", usage(90, 5, cached_tokens=0))])
add("calls", [FULL], [])
add("calls", [], [])
add("calls", [TINY], [call("tiny", usage(7, 9))] * 50)

# A missing side is the total minus the other.
add("total", [FULL], [call("full", usage(100, None, 150))])
add("total", [FULL], [call("full", usage(None, 50, 150))])
add("total", [FULL], [call("full", usage(100, None, 40))])
add("total", [FULL], [call("full", usage(None, 50, 40))])
add("total", [FULL], [call("full", usage(100, 50, 9999))])
add("total", [FULL], [call("full", usage(None, 50, 1051, cached_tokens=1001))])

# Incomplete usage.
for used in (None, {}, usage(None, None, 500), usage(100), usage(None, 50), usage(100, cached_tokens=60)):
    add("incomplete_usage", [FULL], [call("full", used)])
    add("incomplete_usage", [FULL], [call("full", usage(200, 20)), call("full", used)])
    add("incomplete_usage", [FULL], [call("full", usage(200, 20), "1.5", "CNY"), call("full", used, "2.5", "CNY")])
add("incomplete_usage", [FULL], [call("full", None, "0.25", "CNY")])
add("incomplete_usage", [FULL], [call("other", None)])
add("incomplete_usage", [], [call("full", usage(100), "1", "CNY")])

# The cost that providers report.
for text in ("0", "0.0", "1", "0.0000005", "0.0000015", "1e-7", "2.5E+2", "0.1234567", "3.0000000000000000000000001",
             "0.00000049999999999999999999999999999", "-0", "12345678.9"):
    add("provider", [FULL], [call("full", usage(100, 10), text, "CNY")])
for text in ("-1", "-0.000001", "abc", "", "NaN", "Infinity", "1,5", "0x10", "+1", "01", "1.", ".5", " 1", "true", "null", "1 CNY"):
    add("provider_invalid", [FULL], [call("full", usage(100, 10), text, "CNY")])
for currency in ("cny", "USD", "", None, "XXXX", "RMB"):
    add("provider_currency", [FULL], [call("full", usage(100, 10), "0.5", currency)])
add("provider", [], [call("unlisted", usage(100, 10), "0.5", "CNY")])
add("provider", [FULL], [call("full", usage(100, 10), "0.5", "CNY"), call("unlisted", usage(1, 1), "0.25", "CNY")])
add("provider", [FULL], [call("full", usage(100, 10), "0.0000002", "CNY")] * 3)
add("provider_partial", [FULL], [call("full", usage(100, 10), "0.5", "CNY"), call("full", usage(100, 10))])
add("provider_partial", [FULL], [call("full", usage(100, 10), "0", "CNY"), call("full", usage(100, 10))])
add("provider_partial", [FULL], [call("full", usage(100, 10), "0.5", "CNY"), call("full", usage(100, 10), "0.5", "USD")])
add("provider_partial", [FULL], [call("full", usage(100, 10), "0.5", "CNY"), call("full", usage(100, 10), "x", "CNY")])
add("provider_partial", [FULL], [call("full", usage(100, 10), "0.5", "CNY"), call("unlisted", usage(1, 1))])

# Currencies.
USD = price("full", tier(None, "0.5", "1.5"), currency="usd")
for session in ("CNY", "USD", "usd", "EUR"):
    add("currency", [FULL, USD], [call("full", usage(100, 10))], session)
add("currency", [USD], [call("full", usage(100, 10))])
add("currency", [USD], [call("full", usage(100, 10), "0.5", "EUR")], "USD")

# Models without a price.
add("unpriced", [], [call("full", usage(100, 10))])
add("unpriced", [FULL], [call("full", usage(100, 10)), call("other", usage(1, 1))])
add("unpriced", [FULL], [call("FULL", usage(100, 10))])
add("unpriced", [FULL], [call("other", usage(0, 0))])

# Large numbers.
BIG = price("big", tier(None, "1000000000", "1000000000"))
for prompt, completion in ((10**10, 0), (10**11 - 1, 0), (10**11, 0), (2**63, 2**63), (2**64 - 1, 0)):
    add("large", [BIG], [call("big", usage(prompt, completion))])
add("large", [FULL], [call("full", usage(2**64 - 1, 2**64 - 1))])
add("large", [BIG], [call("big", usage(6 * 10**10, 0)), call("big", usage(6 * 10**10, 0))])

for number, (dimension, case) in enumerate(CASES):
    case = {"id": f"{dimension}-{number}", **case}
    print(json.dumps({"dimension": dimension, "question": case, "expected": expect(case)}))
