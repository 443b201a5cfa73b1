//! `agcore run`: makes a plan for a task and carries it out.

use std::sync::Arc;

use agcore::{
    StreamEvent,
    agent::{TaskAgent, TaskReport},
    chat::{AssistantMessage, EventKind, Message, TextEvent, TurnEvent},
};
use tokio_util::sync::CancellationToken;

use super::chat::{ChatTools, Front, OneShot};
use crate::{
    args::{OutputFormat, RunArgs, SessionArgs},
    attachments::with_files,
    exit::Failure,
    input,
    interrupt::Interrupts,
    output::Output,
    render::{Color, Render},
    sessions::Sessions,
    settings::Settings,
    trust_dialog, turn,
};

/// Carries out a task. The answer goes to standard output, everything else to standard error.
///
/// # Errors
/// When the settings are invalid, no plan can be made, a step of the last plan fails, or a call was denied because no one could
/// be asked.
pub(crate) async fn run(
    args: &RunArgs,
    interrupts: &Interrupts,
    color: Color,
    output: Option<&Output>,
) -> Result<(), Failure> {
    let selection = &args.chat.session;
    if selection.continues_session() || selection.suspend {
        return Err(Failure::usage(
            "a task begins in a session of its own\nUse `agcore -p` with --continue, --resume or --suspend.",
        ));
    }
    let may_ask = args.chat.output_format() == OutputFormat::Text;
    let settings = trust_dialog::settings(&args.chat.settings, may_ask, interrupts, color).await?;
    trust_dialog::print_notices(&settings.context_files.warnings())?;
    let text = input::message(args.chat.message.as_deref()).await?;
    let goal = Message::user(with_files(text, &args.chat.files)?);
    let tools = ChatTools::open(&settings.tools, !args.chat.no_tools).await?;
    let front = Front {
        interrupts,
        color,
        output,
    };
    let result = in_session(args, &settings, &tools, goal, &front).await;
    tools.servers.close().await;
    result
}

/// Carries out the task in a session of its own, which is not kept.
async fn in_session(
    args: &RunArgs,
    settings: &Settings,
    tools: &ChatTools,
    goal: Message,
    front: &Front<'_>,
) -> Result<(), Failure> {
    let selection = SessionArgs {
        ephemeral: true,
        ..SessionArgs::default()
    };
    let sessions = Sessions::of_chat(&selection).await?;
    let mut one_shot = OneShot::new(&args.chat, settings, tools, sessions, None, front).await?;
    one_shot.announce(&args.chat, tools, front.output)?;
    let agent = one_shot.session.agent();
    let task = TaskAgent::new(one_shot.session.bundle().clone())
        .with_agent(Arc::clone(&agent))
        .with_max_parallel(usize::from(args.parallel))
        .with_max_replans(args.replans);
    let mut view = TaskView {
        agent: agent.name().into(),
        render: &mut *one_shot.render,
        is_answered: false,
    };
    let result = carry_out(&task, goal, front.interrupts, &mut view).await;
    one_shot.finish(result, front.output).await
}

/// Carries out the task and shows its events. The first Ctrl-C cancels it, the second exits the program.
async fn carry_out(
    task: &TaskAgent,
    goal: Message,
    interrupts: &Interrupts,
    view: &mut TaskView<'_>,
) -> Result<(), Failure> {
    let token = CancellationToken::new();
    let _guard = interrupts.cancel(&token);
    let text = goal.text().into_owned();
    view.show(TurnEvent::Started(vec![Arc::new(goal)]))?;
    let mut events = task.run(text).with_token(token.clone()).stream();
    turn::follow(&mut events, &token, view).await?;
    let report = events.finish().await;
    let report = match report {
        Ok(report) => report,
        Err(error) => {
            view.show(TurnEvent::Error(error.fault()))?;
            view.render.turn_ended(None, &agcore::chat::UsageTracker::default());
            return Err(error.into());
        }
    };
    view.end(&report)?;
    match report.is_success() {
        true => Ok(()),
        false => Err(Failure::task(problem(&report))),
    }
}

/// Shows a task as one turn: the turns of its planner and its steps are parts of it.
struct TaskView<'a> {
    agent: Arc<str>,
    render: &'a mut dyn Render,
    /// Whether the answer was shown.
    is_answered: bool,
}

impl TaskView<'_> {
    fn show(&mut self, kind: impl Into<EventKind>) -> Result<(), Failure> {
        let event = StreamEvent::new(0, Arc::clone(&self.agent), 0, 0, kind);
        self.render.event(&event).map_err(|error| Failure::output(&error))
    }

    /// Shows the answer, unless it was written by a turn of its own, and ends the output.
    fn end(&mut self, report: &TaskReport) -> Result<(), Failure> {
        if let (Some(answer), false) = (&report.answer, self.is_answered) {
            self.show(TextEvent::Text(answer.as_str().into()))?;
            self.show(TextEvent::MessageComplete(Arc::new(AssistantMessage::new(
                answer.as_str(),
            ))))?;
        }
        let usage = Box::new(report.usage.clone());
        self.show(TurnEvent::Complete { usage })?;
        self.render.turn_ended(None, &report.usage);
        Ok(())
    }
}

impl Render for TaskView<'_> {
    fn event(&mut self, event: &StreamEvent) -> std::io::Result<()> {
        match (&event.kind, &event.parent) {
            // Those of the whole task are shown instead.
            (EventKind::Turn(TurnEvent::Started(_) | TurnEvent::Complete { .. }), None) => return Ok(()),
            (EventKind::Text(TextEvent::MessageComplete(_)), None) => self.is_answered = true,
            _ => {}
        }
        self.render.event(event)
    }

    fn tick(&mut self) -> std::io::Result<()> {
        self.render.tick()
    }

    fn turn_cancelled(&mut self) {
        self.render.turn_cancelled();
    }
}

/// Returns why a task did not reach its goal.
fn problem(report: &TaskReport) -> String {
    let reasons: Vec<String> = report
        .failures()
        .map(|step| {
            let reason = step.reason().unwrap_or_default();
            format!("step {} ({}) failed: {reason}", step.index + 1, step.description)
        })
        .collect();
    format!("the task was not completed: {}", reasons.join("; "))
}
