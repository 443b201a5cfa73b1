//! Answers a single message.

use std::{
    collections::VecDeque,
    io::{self, IsTerminal},
    sync::Arc,
};

use agcore::{
    AgentSession,
    tools::{AuditRecord, AuditSink},
};

use super::{asking::Asking, session::audited_session};
use crate::{
    approve::AskUser,
    args::ChatArgs,
    denials::Denials,
    exit::{Failure, FailureKind},
    input,
    interrupt::Interrupts,
    output::{Announced, Decisions, Init, Output},
    permission_mode::mode_approver,
    process::current_directory,
    question_terminal::{QuestionTerminal, report_grants},
    render::{Color, Render, Terminal},
    settings::Settings,
    turn,
    vendor::versioned_url,
};

/// Runs one turn. The answer goes to standard output, everything else to standard error.
///
/// # Errors
/// When there is no message, the turn fails, or a call was denied because no one could be asked.
pub(super) async fn run(
    args: &ChatArgs,
    settings: &Settings,
    interrupts: &Interrupts,
    color: Color,
    output: Option<&Output>,
) -> Result<(), Failure> {
    let message = input::message(args.message.as_deref()).await?;
    let mode = args.permission_mode();
    let terminal = QuestionTerminal::open(interrupts, color)?;
    let (ask_user, questions) = AskUser::new();
    let person = terminal.is_some().then(|| Arc::new(ask_user) as _);
    let approver = match (mode_approver(mode, person), output) {
        (Some(approver), Some(output)) => Some(Arc::new(Announced::new(output.clone(), approver)) as _),
        (approver, _) => approver,
    };
    let denials = Arc::new(Denials::default());
    let audit = Audit {
        denials: Arc::clone(&denials),
        output: output.map(|output| Decisions(output.clone())),
    };
    let (session, policy) = audited_session(args, settings, approver, Some(Arc::new(audit)))?;
    if let Some(output) = output {
        let written = output.init(session.id(), init(args, settings, &session));
        written.map_err(|error| Failure::output(&error))?;
    }
    let mut render = renderer(output, color);
    if let Some(terminal) = terminal {
        render = Box::new(Asking {
            render,
            terminal,
            questions,
            tools: session.bundle().tools().snapshot(),
            policy: policy.clone(),
            pending: None,
            queued: VecDeque::new(),
        });
    }
    let result = turn::run(&session, message, interrupts, &mut *render).await;
    // Ends the output, before anything is reported below it.
    drop(render);
    report_grants(&policy.grants().take_updates())?;
    match (result, denials.unasked(mode)) {
        (Ok(_), None) => Ok(()),
        (Ok(_), Some(denied)) => Err(denied),
        (Err(failure), Some(denied)) if denials.has_repeated() && failure.kind() == FailureKind::Task => {
            let message = format!("{denied}\nThe turn ended because the model repeated the call.");
            Err(Failure::new(FailureKind::Denied, message))
        }
        (Err(failure), _) => Err(failure.or_base_url(versioned_url(&settings.provider).as_deref())),
    }
}

/// Passes decisions about calls to what reports them.
#[derive(Debug)]
struct Audit {
    denials: Arc<Denials>,
    output: Option<Decisions>,
}

impl AuditSink for Audit {
    fn record(&self, record: &AuditRecord<'_>) {
        self.denials.record(record);
        if let Some(output) = &self.output {
            output.record(record);
        }
    }
}

/// Describes the session for programs.
fn init(args: &ChatArgs, settings: &Settings, session: &AgentSession) -> Init {
    let tools = session.bundle().tools().list();
    Init {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        cwd: current_directory(),
        provider: settings.provider.name().to_owned(),
        model: settings.provider.model.clone(),
        tools: tools.iter().map(|tool| tool.name().to_string()).collect(),
        mcp_servers: Vec::new(),
        permission_mode: args.permission_mode().as_str().to_owned(),
        trust: Some(settings.trust()),
        context_files: settings.context_files.loaded().to_vec(),
    }
}

fn renderer(output: Option<&Output>, color: Color) -> Box<dyn Render> {
    if let Some(output) = output {
        return Box::new(output.clone());
    }
    let terminal = Terminal::new(io::stdout(), io::stderr(), color.palette(&io::stderr()));
    match io::stdout().is_terminal() {
        true => Box::new(terminal.with_markdown(color.palette(&io::stdout()))),
        // Programs get what the model wrote.
        false => Box::new(terminal),
    }
}
