"""A small MCP server with bad manners, by its first argument. Speaks the handshake of 2025-11-25 on stdio."""
import json
import os
import signal
import subprocess
import sys
import threading
import time

MODE = sys.argv[1] if len(sys.argv) > 1 else "good"
STATE = sys.argv[2] if len(sys.argv) > 2 else ""
LOCK = threading.Lock()
CANCELLED = []


def write(line):
    with LOCK:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def send(message):
    write(json.dumps({"jsonrpc": "2.0", **message}))


def reply(request, result):
    send({"id": request["id"], "result": result})


def fail(request, code, message):
    send({"id": request["id"], "error": {"code": code, "message": message}})


def text(value, **more):
    return {"content": [{"type": "text", "text": value}], **more}


def tool(name, properties=None, **more):
    schema = {"type": "object", "properties": properties or {}}
    return {"name": name, "description": f"The tool {name}.", "inputSchema": schema, **more}


ADD = tool("add", {"a": {"type": "integer"}, "b": {"type": "integer"}})
ADD["inputSchema"]["required"] = ["a", "b"]
TOOLS = [
    ADD,
    tool("fail"),
    tool("crash"),
    tool("slow"),
    tool("steps"),
    tool("env", {"name": {"type": "string"}}),
    tool("cancelled"),
    tool("grow"),
    tool("change"),
    tool("huge"),
    tool("twice"),
    tool("unknown_id"),
    tool("rich", annotations={"readOnlyHint": True, "destructiveHint": False, "title": "Rich"}),
    tool("wrong_output", outputSchema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}),
    tool("ask"),
]


NUMBERS = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
DANGLING = {"type": "object", "properties": {"x": {"$ref": "#/$defs/Nope"}}}


def field_tools():
    """Tools as they are found in the field."""
    listed = [tool(name) for name in FIELD if not name.startswith("structured")]
    listed += [tool(name, outputSchema=NUMBERS) for name in FIELD if name.startswith("structured")]
    listed.append(tool("dangling_output", outputSchema=DANGLING))
    listed.append({"name": "php", "inputSchema": {"type": "object", "properties": [], "required": None}, "annotations": []})
    listed.append({"name": "no_schema"})
    listed.append({"name": "null_schema", "inputSchema": None})
    listed.append({"name": "text_schema", "inputSchema": "{}"})
    listed.append({"name": "dangling", "inputSchema": DANGLING})
    return listed


def raw(request, text):
    write(text.replace("ID", json.dumps(request["id"])))


CONTENT = [{"type": "text", "text": "TEXT"}]
FIELD = {
    "surrogate": lambda r: raw(r, r'{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"a\ud83d"}]}}'),
    "nan": lambda r: raw(r, '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"v"}],"structuredContent":{"v":NaN}}}'),
    "text_code": lambda r: raw(r, '{"jsonrpc":"2.0","id":ID,"error":{"code":"E_BAD","message":null}}'),
    "no_id": lambda r: raw(r, '{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"Internal"}}'),
    "cut": lambda r: raw(r, '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"bro'),
    "batch": lambda r: raw(r, '[{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"v"}]}}]'),
    "two_in_line": lambda r: raw(r, json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}})
                                 + '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"v"}]}}'),
    "colored": lambda r: raw(r, '\x1b[32m{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"v"}]}}\x1b[0m'),
    "pretty": lambda r: raw(r, json.dumps({"jsonrpc": "2.0", "id": "ID", "result": text("v")}, indent=2).replace('"ID"', "ID")),
    "no_result": lambda r: raw(r, '{"jsonrpc":"2.0","id":ID}'),
    "python": lambda r: raw(r, "{'jsonrpc': '2.0', 'id': ID, 'result': {'content': []}}"),
    "console": lambda r: raw(r, "{\n  jsonrpc: '2.0',\n  id: ID,\n  result: { content: [] }\n}"),
    "log_line": lambda r: (raw(r, '{"level":"info","id":ID,"message":"result"}'), reply(r, {"content": CONTENT})),
    "hologram": lambda r: reply(r, {"content": [{"type": "hologram", "x": 1}] + CONTENT}),
    "annotated": lambda r: reply(r, {"content": [CONTENT[0] | {"annotations": {"priority": 2.5, "audience": ["robot"]}}]}),
    "string_content": lambda r: reply(r, {"content": "plain"}),
    "structured_wrong": lambda r: reply(r, {"content": CONTENT, "structuredContent": {"n": "x"}}),
    "structured_missing": lambda r: reply(r, {"content": CONTENT}),
    "structured_only": lambda r: reply(r, {"content": [], "structuredContent": {"n": 1}}),
    "structured_only_wrong": lambda r: reply(r, {"content": [], "structuredContent": {"n": "x"}}),
}


