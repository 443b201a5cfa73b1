"""A client with the Python SDK 1.x: `py1_client.py URL` or `py1_client.py COMMAND [ARGUMENT…]`."""

import sys

import anyio
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from checks import Checks


async def main():
    server, *rest = sys.argv[1:]
    if server.startswith("http://"):
        transport = streamable_http_client(server)
    else:
        transport = stdio_client(StdioServerParameters(command=server, args=rest))
    async with transport as streams, ClientSession(streams[0], streams[1]) as session:
        await session.initialize()

        async def call(name, arguments, progress):
            return await session.call_tool(name, arguments, progress_callback=progress)

        async def cancel(report, started):
            request_id = session._request_id
            async with anyio.create_task_group() as group:
                group.start_soon(call, "wait", {}, report)
                await started.wait()
                # This line of the SDK does not send the notification when a call is dropped.
                params = types.CancelledNotificationParams(requestId=request_id, reason="a test")
                cancelled = types.CancelledNotification(params=params)
                await session.send_notification(types.ClientNotification(cancelled))
                group.cancel_scope.cancel()

        checks = Checks(session.list_tools, call, cancel)
        await checks.run()
    return checks.failed


sys.exit(anyio.run(main))
