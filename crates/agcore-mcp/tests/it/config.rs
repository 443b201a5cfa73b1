//! Configurations in the form of other MCP clients.

use agcore_mcp::{McpConfig, McpErrorKind};

fn resolve(name: &str) -> Option<String> {
    match name {
        "TOKEN" => Some("hunter2hunter2".to_owned()),
        "PATH" => Some("/usr/bin:/bin".to_owned()),
        _ => None,
    }
}

#[track_caller]
fn check(server: &str, expected: Result<&str, &str>) {
    let text = format!(r#"{{"mcpServers": {{"s": {server}}}}}"#);
    let made = McpConfig::from_json(&text).and_then(|config| config.servers["s"].transport("s", &resolve));
    match (made, expected) {
        (Ok(transport), Ok(part)) => {
            let debug = format!("{transport:?}");
            assert!(debug.contains(part) && !debug.contains("hunter2"), "{debug}");
        }
        (Err(error), Err(part)) => {
            assert_eq!(error.kind(), McpErrorKind::Config);
            assert!(error.message().contains(part), "{error}");
            assert!(!error.message().contains("hunter2"), "{error}");
        }
        (made, _) => panic!("{server}: {made:?}"),
    }
}

#[test]
fn servers_are_commands_or_urls() {
    check(r#"{"command": "npx", "args": ["-y", "x"]}"#, Ok("npx"));
    check(
        r#"{"type": "stdio", "command": "npx", "env": {"KEY": "${TOKEN}"}, "cwd": "/"}"#,
        Ok("\"KEY\", \"PATH\""),
    );
    check(
        r#"{"url": "https://example.org/${NONE:-mcp}"}"#,
        Ok("https://example.org"),
    );
    let header = r#"{"type": "http", "url": "https://example.org", "headers": {"Authorization": "Bearer ${TOKEN}"}}"#;
    check(header, Ok("authorization"));

    check("{}", Err(r#"the server "s" has neither a `command` nor a `url`"#));
    check(r#"{"command": "a", "url": "b"}"#, Err("has a `command` and a `url`"));
    check(
        r#"{"type": "sse", "url": "https://a"}"#,
        Err("`sse`, which is not supported"),
    );
    check(r#"{"type": "http"}"#, Err("has no `url`"));
    check(r#"{"type": "stdio"}"#, Err("has no `command`"));
    check(
        r#"{"type": "pigeon", "command": "a"}"#,
        Err("the unknown type \"pigeon\""),
    );
    check(
        r#"{"command": "${NONE}"}"#,
        Err(r#"the server "s", command: the variable NONE is not set"#),
    );
    check(
        r#"{"command": "a", "env": {"B": "${"}}"#,
        Err("env.B: a `${` has no `}`"),
    );
    check(
        r#"{"url": "ftp://example.org"}"#,
        Err("must begin with http:// or https://"),
    );
}

#[test]
fn mistakes_are_reported_with_their_place() {
    let check = |text: &str, path: &str, place: &str| {
        let error = McpConfig::from_json(text).unwrap_err();
        assert!(
            error.message().contains(path) && error.message().contains(place),
            "{error}"
        );
    };
    check(
        "{\n  \"mcpServer\": {}\n}",
        "unknown field `mcpServer`",
        "line 2 column",
    );
    let misspelled = "{\"mcpServers\": {\"a\": {\n\"command\": \"b\",\n\"arg\": []}}}";
    check(misspelled, "mcpServers.a.arg: unknown field `arg`", "line 3 column");
    check(
        r#"{"mcpServers": {"a": {"args": "b"}}}"#,
        "mcpServers.a.args: invalid type: string",
        "line 1 column",
    );
    check("{", "EOF while parsing", "line 1 column 1");
    check("{} {}", "trailing characters", "line 1 column 4");
}

#[test]
fn disabled_servers_are_not_used() {
    let text = r#"{"mcpServers": {"a": {"command": "x", "disabled": true}, "b": {"command": "y", "call_timeout_seconds": 5}}}"#;
    let config = McpConfig::from_json(text).unwrap();
    let enabled: Vec<_> = config.enabled().collect();
    assert_eq!((enabled.len(), enabled[0].0), (1, "b"));
    assert_eq!(enabled[0].1.options().call_timeout.as_secs(), 5);
}
