//! `agcore run`: makes a plan for a task and carries it out.

use std::{
    io::{self, Write},
    sync::Arc,
};

use agcore::{
    AgentSession, StreamEvent,
    agent::{TaskAgent, TaskReport, TaskTurn},
    chat::{AssistantMessage, EventKind, Message, PersonEvent, Question, QuestionKind, TextEvent, TurnEvent},
};
use agcore_args::{OutputFormat, RunArgs};
use agcore_settings::Settings;
use agcore_terminal::{
    interrupt::Interrupts,
    render::{Color, Render, sanitized_line},
};
use agcore_workbench::Workbench;
use tokio_util::sync::CancellationToken;

use super::{
    chat::{Front, OneShot, selected},
    flow::{FlowRun, run_file},
};

use crate::{
    approve::call_text,
    exit::Failure,
    input::{self, attachments::with_files},
    output::Output,
    server_question::ServerQuestions,
    sessions::{SessionKind, Sessions},
    trust_dialog, turn, workbench,
};

/// Carries out a task. The answer goes to standard output, everything else to standard error.
///
/// # Errors
/// When the settings are invalid, the session to continue is not found or has no task, no plan can be made, a step of the last plan
/// fails, or a call was denied because no one could be asked.
pub(crate) async fn run(
    args: &RunArgs,
    interrupts: &Interrupts,
    color: Color,
    output: Option<&Output>,
) -> Result<(), Failure> {
    trust_dialog::silence_notices(args.chat.quiet);
    if let Some(file) = &args.flow {
        let flow = FlowRun {
            file,
            chat: &args.chat,
            values: &args.values,
        };
        let front = Front {
            interrupts,
            color,
            output,
        };
        return Box::pin(run_file(&flow, &front)).await;
    }
    let selection = &args.chat.session;
    if selection.suspend || selection.fork_session {
        return Err(Failure::usage(
            "a task cannot be suspended or forked\nUse `agcore -p` with --suspend or --fork-session.",
        ));
    }
    let continues = selection.continues_session();
    if continues && (args.chat.message.is_some() || !args.chat.files.is_empty()) {
        return Err(Failure::usage(
            "a task that is continued has its goal already; leave the prompt and --file out\nTo say more in its session: agcore -p \
             PROMPT --resume ID",
        ));
    }
    if args.chat.schema.is_some() {
        return Err(Failure::usage(
            "--schema is for single messages\nUse `agcore -p` with --schema.",
        ));
    }
    let may_ask = args.chat.output_format() == OutputFormat::Text;
    let settings = trust_dialog::settings(&args.chat.settings, may_ask, interrupts, color).await?;
    let settings = args.chat.applied_to(settings)?;
    trust_dialog::print_notices(&settings.context_files.warnings())?;
    let goal = match continues {
        true => None,
        false => {
            let text = input::message(args.chat.message.as_deref()).await?;
            Some(Message::user(with_files(text, &args.chat.files)?))
        }
    };
    let (tools, asked) = workbench::open_for_user(&settings, !args.chat.no_tools).await?;
    let front = Front {
        interrupts,
        color,
        output,
    };
    let result = Box::pin(in_session(args, &settings, &tools, goal, (&front, asked))).await;
    tools.servers.close().await;
    result
}

