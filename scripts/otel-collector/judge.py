"""Runs a server with a collector of OTLP, and checks the spans and metrics that arrive against the published registry.

Usage: python judge.py AGCORE MOCK, the paths of both programs, or `--ready`, which reports what is missing. The server has an agent
with tools, a sub-agent, an MCP server and a flow; its model plays `model.json`.
"""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

try:
    import registry
    from collector import Collector, attributes
except ImportError as error:
    print(f"the Python packages are not installed: {error}")
    sys.exit(1)

HERE = pathlib.Path(__file__).parent
# The traces of three clients: a front end, a program that delivers to a hook, and a front end whose server dies.
TRACES = [f"{digit}bf92f3577b34da6a3ce929d0e0e473{digit}" for digit in "456"]
TRACE, PARENT = TRACES[0], "00f067aa0ba902b7"
TRACEPARENTS = [f"00-{trace}-{PARENT}-01" for trace in TRACES]
TRACEPARENT = TRACEPARENTS[0]
SECRET = "sk-0123456789abcdefghijklmn"
FLOW = """version: 1
kind: graph
nodes: {draft: {}}
edges: [{from: draft, to: end}]
agents: {author: {role: You write., goal: Write well., backstory: ''}}
tasks: {draft: {agent: author, description: 'Write about {{request}}.', expected_output: A text.}}
"""
HOOK_SECRET = "hook-secret-0123456789abcdef0123456789"
SETTINGS = """[permissions]
allow = ['mcp:local', 'mcp:remote']
[serve]
tools = true
webhook_hosts = ['RECEIVER']
[[serve.hooks]]
id = 'build'
verify = 'bearer'
secrets = ['HOOK_SECRET']
delivery = 'body'
"""
HOSTILE = [
    "00-" + "0" * 32 + "-00f067aa0ba902b7-01",
    "ff-" + TRACE + "-00f067aa0ba902b7-01",
    "00-" + TRACE.upper() + "-00f067aa0ba902b7-01",
    TRACEPARENT + "-" + "x" * 4000,
    "00-é" + TRACE[2:] + "-00f067aa0ba902b7-01",
]
TYPES = {"int": int, "double": float, "boolean": bool, "string": str, "string[]": list}
KINDS = {
    "gen_ai.request.choice.count": "int",
    "gen_ai.request.max_tokens": "int",
    "gen_ai.request.seed": "int",
    "gen_ai.request.temperature": "double",
    "gen_ai.request.top_p": "double",
    "gen_ai.request.frequency_penalty": "double",
    "gen_ai.request.presence_penalty": "double",
    "gen_ai.request.stream": "boolean",
    "gen_ai.request.stop_sequences": "string[]",
    "gen_ai.response.finish_reasons": "string[]",
    "gen_ai.response.time_to_first_chunk": "double",
    "gen_ai.evaluation.score.value": "double",
    "http.response.status_code": "int",
}
CONTENT = [
    "gen_ai.system_instructions",
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.tool.definitions",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
]


def expected_type(name):
    if name.startswith("gen_ai.usage."):
        return int
    return TYPES[KINDS.get(name, "string")]


