//! The program `agcore-mock`.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

use super::client::chat;

fn mock(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agcore-mock"));
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// Starts the program and returns it with its base URL.
async fn start(arguments: &[&str]) -> (Child, String) {
    let arguments = [arguments, &["--until-stdin-closes"]].concat();
    let mut child = mock(&arguments).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .await
        .unwrap();
    (child, line.trim().to_owned())
}

/// Sends a request of Chat Completions to a base URL and returns the response, head and body.
async fn ask(url: &str, body: &Value) -> String {
    let address = url
        .strip_prefix("http://")
        .and_then(|rest| rest.strip_suffix("/v1"))
        .unwrap();
    let mut socket = tokio::net::TcpStream::connect(address).await.unwrap();
    let body = body.to_string();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: mock\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    socket.write_all((head + &body).as_bytes()).await.unwrap();
    let mut reply = String::new();
    socket.read_to_string(&mut reply).await.unwrap();
    reply
}

/// Closes standard input and returns the exit code and the content of standard error.
async fn stop(mut child: Child) -> (i32, String) {
    drop(child.stdin.take());
    let mut log = String::new();
    child.stderr.take().unwrap().read_to_string(&mut log).await.unwrap();
    (child.wait().await.unwrap().code().unwrap(), log)
}

#[tokio::test]
async fn serves_until_standard_input_closes() {
    let (child, url) = start(&["--log"]).await;
    assert!(ask(&url, &chat(false)).await.contains("You wrote:"));
    let (code, log) = stop(child).await;
    assert_eq!(
        (code, log.as_str()),
        (0, "#0 /v1/chat/completions model=m messages=1 tools=0 stream=false\n")
    );
}

#[tokio::test]
async fn serves_the_selected_model_and_checks_key_and_model_name() {
    // The British spelling is accepted as well.
    let (child, url) = start(&["--behaviour", "demo", "--pace", "0", "--model", "m", "--key", "k"]).await;
    assert!(ask(&url, &chat(false)).await.starts_with("HTTP/1.1 401"));
    assert_eq!(stop(child).await.0, 0);
    let (child, url) = start(&["--behavior", "demo", "--model", "n"]).await;
    assert!(ask(&url, &chat(false)).await.starts_with("HTTP/1.1 404"));
    let mut body = chat(false);
    body["model"] = json!("n");
    assert!(ask(&url, &body).await.contains("I am a script."));
    assert_eq!(stop(child).await.0, 0);
}

#[tokio::test]
async fn plays_a_script_and_reports_unused_replies() {
    let script = r#"{"steps": [{"text": "one"}, {"text": "two"}]}"#;
    let (child, url) = start(&["--script", script]).await;
    assert!(ask(&url, &chat(false)).await.contains("one"));
    assert_eq!(
        stop(child).await,
        (
            3,
            "agcore-mock: 1 replies of the script were not requested\n".to_owned()
        )
    );

    let (child, url) = start(&["--script", script]).await;
    ask(&url, &chat(false)).await;
    ask(&url, &chat(true)).await;
    assert_eq!(stop(child).await, (0, String::new()));
}

#[tokio::test]
async fn reports_invalid_arguments_and_a_port_in_use() {
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for (arguments, code, expected) in [
        (vec!["--nonsense"], 2, "--nonsense"),
        (vec!["--port", "99999"], 2, "99999"),
        (vec!["--behavior", "mad"], 2, "expected echo, demo, slow or tools"),
        (
            vec!["--script", "/no/such/file"],
            2,
            "cannot read the script '/no/such/file'",
        ),
        (vec!["--script", "{\"steps\": 3}"], 2, "line 1 column 11"),
        (vec!["--port", &port], 1, "cannot serve: "),
    ] {
        let output = mock(&arguments).output().await.unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
        assert!(message.contains(expected), "{message}");
        assert!(output.stdout.is_empty());
    }
}

#[tokio::test]
async fn prints_help_and_version() {
    let help = mock(&["--help"]).output().await.unwrap();
    assert!(help.status.success());
    let help = String::from_utf8(help.stdout).unwrap();
    assert!(help.contains("Examples:") && help.contains("Exit codes:"));
    let version = mock(&["--version"]).output().await.unwrap();
    assert_eq!(
        String::from_utf8(version.stdout).unwrap(),
        concat!("agcore-mock ", env!("CARGO_PKG_VERSION"), "\n")
    );
}
