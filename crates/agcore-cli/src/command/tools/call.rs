//! `agcore tools call`: calls a tool, subject to the same permission checks as a call by a model.

use std::{
    io::{self, IsTerminal},
    sync::Arc,
};

use agcore::{
    chat::{Content, ContentPart, ToolCall, ToolOutcome, ToolWork},
    llm::SystemClock,
    tools::{Approver, Arguments, RegisteredTool, RegistryExecutor, ToolContext, ToolError, ToolRegistry},
};
use agcore_terminal::{
    interrupt::Interrupts,
    render::{Color, sanitized},
};
use agcore_workbench::{
    permission_mode::AllowAll,
    policy::Policy,
    program_tools::{Previews, ToolFolder, WebAccess},
    sample_tools::NotesFile,
};
use tokio_util::sync::CancellationToken;

use super::terminal_approver::TerminalApprover;
use crate::{denials::Denials, exit::Failure, input::read_stdin, question_terminal::report_grants, stdout::print};

/// The tools and their policy.
pub(in crate::command) struct ToolSet<'a> {
    pub(in crate::command) tools: &'a ToolRegistry,
    pub(in crate::command) policy: &'a Policy,
    pub(in crate::command) folder: &'a ToolFolder,
    pub(in crate::command) urls: WebAccess,
}

/// A call as the user typed it.
pub(in crate::command) struct CallArgs<'a> {
    /// The arguments as a JSON object.
    pub(in crate::command) json: Option<&'a str>,
    /// Whether the tool runs without approval.
    pub(in crate::command) yes: bool,
    /// The command that shows the parameters of the tool.
    pub(in crate::command) show: String,
}

/// Calls a tool and prints its result.
///
/// # Errors
/// When the arguments are invalid, the call is denied, or the tool fails.
pub(in crate::command) async fn run(
    args: &CallArgs<'_>,
    tool_set: &ToolSet<'_>,
    tool: &RegisteredTool,
    interrupts: &Interrupts,
    color: Color,
) -> Result<(), Failure> {
    let ToolSet {
        tools, policy, folder, ..
    } = tool_set;
    let call = call(tool, args).await?;
    let token = CancellationToken::new();
    let approver: Option<Arc<dyn Approver>> = match args.yes {
        true => Some(Arc::new(AllowAll)),
        false => TerminalApprover::new(tools.snapshot(), Previews::new(folder), interrupts, color)?
            .map(|approver| Arc::new(approver) as _),
    };
    let denials = Arc::new(Denials::default());
    let executor = executor(tool_set, approver, &denials, &token).map_err(|error| Failure::task(error.to_string()))?;
    let _meaning = interrupts.cancel(&token);
    let (outcome, _) = executor.settle(ToolWork::new(call)).await;
    report_grants(&policy.grants().take_updates())?;
    if token.is_cancelled() {
        return Err(Failure::cancelled());
    }
    match (denials.failure(), outcome) {
        (Some(failure), _) => Err(failure),
        (None, ToolOutcome::Done(result)) if result.is_error => Err(Failure::task(result.content.text())),
        (None, ToolOutcome::Done(result)) => print_result(&shown(&result.content)),
        (None, ToolOutcome::Fatal(fault)) => Err(Failure::task(fault.message)),
        (None, _) => Err(Failure::task(format!("{} did not finish", tool.name()))),
    }
}

/// Creates a call of a tool and validates its arguments.
///
/// # Errors
/// When the arguments are not a JSON object or do not match the tool's schema.
async fn call(tool: &RegisteredTool, args: &CallArgs<'_>) -> Result<ToolCall, Failure> {
    let json = match args.json {
        Some(json) => json.to_owned(),
        None if io::stdin().is_terminal() => String::new(),
        None => read_stdin().await?,
    };
    let call = ToolCall::function("call_1", tool.name().as_str(), json.trim());
    Arguments::from_call(&call)
        .and_then(|arguments| tool.tool().check_arguments(&arguments))
        .map_err(|error| Failure::usage(format!("{error}\nRun `{}` to see its parameters.", args.show)))?;
    Ok(call)
}

fn executor(
    tool_set: &ToolSet<'_>,
    approver: Option<Arc<dyn Approver>>,
    denials: &Arc<Denials>,
    token: &CancellationToken,
) -> Result<RegistryExecutor, ToolError> {
    let context = ToolContext::builder(Arc::new(SystemClock::new()))
        .with_session_id("tools")
        .with_cancellation(token.clone())
        .with_state(NotesFile::default())
        .with_state(tool_set.folder.clone())
        .with_state(tool_set.urls.clone())
        .build();
    tool_set
        .tools
        .executor(context)
        .with_policy(tool_set.policy.with_approver(approver))
        .with_audit(Arc::clone(denials) as _)
        .build()
}

/// Returns the text of a result. Parts that are not text are described in a line of their own.
fn shown(content: &Content) -> String {
    let Content::Parts(parts) = content else {
        return content.text().into_owned();
    };
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        lines.push(match part {
            ContentPart::Text(part) => part.text.clone(),
            ContentPart::ImageUrl(part) => described("image", &part.image_url.url),
            ContentPart::InputAudio(part) => {
                let audio = &part.input_audio;
                format!("[audio: {}, {}]", audio.format, size(&audio.data))
            }
            ContentPart::File(part) => {
                let name = part.file.filename.as_deref().unwrap_or("file");
                described(name, part.file.file_data.as_deref().unwrap_or_default())
            }
            other => serde_json::to_string(other).unwrap_or_default(),
        });
    }
    lines.join("\n")
}

/// Describes a part by its URL, without the data in it.
fn described(name: &str, url: &str) -> String {
    match url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
        Some((media_type, data)) => format!("[{name}: {media_type}, {}]", size(data)),
        None => format!("[{name}: {url}]"),
    }
}

/// Returns the size of data in Base64.
fn size(base64: &str) -> String {
    let bytes = base64.trim_end_matches('=').len() * 3 / 4;
    let plural = if bytes == 1 { "" } else { "s" };
    format!("{bytes} byte{plural}")
}

/// Prints a result. On a terminal, control characters are replaced.
fn print_result(result: &str) -> Result<(), Failure> {
    let end = if result.ends_with('\n') { "" } else { "\n" };
    if io::stdout().is_terminal() {
        print(&format!("{}{end}", sanitized(result)))
    } else {
        print(&format!("{result}{end}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_are_not_text_are_described() {
        let parts = vec![
            ContentPart::text("a map"),
            ContentPart::image_url("data:image/png;base64,AAEC"),
            ContentPart::image_url("https://example.org/a.png"),
            ContentPart::input_audio("AAA=", "wav"),
            ContentPart::file_data("a.pdf", "data:application/pdf;base64,AA=="),
        ];
        assert_eq!(
            shown(&Content::Parts(parts)),
            "a map\n[image: image/png, 3 bytes]\n[image: https://example.org/a.png]\n[audio: wav, 2 bytes]\n\
             [a.pdf: application/pdf, 1 byte]"
        );
        assert_eq!(shown(&Content::from("text")), "text");
    }
}
