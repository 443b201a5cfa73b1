//! Tests of `agcore mcp`, with the program itself as the server.

use std::{fs, time::Duration};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

use crate::support::{Agcore, KEY, Server, runtime};

/// A variable that only servers get.
const MARK: &str = "sk-of-the-server";

/// Returns the entry of a server that is this program.
fn own_server() -> Value {
    json!({
        "command": env!("CARGO_BIN_EXE_agcore"),
        "args": ["mcp", "serve", "--yes"],
        "env": {"SECRET": MARK},
    })
}

fn servers(servers: Value) -> String {
    json!({ "mcpServers": servers }).to_string()
}

fn with_users_servers(agcore: Agcore, entries: Value) -> Agcore {
    let agcore = agcore.at_home().with_user_settings("");
    let file = agcore.home.path().join("config/agcore/mcp.json");
    fs::write(file, servers(entries)).unwrap();
    agcore
}

#[test]
fn lists_servers_of_all_places_with_their_state_and_tools() {
    let agcore = with_users_servers(
        Agcore::new(),
        json!({
            "own": own_server(),
            "shadowed": {"command": "of-the-users-file"},
        }),
    )
    .with_file(
        ".mcp.json",
        &servers(json!({"broken": {"command": "no-such-command"}, "shadowed": {"command": "x", "disabled": true}})),
    )
    .with_file("agcore.toml", "[mcp.servers.web]\nurl = 'http://127.0.0.1:1/mcp'\n")
    .trusting();
    let ran = agcore.run(["mcp", "list", "--json"]);
    ran.assert_failed(1, &["2 of 3 MCP servers failed"]);
    let list: Value = serde_json::from_str(&ran.stdout).unwrap();
    let list = &list["servers"];
    let states: Vec<_> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|server| (server["name"].as_str().unwrap(), server["status"].as_str().unwrap()))
        .collect();
    assert_eq!(
        states,
        [
            ("broken", "failed"),
            ("own", "connected"),
            ("shadowed", "disabled"),
            ("web", "failed")
        ]
    );
    assert!(
        list[0]["error"]
            .as_str()
            .unwrap()
            .contains("`no-such-command` was not found"),
        "{list}"
    );
    assert_eq!(
        (&list[1]["server"]["name"], &list[1]["tools"][0]["name"]),
        (&json!("agcore"), &json!("own_arithmetic"))
    );
    assert_eq!(list[2]["origin"], ".mcp.json");

    let ran = agcore.run(["mcp", "list"]);
    let text = &ran.stdout;
    assert!(text.contains(" tools (agcore "), "{text}");
    assert!(text.contains("\n  arithmetic, current_time, "), "{text}");
    assert!(!format!("{text}{list}").contains(MARK), "a key is shown");
}

#[test]
fn without_servers_the_list_explains_where_to_add_them() {
    let ran = Agcore::new().run(["mcp", "list"]);
    assert_eq!(
        ran.assert_success(),
        "No MCP servers. `agcore mcp list --help` shows where to add them.\n"
    );
}

