"""A server with the Python SDK 1.x, over stdio, or with the argument `http` over HTTP."""

import sys

from mcp.server.fastmcp import Context, FastMCP
from mcp.server.fastmcp.exceptions import ToolError

import checks

server = FastMCP("py1")
checks.tools(server, Context, ToolError)
if sys.argv[1:] == ["http"]:
    checks.serve(server.streamable_http_app())
else:
    server.run()
