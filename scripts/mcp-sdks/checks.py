"""The checks of a client, which are the same for both lines of the Python SDK, and an HTTP server on a free port."""

import socket
import sys
import time

import anyio

LIMIT = 10
PAUSE = 0.02


def expect(value, expected):
    if expected not in str(value):
        raise AssertionError(f"{expected!r} is not in {value!r}")


class Checks:
    """Runs the checks. `call(name, arguments, progress)` calls a tool, and `cancel(started)` calls and cancels `wait`."""

    def __init__(self, list_tools, call, cancel):
        self.list_tools, self.call, self.cancel = list_tools, call, cancel
        self.failed = False

    async def run(self):
        for name in ["list", "call", "error", "progress", "cancel"]:
            try:
                await getattr(self, f"check_{name}")()
                print(f"ok {name}")
            except Exception as error:
                self.failed = True
                print(f"FAILED {name}: {error!r}")
        sys.stdout.flush()

    async def text(self, name, arguments):
        return (await self.call(name, arguments, None)).content[0].text

    async def check_list(self):
        names = sorted(tool.name for tool in (await self.list_tools()).tools)
        expect(names, str(["add", "cancelled", "fail", "steps", "wait"]))

    async def check_call(self):
        expect(await self.text("add", {"a": 2, "b": 3}), "5")

    async def check_error(self):
        result = await self.call("fail", {}, None)
        expect(getattr(result, "is_error", None) or getattr(result, "isError", None), "True")
        expect(result.content[0].text, "the disk is full")

    async def check_progress(self):
        steps = []

        async def report(progress, total, message):
            steps.append(progress)

        await self.call("steps", {}, report)
        # The SDK runs the callbacks as tasks of their own.
        end = time.monotonic() + LIMIT
        while len(steps) < 3 and time.monotonic() < end:
            await anyio.sleep(PAUSE)
        expect(sorted(steps), str([1.0, 2.0, 3.0]))

    async def check_cancel(self):
        started = anyio.Event()

        async def report(progress, total, message):
            started.set()

        await self.cancel(report, started)
        end = time.monotonic() + LIMIT
        while (await self.text("cancelled", {})).strip() == "0":
            if time.monotonic() > end:
                raise AssertionError("the server did not notice it")
            await anyio.sleep(PAUSE)


def serve(app):
    """Serves an application over HTTP, and prints the URL."""
    import uvicorn

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])


def tools(server, context_type, error_type):
    """Adds the tools to a server. Only the messages of the SDK's own type of error reach the client."""
    cancelled = 0

    @server.tool()
    def add(a: int, b: int) -> str:
        return str(a + b)

    @server.tool()
    def fail() -> str:
        raise error_type("the disk is full")

    async def steps(context) -> str:
        for step in [1, 2, 3]:
            await context.report_progress(step, 3)
        return "done"

    async def wait(context) -> str:
        nonlocal cancelled
        await context.report_progress(1)
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            cancelled += 1
            raise

    # The SDKs find the parameter by the type of their own context.
    for tool in [steps, wait]:
        tool.__annotations__["context"] = context_type
        server.tool()(tool)

    @server.tool(name="cancelled")
    def count() -> str:
        return str(cancelled)
