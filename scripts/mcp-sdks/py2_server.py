"""A server with the Python SDK 2.x, over stdio, or with the argument `http` over HTTP."""

import sys

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

import checks

server = MCPServer("py2")
checks.tools(server, Context, ToolError)
if sys.argv[1:] == ["http"]:
    checks.serve(server.streamable_http_app())
else:
    server.run()
