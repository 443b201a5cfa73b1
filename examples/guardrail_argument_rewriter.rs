//! A guardrail as a hook: a tool stays inside its folder, whatever path the model asks for.
//!
//! [`Hook::pre_tool`] may replace the arguments of a call, or block it. Replaced arguments are validated against the tool's
//! schema like any others. Hooks run in the order in which they were added: the second one sees the arguments that the first
//! one has replaced.
//!
//! Run it: `cargo run -p agcore-examples --example guardrail_argument_rewriter`.

#![expect(clippy::print_stdout, reason = "an example prints what it does")]

use std::error::Error;

use agcore::{
    AgentBuilder, AgentSpec, ToolRegistry,
    chat::{Role, ToolCall, ToolResult},
    llm::{Hook, HookContext, ResultVerdict, ToolVerdict},
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
    /// If it fails, the tool does not run.
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
                println!("  folder  {asked} becomes {path}");
                arguments.insert("path".to_owned(), path.into());
                ToolVerdict::Replace(arguments)
            }
            None => {
                println!("  folder  {asked} is blocked");
                ToolVerdict::Block(format!("{asked} is outside the folder that you may read"))
            }
        }
    }

    /// The call is the one that ran, with the replaced arguments.
    async fn post_tool(&self, _: &HookContext<'_>, call: &ToolCall, _: &ToolResult) -> ResultVerdict {
        println!("  ran     {} {}", call.name, call.raw_input());
        ResultVerdict::Continue
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

/// Runs a turn in which the model makes these calls. Returns the result of each.
async fn call_results(hooks: [Option<MaxLines>; 2], calls: &[(&str, i64)]) -> Result<Vec<String>, Box<dyn Error>> {
    let tools = ToolRegistry::new();
    tools.register(read_tool())?;
    let calls = calls.iter().enumerate().map(|(at, (path, lines))| {
        let arguments = serde_json::json!({ "path": path, "lines": lines });
        ToolCall::function(format!("call_{at}"), "read", arguments.to_string())
    });
    let model = ScriptedProvider::new([ScriptStep::calls(calls), ScriptStep::text("Read.")]);

    let mut builder = AgentBuilder::new().with_provider(model).with_tools(tools);
    builder = builder.with_hook(InFolder("/srv/files"));
    for hook in hooks.into_iter().flatten() {
        builder = builder.with_hook(hook);
    }
    let session = builder
        .build()?
        .session("s-1", AgentSpec::new("reader", "You read files."));
    session.turn("Read them all.").await?;
    let messages = session.messages().await;
    let results = messages.iter().filter(|message| message.role() == Role::Tool);
    Ok(results.map(|message| message.text().into_owned()).collect())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    println!("a valid path, a path to normalize, a path outside, too many lines:");
    let calls = [
        ("/srv/files/a.txt", 5),
        ("notes/../b.txt", 5),
        ("../../etc/passwd", 5),
        ("/etc/passwd", 5_000),
    ];
    let results = call_results([Some(MaxLines(100)), None], &calls).await?;
    for result in &results {
        println!("  result  {result}");
    }
    assert_eq!(results[0], "5 lines of /srv/files/a.txt");
    assert_eq!(results[1], "5 lines of /srv/files/b.txt");
    assert_eq!(results[2], "../../etc/passwd is outside the folder that you may read");
    assert_eq!(results[3], "100 lines of /srv/files/etc/passwd");

    println!("a hook with a bug:");
    let results = call_results([Some(MaxLines(100)), Some(MaxLines(-1))], &[("a.txt", 5)]).await?;
    println!("  result  {}", results[0]);
    assert!(results[0].contains("$.lines"), "the tool did not run: {}", results[0]);
    Ok(())
}
