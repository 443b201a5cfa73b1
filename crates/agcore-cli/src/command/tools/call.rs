//! `agcore tools call`: one call, by the same gate as a model's.

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

use super::{input, person::Person};
use crate::{
    approve::AllowAll,
    args::CallArgs,
    exit::Failure,
    grants::News,
    interrupt::Interrupts,
    output::print,
    policy::Policy,
    render::{Colour, harmless},
    sample_tools::NotesFile,
};

/// The tools, and which of them may run.
pub(super) struct Offered<'a> {
    pub(super) tools: &'a ToolRegistry,
    pub(super) policy: &'a Policy,
}

/// Calls a tool and prints its result.
///
/// # Errors
/// Arguments that do not fit, a no, or what the tool failed with.
pub(super) async fn run(
    args: &CallArgs,
    offered: &Offered<'_>,
    tool: &RegisteredTool,
    interrupts: &Interrupts,
    colour: Colour,
) -> Result<(), Failure> {
    let Offered { tools, policy } = *offered;
    let call = input::call(tool, args.json.as_deref()).await?;
    let token = CancellationToken::new();
    let approver: Option<Arc<dyn Approver>> = match args.yes {
        true => Some(Arc::new(AllowAll)),
        false => Person::at_terminal(tools.snapshot(), &token, colour)?.map(|person| Arc::new(person) as _),
    };
    let denial = Arc::new(Denial::default());
    let executor =
        executor(tools, policy, approver, &denial, &token).map_err(|error| Failure::task(error.to_string()))?;
    let _meaning = interrupts.cancel(&token);
    let (outcome, _) = executor.settle(ToolWork::new(call)).await;
    tell(&policy.grants().news())?;
    if token.is_cancelled() {
        return Err(Failure::cancelled());
    }
    match (denial.take(), outcome) {
        (Some(why), _) => Err(Failure::task(why)),
        (None, ToolOutcome::Done(result)) if result.is_error => Err(Failure::task(result.content.text())),
        (None, ToolOutcome::Done(result)) => show(&result.content.text()),
        (None, ToolOutcome::Fatal(fault)) => Err(Failure::task(fault.message)),
        (None, _) => Err(Failure::task(format!("{} did not come to an end", tool.name()))),
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
        .session_id("tools")
        .cancellation(token.clone())
        .state(NotesFile::default())
        .build();
    tools
        .executor(context)
        .policy(policy.with_approver(approver))
        .audit(Arc::clone(denial) as _)
        .build()
}

/// Why the call was denied. What the model would be told does not name the rule; this does.
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
        let why = match decider {
            Decider::Nobody => format!(
                "{tool} was denied: it needs a yes ({reason}), and without a terminal there is nobody to ask\n\
                 Pass --yes, or allow it in the settings: [permissions] allow = [\"{tool}\"]."
            ),
            Decider::Person => format!("{tool} was denied: you said no"),
            _ => format!("{tool} was denied: {reason}"),
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
    }
}

/// Prints a result; on a terminal without what would steer it.
fn show(result: &str) -> Result<(), Failure> {
    let end = if result.ends_with('\n') { "" } else { "\n" };
    if io::stdout().is_terminal() {
        print(&format!("{}{end}", harmless(result)))
    } else {
        print(&format!("{result}{end}"))
    }
}

fn tell(news: &[News]) -> Result<(), Failure> {
    let tell = |(News::Kept(text) | News::Lost(text)): &News| writeln!(io::stderr(), "{text}");
    news.iter().try_for_each(tell).map_err(|error| Failure::output(&error))
}
