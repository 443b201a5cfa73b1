"""A client with the Python SDK 2.x: `py2_client.py URL` or `py2_client.py COMMAND [ARGUMENT…]`."""

import sys

import anyio
from mcp import Client, StdioServerParameters

from checks import Checks


async def main():
    server, *rest = sys.argv[1:]
    target = server if server.startswith("http://") else StdioServerParameters(command=server, args=rest)
    async with Client(target) as client:

        async def call(name, arguments, progress):
            return await client.call_tool(name, arguments, progress_callback=progress)

        async def cancel(report, started):
            async with anyio.create_task_group() as group:
                group.start_soon(call, "wait", {}, report)
                await started.wait()
                group.cancel_scope.cancel()

        checks = Checks(client.list_tools, call, cancel)
        await checks.run()
    return checks.failed


sys.exit(anyio.run(main))
