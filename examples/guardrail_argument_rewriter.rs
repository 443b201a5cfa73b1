//! A guardrail as a hook: a tool stays inside its folder, whatever path the model asks for.
//!
//! [`Hook::pre_tool`] may replace the arguments of a call, or block it. Replaced arguments are validated against the tool's
//! schema like any others. Hooks run in the order in which they were added: the second one sees the arguments that the first
//! one has replaced.
//!
//! Run it: `cargo run --example guardrail_argument_rewriter`, or with a real model, as the [README](README.md) describes.

use std::error::Error;

use agcore::{
    chat::{Role, ToolCall},
    llm::{Hook, HookContext, ToolVerdict},
    tools::{ToolError, tool},
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use async_trait::async_trait;
use serde_json::Value;

/// Confines the `path` arguments of all tools to a folder.
struct InFolder(&'static str);

impl InFolder {
    /// Returns the path inside the folder, or `None` if it leads out of it.
    fn resolve(&self, path: &str) -> Option<String> {
        let path = path.strip_prefix(self.0).unwrap_or(path);
        let mut parts = vec![self.0];
        for part in path.split(['/', '\\']) {
            match part {
                "" | "." => {}
                ".." if parts.len() == 1 => return None,
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        Some(parts.join("/"))
    }
}

#[async_trait]
impl Hook for InFolder {
    /// If the hook fails, the tool does not run.
    fn fails_closed(&self) -> bool {
        true
    }

    async fn pre_tool(&self, _: &HookContext<'_>, call: &ToolCall) -> ToolVerdict {
        // Invalid arguments never reach a tool: the model gets an error.
        let Ok(mut arguments) = call.arguments().cloned() else {
            return ToolVerdict::Continue;
        };
        let Some(asked) = arguments.get("path").and_then(Value::as_str) else {
            return ToolVerdict::Continue;
        };
        match self.resolve(asked) {
            Some(path) if path == asked => ToolVerdict::Continue,
            Some(path) => {
                println!("folder  {asked} becomes {path}");
                arguments.insert("path".to_owned(), path.into());
                ToolVerdict::Replace(arguments)
            }
            None => {
                println!("folder  {asked} is blocked");
                ToolVerdict::Block(format!("{asked} is outside the folder that you may read"))
            }
        }
    }
}

/// Limits the number of lines that are read at once.
struct MaxLines(i64);

#[async_trait]
impl Hook for MaxLines {
    async fn pre_tool(&self, _: &HookContext<'_>, call: &ToolCall) -> ToolVerdict {
        let Ok(mut arguments) = call.arguments().cloned() else {
            return ToolVerdict::Continue;
        };
        match arguments.get("lines").and_then(Value::as_i64) {
            Some(lines) if lines > self.0 => {
                println!("lines   {lines} becomes {}", self.0);
                arguments.insert("lines".to_owned(), self.0.into());
                ToolVerdict::Replace(arguments)
            }
            _ => ToolVerdict::Continue,
        }
    }
}

/// Reads a file.
#[tool]
async fn read(
    /// The path of the file.
    path: String,
    /// The number of lines.
    lines: u32,
) -> Result<String, ToolError> {
    Ok(format!("{lines} lines of {path}"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let session = agcore::agent(agcore_examples::model(offline())?)
        .with_instructions("You read files. Use the tool.")
        .with_tool(read_tool())
        .with_hook(InFolder("/srv/files"))
        .with_hook(MaxLines(100))
        .session()?;

    let outcome = session
        .turn("Read 5 lines of /srv/files/a.txt, notes/../b.txt and ../../etc/passwd, and 5000 of /c.txt.")
        .await?;
    for message in session.messages().await {
        if message.role() == Role::Tool {
            println!("result  {}", message.text());
        }
    }
    println!("answer  {}", outcome.text());
    Ok(())
}

/// The model that is used without `AGCORE_MODEL`.
fn offline() -> ScriptedProvider {
    let calls = [
        r#"{"path": "/srv/files/a.txt", "lines": 5}"#,
        r#"{"path": "notes/../b.txt", "lines": 5}"#,
        r#"{"path": "../../etc/passwd", "lines": 5}"#,
        r#"{"path": "/c.txt", "lines": 5000}"#,
    ];
    let calls = (1..)
        .zip(calls)
        .map(|(number, arguments)| ToolCall::function(format!("call_{number}"), "read", arguments));
    ScriptedProvider::new([ScriptStep::calls(calls), ScriptStep::text("I read three of the four.")])
}