class Programs:
    """The server and its vendor, in a folder of their own."""

    def __init__(self, agcore, mock, collector, content):
        remote = f"127.0.0.1:{free_port()}"
        self.folder = tempfile.TemporaryDirectory()
        root = pathlib.Path(self.folder.name)
        home = root / "home" / "agcore"
        for folder in ["agents", "flows"]:
            (home / folder).mkdir(parents=True)
        (root / "work").mkdir()
        helper = "---\nname: helper\ndescription: Counts words.\n---\nYou count words.\n"
        (home / "agents" / "helper.md").write_text(helper)
        (home / "flows" / "article.flow.yaml").write_text(FLOW)
        otel = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector, "OTEL_METRIC_EXPORT_INTERVAL": "200"}
        otel |= {"OTEL_BSP_SCHEDULE_DELAY": "100"}
        own = {name: str(root / "home") for name in ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "APPDATA", "LOCALAPPDATA"]}
        command = {"command": agcore, "args": ["mcp", "serve", "--yes"], "env": otel | own | {"OTEL_SERVICE_NAME": "mcp-server"}}
        servers = {"local": command, "remote": {"url": f"http://{remote}/mcp"}}
        (home / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
        (home / "agcore.toml").write_text(SETTINGS.replace("RECEIVER", collector.split("/")[2]))
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("AGCORE_", "OTEL_")) and not name.endswith("_API_KEY")}
        clean |= own | {"NO_PROXY": "127.0.0.1,localhost"}
        self.vendor = subprocess.Popen(
            [mock, "--until-stdin-closes", "--script", str(HERE / "model.json")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=clean,
        )
        model = self.url(self.vendor.stdout)
        self.env = clean | otel | {"OPENAI_BASE_URL": model, "OPENAI_API_KEY": "none", "HOOK_SECRET": HOOK_SECRET}
        self.cwd = root / "work"
        self.remote = subprocess.Popen(
            [agcore, "mcp", "serve", "--yes", "--listen", remote],
            stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.env, cwd=self.cwd,
        )
        self.url(self.remote.stderr)
        arguments = ["serve", "--listen", "127.0.0.1:0", "--model", "openai:gpt-5-mini"]
        self.command = [agcore, *arguments, *(["--trace-content"] if content else [])]
        self.start()

    def start(self):
        self.server = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.env, cwd=self.cwd,
        )
        self.base = self.url(self.server.stderr).split(";")[0]

    def restart(self):
        """Kills the server, and starts it again with the same store."""
        self.server.kill()
        self.server.communicate(timeout=60)
        self.start()

    def url(self, output):
        """Returns the rest of the first line with a URL."""
        for line in output:
            if "http://" in line:
                return line[line.index("http://"):].split()[0].rstrip(".,")
            print(line, end="")
        raise SystemExit("the program has ended before it was ready")

    def run(self, name, text, agent="assistant", headers=None, until=None):
        """Runs an agent or a flow to its end, or to the first event of a type, and returns the events."""
        members = {"threadId": name, "runId": f"run_{name}", "state": {}, "tools": [], "context": [], "forwardedProps": {}}
        members["messages"] = [{"id": f"user_{name}", "role": "user", "content": text}]
        headers = {"content-type": "application/json", "accept": "text/event-stream"} | (headers or {})
        request = urllib.request.Request(f"{self.base}/api/v1/agent/agents/{agent}/run", json.dumps(members).encode(), headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            events = []
            for line in answer:
                if line.startswith(b"data: "):
                    events.append(json.loads(line[6:]))
                    if until == events[-1]["type"]:
                        break
            return events

    def post(self, path, body, headers=None):
        headers = {"content-type": "application/json"} | (headers or {})
        request = urllib.request.Request(self.base + path, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    def get(self, path, headers=None):
        with urllib.request.urlopen(urllib.request.Request(self.base + path, headers=headers or {}), timeout=60) as answer:
            return answer.read().decode()

    def stop(self):
        """Stops all programs, which sends the rest of the data."""
        end = signal.SIGTERM if os.name == "posix" else signal.CTRL_BREAK_EVENT
        self.server.send_signal(end)
        log = self.server.communicate(timeout=60)[1]
        self.remote.send_signal(end)
        self.remote.communicate(timeout=60)
        self.vendor.communicate(timeout=60)
        self.folder.cleanup()
        return log, self.vendor.returncode


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Report:
    """Counts checks, and prints those that fail."""

    def __init__(self):
        self.passed, self.failed = 0, 0

    def check(self, holds, text):
        self.passed, self.failed = self.passed + bool(holds), self.failed + (not holds)
        if not holds:
            print(f"FAILED: {text}")


def drive(report, collector, agcore, mock, content):
    """Runs the agent and the flow, and returns what Prometheus sees."""
    programs = Programs(agcore, mock, collector.url, content)
    try:
        return converse(report, collector, programs)
    except urllib.error.HTTPError as error:
        raise SystemExit(f"{error.url} answered {error.code}: {error.read().decode()}") from None
    finally:
        for program in [programs.server, programs.remote, programs.vendor]:
            program.kill()


def converse(report, collector, programs):
    events = programs.run("main", "Work.", headers={"traceparent": TRACEPARENT, "tracestate": "vendor=front", "baggage": "secret=hush"})
    report.check(events[-1]["type"] == "RUN_FINISHED", f"the run ended with {events[-1]}")
    events = programs.run("flow", "bees", agent="article")
    report.check(events[-1]["type"] == "RUN_FINISHED", f"the flow ended with {events[-1]}")
    events = programs.run("broken", "Fail.")
    report.check(events[-1]["type"] == "RUN_ERROR", f"the broken run ended with {events[-1]}")
    for value in HOSTILE:
        programs.get("/api/v1/agent/agents", {"traceparent": value.encode().decode("latin-1"), "tracestate": "a=" * 5000, "baggage": "b" * 9000})
    events = programs.run("hostile", "Hello.", headers={"traceparent": HOSTILE[0], "baggage": "secret=hush"})
    report.check(events[-1]["type"] == "RUN_FINISHED", f"the run with a hostile header ended with {events[-1]}")
    text = programs.get("/metrics")
    programs.post("/api/v1/agent/webhooks", {"url": f"{collector.url}/webhook", "events": ["run.completed"]})
    delivered = {"authorization": f"Bearer {HOOK_SECRET}", "traceparent": TRACEPARENTS[1]}
    programs.post("/hooks/build", {"build": 7}, delivered)
    report.check(collector.delivered.wait(60), "no message of the webhook has arrived")
    events = programs.run("dying", "Think.", headers={"traceparent": TRACEPARENTS[2]}, until="TEXT_MESSAGE_CONTENT")
    report.check(events[-1]["type"] == "TEXT_MESSAGE_CONTENT", f"the dying run ended with {events[-1]}")
    collector.delivered.clear()
    # What is exported already survives the process.
    report.check(collector.has_span("POST webhook"), "no span of the message to the webhook has arrived")
    programs.restart()
    report.check(collector.delivered.wait(60), "the run does not continue after the restart")
    log, status = programs.stop()
    report.check(status == 0, f"the vendor ended with {status}: the runs did not ask for the replies of the script")
    report.check("secret=hush" not in log and "x" * 100 not in log, "the log contains a hostile header")
    report.check(not collector.problems, f"the collector refused: {collector.problems}")
    return text


def judge_spans(report, spans, known, content):
    names = set()
    for span in spans:
        for name, value in attributes(span).items():
            names.add(name)
            if name.startswith("agcore."):
                continue
            if name in ["busy_ns", "idle_ns", "target", "level"]:
                report.check(False, f"{span.name} has {name}")
            report.check(name in known, f"{span.name} has {name}, which is not in the registry")
            report.check(type(value) is expected_type(name), f"{name} is {value!r}")
            enumeration = registry.values(name)
            if enumeration and name != "gen_ai.provider.name":
                report.check(value in enumeration, f"{name} is {value!r}, not one of {sorted(enumeration)}")
        if attributes(span).get("gen_ai.operation.name") == "chat":
            report.check(span.name.startswith("chat ") and span.kind == 3, f"{span.name} is of kind {span.kind}")
    for name in CONTENT:
        report.check((name in names) == content, f"{name} is {'absent' if content else 'present'}")


def judge_content(report, spans):
    """Checks the JSON forms of the conventions."""
    for span in spans:
        for name, value in attributes(span).items():
            if name not in CONTENT:
                continue
            try:
                value = json.loads(value)
            except ValueError:
                report.check(False, f"{name} is not JSON: {value}")
                continue
            if name.endswith(".messages"):
                holds = all(isinstance(message["role"], str) and all(part["type"] for part in message["parts"]) for message in value)
                holds &= name != "gen_ai.output.messages" or all(message["finish_reason"] for message in value)
                holds &= all(message["role"] != "system" for message in value[:1])
            elif name == "gen_ai.system_instructions":
                holds = all(part == {"type": "text", "content": part["content"]} for part in value)
            elif name == "gen_ai.tool.definitions":
                holds = all(tool["type"] == "function" and tool["name"] and tool["parameters"] for tool in value)
            else:
                holds = value is not None
            report.check(holds, f"{name} has the form {value}")


def judge_trace(report, spans, headers):
    """Checks that one trace reaches from the front end to the MCP server."""
    ours = {span.span_id: span for span in spans if span.trace_id.hex() == TRACE}

    def path(span):
        names = []
        while span is not None:
            names.insert(0, span.name)
            if span.parent_span_id.hex() == PARENT:
                return ["front end", *names]
            span = ours.get(span.parent_span_id)
        return names

    paths = [path(span) for span in ours.values()]
    request = ["front end", "POST /api/v1/agent/agents/{name}/run"]
    run = request + ["run", "invoke_agent assistant"]
    for expected in [
        request,
        run + ["chat gpt-5-mini"],
        run + ["execute_tool arithmetic"],
        run + ["execute_tool local_arithmetic", "tools/call arithmetic"],
        run + ["execute_tool local_arithmetic", "tools/call arithmetic", "execute_tool arithmetic"],
        run + ["execute_tool remote_arithmetic", "tools/call arithmetic", "execute_tool arithmetic"],
        run + ["execute_tool ask_helper", "invoke_agent helper", "chat gpt-5-mini"],
    ]:
        report.check(expected in paths, f"no span has the path {' > '.join(expected)}")
    report.check(all(span.trace_state == "vendor=front" for span in ours.values()), "the state of the trace is lost")
    delivery = ["POST /hooks/{hook}", "run", "POST webhook"]
    dead = [span.name for span in spans if span.trace_id.hex() == TRACES[2]]
    report.check("run" in dead and "chat gpt-5-mini" in dead, f"the trace after the restart has {dead}")
    hooked = {span.span_id: span for span in spans if span.trace_id.hex() == TRACES[1]}
    (message,) = [span for span in hooked.values() if span.name == delivery[-1]] or [None]
    chain = []
    step = message
    while step is not None:
        chain.insert(0, step.name)
        step = hooked.get(step.parent_span_id)
    report.check(chain in [delivery, delivery[:1] + delivery[2:]], f"the message of the webhook has the path {chain}")
    sent = [f"00-{TRACES[1]}-{message.span_id.hex()}-01"] if message else []
    report.check([header for header in headers if header and TRACES[1] in header] == sent, f"the receiver got {headers}")
    others = {span.name for span in spans if span.span_id not in ours}
    flow = ["invoke_workflow article", "flow_node draft"]
    report.check(all(name in others for name in flow), f"the flow has the spans {others}")
    report.check(b"secret=hush" not in b"".join(span.SerializeToString() for span in spans), "baggage is exported")


def judge_metrics(report, metrics):
    known, seen = registry.metrics(), {}
    for metric in metrics:
        if metric.name not in known:
            report.check(False, f"the metric {metric.name} is not in the registry")
            continue
        unit, bounds = known[metric.name]
        report.check(metric.unit == unit, f"{metric.name} has the unit {metric.unit}")
        report.check(metric.WhichOneof("data") == "histogram", f"{metric.name} is not a histogram")
        for point in metric.histogram.data_points:
            report.check(list(point.explicit_bounds) == bounds, f"{metric.name} has the buckets {point.explicit_bounds}")
            labels = attributes(point)
            seen.setdefault(metric.name, []).append((labels, point.count, point.sum))
            for name in labels:
                allowed = name in registry.attributes() and not name.endswith(".id") and name not in CONTENT
                report.check(allowed, f"{metric.name} has the attribute {name}")
    report.check(set(seen) == set(known), f"the metrics are {sorted(seen)}")
    tokens = {labels["gen_ai.token.type"] for labels, _, _ in seen.get("gen_ai.client.token.usage", [])}
    report.check(tokens == {"input", "output"}, f"the types of tokens are {tokens}")
    failed = [labels.get("error.type") for labels, _, _ in seen.get("gen_ai.client.operation.duration", [])]
    report.check("invalid_request" in failed, f"the errors are {failed}")
    tools = {labels["gen_ai.tool.name"] for labels, _, _ in seen.get("gen_ai.execute_tool.duration", [])}
    report.check(tools == {"arithmetic", "local_arithmetic", "remote_arithmetic", "ask_helper"}, f"the tools are {tools}")


def judge_text(report, text):
    """Checks what Prometheus sees."""
    for name in registry.metrics():
        unit = registry.metrics()[name][0]
        name = name.replace(".", "_") + ("_seconds" if unit == "s" else "")
        report.check(f"# TYPE {name} histogram\n" in text and f"{name}_count{{" in text, f"/metrics has no {name}")
    report.check(text.endswith("# EOF\n") and text.count("# EOF") == 1, "/metrics does not end with # EOF")


def main():
    if sys.argv[1:] == ["--ready"]:
        registry.metrics()
        return
    agcore, mock = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:])
    report, known = Report(), registry.attributes()
    for content in [False, True]:
        collector = Collector()
        text = drive(report, collector, agcore, mock, content)
        judge_spans(report, collector.spans, known, content)
        judge_trace(report, collector.spans, collector.headers)
        judge_metrics(report, collector.metrics)
        judge_text(report, text)
        if content:
            judge_content(report, collector.spans)
            report.check(SECRET.encode() not in collector.bytes, "a key is exported")
        print(f"content {content}: {len(collector.spans)} spans, {len(collector.metrics)} exports of metrics")
    print(f"{report.passed} checks passed, {report.failed} failed")
    sys.exit(report.failed > 0)


main()
