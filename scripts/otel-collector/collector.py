"""A collector of OTLP over HTTP that keeps what it receives."""

import http.server
import threading

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    """Listens on a free port of this machine."""

    def __init__(self):
        self.spans, self.metrics, self.problems, self.bytes = [], [], [], b""
        # The context of each message of a webhook.
        self.headers, self.delivered, self.arrived = [], threading.Event(), threading.Event()
        self.lock = threading.Lock()
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.path == "/webhook":
                    collector.headers.append(self.headers["traceparent"])
                    collector.delivered.set()
                    return self.answer(200)
                try:
                    collector.take(self.path, self.headers["content-type"], body)
                    status = 200
                except Exception as error:  # The program must not see why; the report does.
                    collector.problems.append(f"{self.path}: {error}")
                    status = 400
                self.answer(status)

            def answer(self, status):
                self.send_response(status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def has_span(self, name):
        """Waits for a span with this name, for a minute at most."""
        return any(self.arrived.wait(1) and self.is_known(name) for _ in range(60))

    def is_known(self, name):
        self.arrived.clear()
        with self.lock:
            return any(span.name == name for span in self.spans)

    def take(self, path, kind, body):
        if kind != "application/x-protobuf":
            raise ValueError(f"the type {kind}")
        with self.lock:
            self.bytes += body
            self.arrived.set()
            if path == "/v1/traces":
                for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                    self.spans += [span for scope in resource.scope_spans for span in scope.spans]
            elif path == "/v1/metrics":
                for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                    self.metrics += [metric for scope in resource.scope_metrics for metric in scope.metrics]
            else:
                raise ValueError("an unknown path")


def value(any_value):
    """Returns the Python value of an attribute."""
    kind = any_value.WhichOneof("value")
    if kind == "array_value":
        return [value(item) for item in any_value.array_value.values]
    return getattr(any_value, kind) if kind else None


def attributes(owner):
    """Returns the attributes of a span or a data point."""
    return {pair.key: value(pair.value) for pair in owner.attributes}
