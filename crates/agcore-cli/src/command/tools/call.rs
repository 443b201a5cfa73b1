//! `agcore tools call`: calls a tool, subject to the same permission checks as a call by a model.

use std::{
    io::{self, IsTerminal},
    sync::Arc,
};

use agcore::{
    chat::{ToolOutcome, ToolWork},
    llm::SystemClock,
    tools::{Approver, RegisteredTool, RegistryExecutor, ToolContext, ToolError, ToolRegistry},
};
use tokio_util::sync::CancellationToken;

use super::{arguments::call, terminal_approver::TerminalApprover};
use crate::{
    approve::AllowAll,
    args::CallArgs,
    denials::Denials,
    exit::Failure,
    interrupt::Interrupts,
    policy::Policy,
    process::print,
    question_terminal::report_grants,
    render::{Color, sanitized},
    sample_tools::NotesFile,
};

/// The tools and their policy.
pub(super) struct ToolSet<'a> {
    pub(super) tools: &'a ToolRegistry,
    pub(super) policy: &'a Policy,
}

/// Calls a tool and prints its result.
///
/// # Errors
/// When the arguments are invalid, the call is denied, or the tool fails.
pub(super) async fn run(
    args: &CallArgs,
    tool_set: &ToolSet<'_>,
    tool: &RegisteredTool,
    interrupts: &Interrupts,
    color: Color,
) -> Result<(), Failure> {
    let ToolSet { tools, policy } = *tool_set;
    let call = call(tool, args.json.as_deref()).await?;
    let token = CancellationToken::new();
    let approver: Option<Arc<dyn Approver>> = match args.yes {
        true => Some(Arc::new(AllowAll)),
        false => TerminalApprover::new(tools.snapshot(), interrupts, color)?.map(|approver| Arc::new(approver) as _),
    };
    let denials = Arc::new(Denials::default());
    let executor =
        executor(tools, policy, approver, &denials, &token).map_err(|error| Failure::task(error.to_string()))?;
    let _meaning = interrupts.cancel(&token);
    let (outcome, _) = executor.settle(ToolWork::new(call)).await;
    report_grants(&policy.grants().take_updates())?;
    if token.is_cancelled() {
        return Err(Failure::cancelled());
    }
    match (denials.failure(), outcome) {
        (Some(failure), _) => Err(failure),
        (None, ToolOutcome::Done(result)) if result.is_error => Err(Failure::task(result.content.text())),
        (None, ToolOutcome::Done(result)) => print_result(&result.content.text()),
        (None, ToolOutcome::Fatal(fault)) => Err(Failure::task(fault.message)),
        (None, _) => Err(Failure::task(format!("{} did not finish", tool.name()))),
    }
}

fn executor(
    tools: &ToolRegistry,
    policy: &Policy,
    approver: Option<Arc<dyn Approver>>,
    denials: &Arc<Denials>,
    token: &CancellationToken,
) -> Result<RegistryExecutor, ToolError> {
    let context = ToolContext::builder(Arc::new(SystemClock::new()))
        .with_session_id("tools")
        .with_cancellation(token.clone())
        .with_state(NotesFile::default())
        .build();
    tools
        .executor(context)
        .with_policy(policy.with_approver(approver))
        .with_audit(Arc::clone(denials) as _)
        .build()
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
