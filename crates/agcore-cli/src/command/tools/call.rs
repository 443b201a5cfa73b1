//! `agcore tools call`: calls a tool, subject to the same permission checks as a call by a model.

use std::{
    io::{self, IsTerminal, Write},
    sync::{Arc, Mutex, PoisonError},
};

use agcore::{
    chat::{ToolOutcome, ToolWork},
    llm::SystemClock,
    tools::{
        Approver, AuditEvent, AuditOutcome, AuditRecord, AuditSink, Decider, RegisteredTool, RegistryExecutor,
        ToolContext, ToolError, ToolRegistry,
    },
};
use tokio_util::sync::CancellationToken;

use super::{arguments::call, terminal_approver::TerminalApprover};
use crate::{
    approve::AllowAll,
    args::CallArgs,
    exit::Failure,
    grants::GrantUpdate,
    interrupt::Interrupts,
    policy::Policy,
    process::print,
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
        false => TerminalApprover::new(tools.snapshot(), &token, color)?.map(|approver| Arc::new(approver) as _),
    };
    let denial = Arc::new(Denial::default());
    let executor =
        executor(tools, policy, approver, &denial, &token).map_err(|error| Failure::task(error.to_string()))?;
    let _meaning = interrupts.cancel(&token);
    let (outcome, _) = executor.settle(ToolWork::new(call)).await;
    report_grants(&policy.grants().take_updates())?;
    if token.is_cancelled() {
        return Err(Failure::cancelled());
    }
    match (denial.take(), outcome) {
        (Some(reason), _) => Err(Failure::task(reason)),
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
    denial: &Arc<Denial>,
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
        .with_audit(Arc::clone(denial) as _)
        .build()
}

/// Records why the call was denied. Unlike the message for the model, this reason names the rule.
#[derive(Debug, Default)]
struct Denial(Mutex<Option<String>>);

impl Denial {
    fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl AuditSink for Denial {
    fn record(&self, record: &AuditRecord<'_>) {
        let AuditEvent::Decided {
            outcome: AuditOutcome::Denied,
            decider,
            reason,
            ..
        } = record.event
        else {
            return;
        };
        let tool = record.tool;
        let message = match decider {
            Decider::NoApprover => format!(
                "{tool} was denied: it needs approval ({reason}), and there is no terminal to ask at\n\
                 Pass --yes, or allow the tool in agcore.toml: [permissions] allow = [\"{tool}\"]."
            ),
            Decider::Person => format!("{tool} was denied: you answered no"),
            _ => format!("{tool} was denied: {reason}"),
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(message);
    }
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

fn report_grants(updates: &[GrantUpdate]) -> Result<(), Failure> {
    let report =
        |(GrantUpdate::Saved(text) | GrantUpdate::Failed(text)): &GrantUpdate| writeln!(io::stderr(), "{text}");
    updates
        .iter()
        .try_for_each(report)
        .map_err(|error| Failure::output(&error))
}