# Prompts and resources with missing members, and with members of wrong types.
ODD = {
    "prompts/list": {"prompts": [{"name": "p", "title": 7, "arguments": {"city": {"required": "true"}, "days": "How many."}},
                                 {"name": "q", "arguments": None}, {"description": "no name"}]},
    "prompts/get": {"description": None, "messages": [{"role": "system", "content": "Be nice."},
                                                      {"role": "assistant", "content": [{"type": "text", "text": "Yes."}]}]},
    "resources/list": {"resources": [{"uri": "a://b"}, {"uri": "c://d", "name": None, "title": "D", "size": "big"}, {"name": "x"}]},
    "resources/templates/list": {"resourceTemplates": [{"uriTemplate": "a://{b}", "mimeType": 7}]},
    "resources/read": {"contents": {"text": "T", "mimeType": 7}},
}


def pages(params):
    if MODE == "field":
        return {"tools": field_tools()}
    if MODE in ("cursor_empty", "cursor_same"):
        return {"tools": [tool("a"), tool("b")], "nextCursor": "" if MODE == "cursor_empty" else "same"}
    if MODE == "cursor_circle":
        cursor = (params or {}).get("cursor") or "0"
        return {"tools": [tool(f"t{cursor}")], "nextCursor": {"0": "1", "1": "2", "2": "1"}[cursor]}
    if MODE in ("cursor_new", "cursor_empty_pages"):
        cursor = int((params or {}).get("cursor") or 0)
        listed = [tool("a"), tool("b")] if cursor == 0 or MODE == "cursor_new" else []
        return {"tools": listed, "nextCursor": str(cursor + 1)}
    if MODE in ("second_page_fails", "second_page_silent"):
        return {"tools": [tool("a"), tool("b")], "nextCursor": "2"}
    if MODE == "php":
        return {"tools": {"0": tool("a"), "2": tool("b")}}
    if MODE == "many":
        start = int((params or {}).get("cursor") or 0)
        page = {"tools": [tool(f"t{number}") for number in range(start, start + 1000)]}
        return page | ({"nextCursor": str(start + 1000)} if start < 9000 else {})
    if MODE == "names":
        names = ["fs.read", "read file", "read\tfile", "größe", "", "x" * 200, "twice", "twice", "no schema"]
        listed = [tool(name) for name in names]
        listed.append({"name": "malformed"})
        listed.append({"name": "broken_schema", "inputSchema": {"type": "object", "properties": {"a": {"type": 7}}}})
        listed.append({"name": "typeless", "inputSchema": {}})
        return {"tools": listed}
    cursor = (params or {}).get("cursor")
    return {"tools": TOOLS[:3], "nextCursor": "2"} if cursor is None else {"tools": TOOLS[3:]}