#[test]
fn servers_of_a_folder_start_only_with_trust() {
    let entry = json!({"x": {"command": "touch", "args": ["owned"]}});
    let agcore = Agcore::new().at_home().with_file(".mcp.json", &servers(entry));
    for command in [vec!["mcp", "list"], vec!["mcp", "doctor"]] {
        let ran = agcore.run(command);
        assert!(
            ran.stderr
                .contains("warning: .mcp.json (x) is ignored, because this folder is not trusted"),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(agcore.files(), [".mcp.json"]);
    // A server that ends at once is reported.
    let ran = agcore.run(["mcp", "list", "--trust-folder"]);
    ran.assert_failed(1, &["1 of 1 MCP servers failed; `agcore mcp doctor` suggests fixes"]);
    assert!(ran.stdout.starts_with("x: failed: "), "{}", ran.stdout);
    assert_eq!(agcore.files(), [".mcp.json", "owned"]);
}

#[test]
fn calls_follow_the_rules() {
    let agcore = with_users_servers(Agcore::new(), json!({"own": own_server()}));
    let arguments = r#"{"operation": "add", "a": 1, "b": 2}"#;
    let call = ["mcp", "call", "own", "arithmetic", arguments];
    agcore
        .run(call)
        .assert_failed(6, &["own_arithmetic was denied: it needs approval"]);
    let ran = agcore.run([&call[..], &["--yes"]].concat());
    assert_eq!(ran.assert_success(), "3\n");
    let ran = agcore.run_with(["mcp", "call", "own", "arithmetic", "--yes"], arguments.as_bytes());
    assert_eq!(ran.assert_success(), "3\n");

    let agcore = agcore.with_user_settings("[permissions]\nallow = ['mcp:own']\ndeny = ['own_save_note']\n");
    assert_eq!(agcore.run(call).assert_success(), "3\n");
    agcore
        .run(["mcp", "call", "own", "save_note", r#"{"text": "x"}"#, "--yes"])
        .assert_failed(1, &["own_save_note was denied"]);
    let division = r#"{"operation": "divide", "a": 1, "b": 0}"#;
    let ran = agcore.run(["mcp", "call", "own", "arithmetic", division]);
    assert_eq!(ran.code(), Some(1), "{}", ran.stderr);
}

#[test]
fn mistakes_are_explained() {
    let agcore = with_users_servers(
        Agcore::new(),
        json!({"own": own_server(), "down": {"url": "http://127.0.0.1:1/mcp"}}),
    );
    for (arguments, code, text) in [
        (
            vec!["mcp", "call", "owm", "x"],
            2,
            "unknown MCP server `owm`; did you mean `own`?",
        ),
        (
            vec!["mcp", "call", "own", "arithmetik"],
            2,
            "the MCP server own has no tool `arithmetik`; did you mean `arithmetic`?",
        ),
        (
            vec!["mcp", "call", "own", "arithmetic", "[1]", "--yes"],
            2,
            "Run `agcore mcp list --json` to see its parameters.",
        ),
        (
            vec!["mcp", "call", "down", "x"],
            4,
            "Run `agcore mcp doctor down` to find out why.",
        ),
        (
            vec!["mcp", "list", "--mcp-config", "no.json"],
            2,
            "the MCP settings file no.json does not exist",
        ),
    ] {
        agcore.run(arguments).assert_failed(code, &[text]);
    }
    let agcore = agcore.with_file("bad.json", r#"{"mcpServers": {"x": {"comand": "y"}}}"#);
    agcore
        .run(["mcp", "list", "--mcp-config", "bad.json"])
        .assert_failed(2, &["bad.json: ", "mcpServers.x.comand: unknown field `comand`"]);
    let agcore = agcore.with_file("cut.json", "{");
    agcore
        .run(["mcp", "list", "--mcp-config", "cut.json"])
        .assert_failed(2, &["cannot be used: EOF while parsing"]);
}

#[test]
fn doctor_checks_each_server() {
    let agcore = with_users_servers(
        Agcore::new(),
        json!({
            "own": own_server(),
            "down": {"url": "http://127.0.0.1:1/mcp"},
            "off": {"command": "x", "disabled": true},
        }),
    );
    let ran = agcore.run(["mcp", "doctor"]);
    ran.assert_failed(4, &["1 of 4 checks failed"]);
    for text in [
        "ok    own       agcore ",
        "ok    own       tools: ",
        "→ Check that an MCP server is running at http://127.0.0.1:1/mcp.",
        "warn  off       disabled in ",
    ] {
        assert!(ran.stdout.contains(text), "{text:?} is missing in {}", ran.stdout);
    }
    agcore.run(["mcp", "doctor", "own"]).assert_success();
    let ran = agcore.run(["mcp", "doctor", "own", "--json"]);
    let report: Value = serde_json::from_str(ran.assert_success()).unwrap();
    assert_eq!(report["ok"], true);
    let tools = report["checks"][1]["message"].as_str().unwrap();
    assert!(tools.starts_with("tools: "), "{report}");
}

#[test]
fn signing_in_is_for_servers_over_http_that_ask_for_it() {
    let agcore = with_users_servers(
        Agcore::new(),
        json!({"own": own_server(), "down": {"url": "http://127.0.0.1:1/mcp"}}),
    );
    agcore
        .run(["mcp", "login", "own"])
        .assert_failed(2, &["the MCP server own is a command, which needs no tokens"]);
    agcore.run(["mcp", "login", "down"]).assert_failed(4, &["\"down\""]);
    let ran = agcore.run(["mcp", "logout", "down"]);
    assert_eq!(ran.assert_success(), "The tokens of down are deleted.\n");
}

#[test]
fn a_chat_offers_the_tools_of_servers() {
    let server = Server::playground();
    let agcore = with_users_servers(
        Agcore::talking_to(&server),
        json!({"own": own_server(), "down": {"command": "no-such-command"}}),
    );
    let ran = agcore.run(["-p", "hello", "--output-format", "stream-json"]);
    let init: Value = serde_json::from_str(ran.assert_success().lines().next().unwrap()).unwrap();
    assert_eq!(
        init["mcp_servers"],
        json!([{"name": "down", "status": "failed"}, {"name": "own", "status": "connected"}])
    );
    assert!(
        ran.stderr.contains("warning: the MCP server down is not available: ")
            && ran.stderr.contains("run `agcore mcp doctor down`"),
        "{}",
        ran.stderr
    );
    // The playground calls a tool that the message names.
    let ran = agcore.run(["-p", "own_current_time", "--yes"]);
    assert!(
        ran.assert_success().contains("UTC") || ran.stderr.contains("own_current_time"),
        "{}",
        ran.stdout
    );
    let offered = server.requests()[0].json()["tools"].to_string();
    assert!(
        offered.contains("own_arithmetic") && offered.contains("save_note"),
        "{offered}"
    );
    let ran = agcore.run(["-p", "hello", "--no-tools"]);
    assert!(!ran.stderr.contains("MCP"), "no server is started: {}", ran.stderr);
}

#[test]
fn serves_until_standard_input_ends() {
    let ran = Agcore::new().run_with(
        ["mcp", "serve"],
        concat!(
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
            r#""capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"save_note","arguments":{"text":"x"}}}"#,
            "\n"
        )
        .as_bytes(),
    );
    let output = ran.assert_success();
    let lines: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["result"]["serverInfo"]["name"], "agcore");
    // No one can be asked.
    let called = lines.iter().find(|line| line["id"] == 2).unwrap();
    assert_eq!(called["result"]["isError"], true, "{called}");
}

#[test]
fn serves_http_with_a_token() {
    let agcore = Agcore::new();
    agcore.run(["mcp", "serve", "--listen", "0.0.0.0:0"]).assert_failed(
        2,
        &["a token is needed", "Set AGCORE_MCP_TOKEN, or listen on 127.0.0.1."],
    );
    let agcore = agcore.with("AGCORE_MCP_TOKEN", KEY);
    runtime().block_on(async {
        let mut child = agcore.spawn(["mcp", "serve", "--listen", "127.0.0.1:0"]);
        let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = tokio::time::timeout(Duration::from_secs(60), stderr.next_line()).await;
        let line = line.unwrap().unwrap().unwrap();
        let url = line.strip_prefix("Serving MCP at ").unwrap().to_owned();
        let address = url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
        assert!(post(&address, "").await.starts_with("HTTP/1.1 401"));
        let entry =
            |token: &str| json!({"http": {"url": url, "headers": {"Authorization": format!("Bearer {token}")}}});
        for (token, works) in [("${TOKEN}", true), ("wrong", false)] {
            let client = with_users_servers(Agcore::new().with("TOKEN", KEY), entry(token));
            let ran = tokio::task::spawn_blocking(move || client.run(["mcp", "doctor"]))
                .await
                .unwrap();
            assert_eq!(ran.code() == Some(0), works, "{} {}", ran.stdout, ran.stderr);
            ran.assert_clean();
        }
        child.kill().await.unwrap();
    });
}

/// Sends a request without a token and returns the reply.
async fn post(address: &str, body: &str) -> String {
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).await.unwrap();
    reply
}

/// A server whose tools and answers have the mistakes of servers in the field.
const FIELD_SERVER: &str = r##"
import json, sys
IMAGE = {"type": "image", "data": "AAEC", "mimeType": "image/png"}
TOOLS = [{"name": "picture", "inputSchema": {"type": "object", "properties": []}},
         {"name": "dangling", "inputSchema": {"type": "object"}, "outputSchema": {"$ref": "#/$defs/nope"}},
         {"name": "no_schema"}, {"name": "null_schema", "inputSchema": None}]
RESULTS = {
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": []}},
    "tools/list": {"tools": TOOLS, "nextCursor": ""},
    "tools/call": {"content": [IMAGE, {"type": "audio", "data": "AAA=", "mimeType": "audio/wav"}]},
    "server/discover": {},
}
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": RESULTS[message["method"]]}), flush=True)
"##;

#[test]
fn tools_that_are_left_out_and_results_without_text_are_described() {
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: python: the command python3 was not found");
        return;
    }
    let agcore = with_users_servers(
        Agcore::new(),
        json!({"field": {"command": "python3", "args": ["-c", FIELD_SERVER]}}),
    );
    let ran = agcore.run(["mcp", "list"]);
    let text = ran.assert_success();
    for part in ["field: 2 tools", "not offered: ", "warning: "] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let list: Value = serde_json::from_str(agcore.run(["mcp", "list", "--json"]).assert_success()).unwrap();
    let list = &list["servers"];
    let problems = json!([
        "\"no_schema\" is malformed: missing field `inputSchema`",
        "\"null_schema\" is malformed: its `inputSchema` is null",
    ]);
    assert_eq!(list[0]["problems"], problems, "{list}");
    let warnings = list[0]["warnings"].to_string();
    for part in ["is not used:", "may be incomplete: the server gives an empty cursor"] {
        assert!(warnings.contains(part), "{part}: {warnings}");
    }
    let ran = agcore.run(["mcp", "doctor", "field", "--json"]);
    for part in ["its `inputSchema` is null", "is not used:"] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    let ran = agcore.run(["mcp", "call", "field", "picture", "{}", "--yes"]);
    assert_eq!(
        ran.assert_success(),
        "[image: image/png, 3 bytes]\n[audio: wav, 2 bytes]\n"
    );
}
