"""Validates AG-UI events with the models of the Python package.

Usage: python check.py LINE FILE, with a Python that has the package. LINE is `1` or `0`, and each line of FILE is a log:
{name, format, refused, events}. In the standard dialect, no member may be unknown. Logs with `refused` are skipped, because
the models do not check the order of events.
"""

import json
import sys

from ag_ui.core import Event
from pydantic import BaseModel, TypeAdapter, ValidationError


def extras(model, path):
    """Returns the paths of members that the models do not know. Metadata may contain anything."""
    found = [f"{path}.{name}" for name in (model.model_extra or {})]
    for name in type(model).model_fields:
        value = getattr(model, name)
        for index, item in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(item, BaseModel):
                found += extras(item, f"{path}.{name}[{index}]")
    return found


def main():
    line, file = sys.argv[1:]
    adapter, counts, wrong = TypeAdapter(Event), {}, 0
    for text in open(file, encoding="utf-8"):
        log = json.loads(text)
        if not log["format"].endswith(f"-{line}") or log.get("refused"):
            continue
        for event in log["events"]:
            problem = None
            try:
                unknown = extras(adapter.validate_python(event), event["type"])
                if unknown and log["format"] == "standard-1":
                    problem = f"unknown members {unknown}"
            except ValidationError as error:
                problem = str(error.errors()[0])
            if problem:
                wrong += 1
                print(f"{log['format']}, {log['name']}: {event['type']}: {problem}")
        count = counts.setdefault(log["format"], [0, 0])
        count[0] += 1
        count[1] += len(log["events"])
    for name, (logs, events) in counts.items():
        print(f"PyPI {line}.x, {name}: {logs} logs with {events} events")
    sys.exit(1 if wrong or not counts else 0)


main()