def call(request):
    params = request["params"]
    name, arguments = params["name"], params.get("arguments") or {}
    token = (params.get("_meta") or {}).get("progressToken")
    if name in FIELD:
        return FIELD[name](request)
    if name == "add":
        return reply(request, text(str(arguments["a"] + arguments["b"])))
    if name == "fail":
        return reply(request, text("the disk is full", isError=True))
    if name == "crash":
        print("about to crash: out of memory", file=sys.stderr, flush=True)
        os._exit(7)
    if name == "slow":
        return None  # Never answers.
    if name == "steps":
        for step in range(1, 21):
            send({"method": "notifications/progress",
                  "params": {"progressToken": token, "progress": step, "total": 20, "message": f"step {step}"}})
        send({"method": "notifications/progress", "params": {"progressToken": "other", "progress": 1}})
        return reply(request, text("done"))
    if name == "env":
        return reply(request, text(os.environ.get(arguments["name"], "(unset)")))
    if name == "cancelled":
        return reply(request, text(json.dumps(CANCELLED)))
    if name == "grow":
        TOOLS.append(tool("new"))
        TOOLS.remove(next(entry for entry in TOOLS if entry["name"] == "fail"))
        send({"method": "notifications/tools/list_changed"})
        return reply(request, text("grown"))
    if name == "change":
        # Another schema, without a notice.
        ADD["inputSchema"] = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
        return reply(request, text("changed"))
    if name == "huge":
        return reply(request, text("x" * 50_000_000))
    if name == "twice":
        reply(request, text("first"))
        return reply(request, text("second"))
    if name == "unknown_id":
        send({"id": 987654, "result": text("not yours")})
        send({"id": "abc", "error": {"code": 1, "message": "not yours"}})
        write("this is not JSON")
        write('{"jsonrpc": "2.0"}')
        send({"id": request["id"], "method": "ping"})  # A request of the server with the id of the call.
        return reply(request, text("yours"))
    if name == "rich":
        content = [{"type": "text", "text": "a"}, {"type": "image", "data": "AA==", "mimeType": "image/png"}]
        return reply(request, {"content": content, "structuredContent": {"n": 1}})
    if name == "wrong_output":
        return reply(request, text("n is x", structuredContent={"n": "x"}))
    if name == "ask":
        send({"id": 1, "method": "elicitation/create",
              "params": {"message": "Your name?", "requestedSchema": {"type": "object", "properties": {}}}})
        return reply(request, text("asked"))
    return fail(request, -32602, f"unknown tool {name}")


def handle(message):
    method = message.get("method")
    if method == "server/discover":
        if MODE == "strict":
            print("expected initialize", file=sys.stderr, flush=True)
            os._exit(3)
        if MODE == "php":
            return reply(message, [])
        if MODE == "field":
            return reply(message, {})
        return fail(message, -32601, "Method not found")
    if method == "initialize":
        if MODE == "silent":
            return None
        if MODE == "php":
            return reply(message, {"protocolVersion": "2025-11-25", "capabilities": {"tools": [], "prompts": []}})
        if MODE == "odd":
            return reply(message, {"protocolVersion": "2025-11-25", "capabilities": {"prompts": {}, "resources": {}}})
        version = "1999-01-01" if MODE == "old" else message["params"]["protocolVersion"]
        capabilities = {} if MODE == "empty" else {"tools": {"listChanged": True}}
        return reply(message, {"protocolVersion": version, "capabilities": capabilities,
                               "serverInfo": {"name": "bad\u001b[31m", "version": "1"}, "instructions": "Be nice."})
    if MODE == "odd" and method in ODD:
        return reply(message, ODD[method])
    if method == "prompts/list":
        return reply(message, {"prompts": [{"name": "p", "arguments": []}, {"name": 7}], "nextCursor": ""})
    if method == "tools/list":
        if "cursor" in (message.get("params") or {}) and MODE == "second_page_fails":
            return fail(message, -32602, "Invalid cursor")
        if "cursor" in (message.get("params") or {}) and MODE == "second_page_silent":
            return None
        return reply(message, pages(message.get("params")))
    if method == "tools/call":
        if message["params"]["name"] == "add" and "a" not in message["params"].get("arguments", {}):
            return fail(message, -32602, "x is required")
        return call(message)
    if method == "notifications/cancelled":
        CANCELLED.append(message["params"]["requestId"])
        return None
    if method == "ping":
        return reply(message, {})
    if "id" in message and "method" in message:
        return fail(message, -32601, "Method not found")
    return None


def main():
    if STATE:
        with open(STATE, "a", encoding="utf-8") as file:
            file.write(f"{os.getpid()}\n")
    if MODE == "exit":
        print("no configuration: TOKEN hunter2hunter2 is wrong", file=sys.stderr)
        sys.exit(5)
    if MODE == "garbage":
        while True:
            write("\x00\xff garbage " * 100)
    if MODE == "flood":
        for _ in range(20_000):
            sys.stderr.write("noise " * 50 + "\n")
        sys.stderr.flush()
    if MODE == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen(["sleep", "1000"])
        with open(STATE, "a", encoding="utf-8") as file:
            file.write(f"{child.pid}\n")
    for line in sys.stdin:
        handle(json.loads(line))
    while MODE == "stubborn":
        time.sleep(1)


main()
