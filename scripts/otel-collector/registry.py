"""The names, types, units and buckets that OpenTelemetry has published on PyPI."""

import importlib
import pkgutil
import re

from opentelemetry.semconv import attributes as stable
from opentelemetry.semconv._incubating import attributes as incubating
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.semconv._incubating.metrics import gen_ai_metrics
from opentelemetry.util.genai._instruments import _Instruments

# Durations that the registry has moved to its own repository before they were published, with the name of the same buckets in
# the package that measures them.
DURATIONS = {
    "gen_ai.invoke_agent.duration": "gen_ai.invoke_agent.duration",
    "gen_ai.execute_tool.duration": "gen_ai.execute_tool.duration",
    "gen_ai.workflow.duration": "gen_ai.invoke_workflow.duration",
}


class Recorder:
    """A meter that only remembers what is created."""

    def __init__(self):
        self.histograms = {}

    def create_histogram(self, name, unit="", description="", explicit_bucket_boundaries_advisory=None):
        self.histograms[name] = (unit, [float(bound) for bound in explicit_bucket_boundaries_advisory])


def constants(package):
    """Returns the texts that the modules of a package define in upper case."""
    found = {}
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        members = vars(importlib.import_module(module.name))
        found |= {value: name for name, value in members.items() if name.isupper() and isinstance(value, str)}
    return found


def attributes():
    """Returns the names of all attributes, stable ones and others."""
    return set(constants(incubating)) | set(constants(stable))


def metrics():
    """Returns the unit and the buckets of each metric that agents have."""
    recorder = Recorder()
    _Instruments(recorder)
    published = {value for name, value in vars(gen_ai_metrics).items() if name.isupper() and isinstance(value, str)}
    known = {name: value for name, value in recorder.histograms.items() if name in published}
    return known | {name: recorder.histograms[same] for name, same in DURATIONS.items()}


def values(name):
    """Returns the well-known values of an attribute, if it has some."""
    enumeration = "".join(part.capitalize() for part in re.split(r"[._]", name)) + "Values"
    found = getattr(gen_ai_attributes, enumeration, None)
    return {member.value for member in found} if found else None
