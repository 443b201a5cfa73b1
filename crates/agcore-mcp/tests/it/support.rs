//! A server for the tests, written in Python.

use std::{path::PathBuf, process::Command, sync::OnceLock};

use agcore_mcp::{ClientOptions, McpClient, McpError, StdioTransport};

/// Returns how to start the server, or `None`, with a message, if Python is missing.
pub(crate) fn server(mode: &str) -> Option<StdioTransport> {
    static PYTHON: OnceLock<bool> = OnceLock::new();
    let is_there = *PYTHON.get_or_init(|| {
        let version = Command::new("python3").arg("--version").output();
        version.is_ok_and(|output| output.status.success())
    });
    if !is_there {
        println!("skipped: python: the command python3 was not found");
        return None;
    }
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/server.py");
    Some(StdioTransport::new("python3").with_args([script]).with_args([mode]))
}

/// Connects to the server with short waits where a test expects one to expire.
pub(crate) async fn connect(server: StdioTransport) -> McpClient {
    try_connect(server, ClientOptions::new()).await.unwrap()
}

pub(crate) async fn try_connect(server: StdioTransport, options: ClientOptions) -> Result<McpClient, McpError> {
    McpClient::connect_with("test", server, options).await
}

/// Returns whether a process exists that is not a zombie.
#[cfg(target_os = "linux")]
pub(crate) fn is_running(id: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next());
    !matches!(state, None | Some("Z" | "X"))
}

/// Reads the process ids that servers wrote to a file.
#[cfg(target_os = "linux")]
pub(crate) fn ids(path: &std::path::Path) -> Vec<u32> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| line.parse().unwrap()).collect()
}