/// Carries out the task in a session of its own, or continues that of the session which is selected.
async fn in_session(
    args: &RunArgs,
    settings: &Settings,
    tools: &Workbench,
    goal: Option<Message>,
    (front, asked): (&Front<'_>, ServerQuestions),
) -> Result<(), Failure> {
    let sessions = Sessions::of_chat(&args.chat.session).await?.of_kind(SessionKind::Task);
    let selected = selected(&args.chat.session, &sessions).await?;
    let is_kept = sessions.is_kept();
    let mut one_shot = OneShot::new(&args.chat, settings, tools, sessions, selected.as_ref(), (front, asked)).await?;
    one_shot.announce(&args.chat, tools, front.output)?;
    let session = one_shot.session.clone();
    let task = TaskAgent::new(session.bundle().clone())
        .with_agent(session.agent())
        .with_max_parallel(usize::from(args.parallel))
        .with_max_replans(args.replans);
    let answers = one_shot.answers.take();
    let reports_questions = front.output.is_none() && answers.is_none();
    let task = match answers {
        Some(answers) => task.with_questions(answers),
        None => task,
    };
    let agent = session.agent();
    let mut view = TaskView {
        agent: agent.name().into(),
        render: &mut *one_shot.render,
        reports_questions,
        is_answered: false,
    };
    let goal = match goal {
        Some(goal) => goal,
        None => {
            let goal = goal_of(&session).await?;
            if front.output.is_none() && !args.chat.quiet {
                let line = format!("Continuing: {}", sanitized_line(&goal.text()));
                trust_dialog::print_notices(&[line])?;
            }
            goal
        }
    };
    let turn = match selected {
        Some(_) => task.continue_in(&session),
        None => task.run_in(&session, goal.text()),
    };
    let result = carry_out(turn, goal, front.interrupts, &mut view).await;
    // If no one reads the output any more, nothing more is written.
    let is_reported = result.as_ref().is_err_and(|failure| !failure.is_output_closed());
    if is_reported && is_kept && front.output.is_none() {
        trust_dialog::print_notices(&[format!("To continue this task: agcore run --resume {}", session.id())])?;
    }
    let result = result.and_then(|report| match report.is_success() {
        true => Ok(()),
        false => Err(Failure::task(problem(&report))),
    });
    one_shot.finish(result, front.output).await
}

/// Returns the goal of the task in a session.
///
/// # Errors
/// When the session has no goal, so that it is not a task.
async fn goal_of(session: &AgentSession) -> Result<Message, Failure> {
    let messages = session.messages().await;
    let goal = messages
        .first()
        .filter(|message| matches!(***message, Message::User(_)));
    goal.map(|goal| Message::user(goal.text().into_owned()))
        .ok_or_else(|| Failure::usage("the session has no task; `agcore sessions list` lists the sessions"))
}

/// Carries out the task and shows its events. The first Ctrl-C cancels it, the second exits the program.
async fn carry_out(
    task: TaskTurn,
    goal: Message,
    interrupts: &Interrupts,
    view: &mut TaskView<'_>,
) -> Result<TaskReport, Failure> {
    let token = CancellationToken::new();
    let _guard = interrupts.cancel(&token);
    view.show(TurnEvent::Started(vec![Arc::new(goal)]))?;
    let mut events = task.with_token(token.clone()).stream();
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
    Ok(report)
}

/// Shows a task as one turn: the turns of its planner and its steps are parts of it.
struct TaskView<'a> {
    agent: Arc<str>,
    render: &'a mut dyn Render,
    /// Whether questions are reported, because a person reads standard error, but cannot be asked.
    reports_questions: bool,
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
    fn event(&mut self, event: &StreamEvent) -> io::Result<()> {
        match (&event.kind, &event.parent) {
            // Those of the whole task are shown instead.
            (EventKind::Turn(TurnEvent::Started(_) | TurnEvent::Complete { .. }), None) => return Ok(()),
            (EventKind::Text(TextEvent::MessageComplete(_)), None) => self.is_answered = true,
            (EventKind::Person(PersonEvent::Suspended(questions)), Some(_)) if self.reports_questions => {
                self.render.hide()?;
                for question in questions {
                    writeln!(io::stderr(), "{}", unanswered(question))?;
                }
            }
            _ => {}
        }
        self.render.event(event)
    }

    fn tick(&mut self) -> io::Result<()> {
        self.render.tick()
    }

    fn turn_cancelled(&mut self) {
        self.render.turn_cancelled();
    }
}

/// Returns why a step fails that waits for a person.
fn unanswered(question: &Question) -> String {
    let call = call_text(&question.tool, &question.arguments);
    match question.kind {
        QuestionKind::Uncertain => format!(
            "! {call} was running when the program ended, and may have taken effect. It is not repeated, and its step fails."
        ),
        _ => format!(
            "! {call} needs an answer, for which a step cannot wait: {}",
            sanitized_line(&question.prompt)
        ),
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
