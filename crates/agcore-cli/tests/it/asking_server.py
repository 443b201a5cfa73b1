"""An MCP server whose tools ask the client for input, a completion and roots. Speaks the handshake of 2025-11-25 on stdio."""
import json
import sys

TOOLS = ["introduce", "visit", "complete", "whereabouts", "expand"]
FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name", "minLength": 2},
        "color": {"type": "string", "enum": ["r", "g"], "enumNames": ["red", "green"], "default": "g"},
        "age": {"type": "integer", "minimum": 0},
    },
    "required": ["name"],
}


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def ask(method, params):
    """Sends a request to the client and waits for the answer."""
    send({"id": f"ask-{method}", "method": method, "params": params})
    while True:
        message = receive()
        if message.get("id") == f"ask-{method}" and "method" not in message:
            return message.get("result") or message.get("error")


def call(name):
    if name == "introduce":
        return ask("elicitation/create", {"message": "Who are you?", "requestedSchema": FORM})
    if name == "visit":
        params = {"mode": "url", "message": "Pay", "url": "https://example.org/pay", "elicitationId": "1"}
        return ask("elicitation/create", params)
    if name == "complete":
        message = {"role": "user", "content": {"type": "text", "text": "Say something to the server."}}
        return ask("sampling/createMessage", {"messages": [message], "maxTokens": 50, "systemPrompt": "Be brief."})
    if name == "whereabouts":
        return ask("roots/list", {})
    if name == "expand" and "additional" not in TOOLS:
        TOOLS.append("additional")
        send({"method": "notifications/tools/list_changed"})
    return {"ran": name}


while True:
    request = receive()
    method = request.get("method")
    if method == "initialize":
        result = {
            "protocolVersion": request["params"]["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "asking", "version": "1"},
        }
    elif method == "tools/list":
        empty = {"type": "object", "properties": {}}
        result = {"tools": [{"name": name, "description": name, "inputSchema": empty} for name in TOOLS]}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": json.dumps(call(request["params"]["name"]))}]}
    elif "id" in request and method:
        send({"id": request["id"], "error": {"code": -32601, "message": "Method not found"}})
        continue
    else:
        continue
    send({"id": request["id"], "result": result})
