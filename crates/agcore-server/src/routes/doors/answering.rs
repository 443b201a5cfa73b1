//! [`Answering`]: the answer of a run for a client that knows no questions.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use agcore_agui::{Format, ResumeEntry};
use agcore_chat::Actor;
use agcore_openai::{OpenQuestion, Outcome, ReplyEvent, RunReader};
use agcore_session::{EventFilter, Run, RunFilter, RunStatus};
use serde_json::json;

use crate::{
    log::{LogEvent, LogItem, forget_ends},
    problem::{Problem, ProblemCode},
    run::RunInput,
    service::{App, GivenAnswers, OwnedRun, StreamPermit},
    settings::DoorApprovals,
    stream::EventStream,
};

/// The pause between two looks for the answer of a person.
const PAUSE: Duration = Duration::from_secs(1);

/// The number of runs of a thread among which the one is looked for that continues another.
const RUNS: u64 = 200;

/// The explanation of a refusal, for the model.
const REFUSAL: &str =
    "the client of the user cannot ask for approvals, so this call was refused; explain that to the user";

/// The answer of a run, and of the runs that continue it after questions that are not shown to the client.
pub(super) struct Answering {
    app: Arc<App>,
    actor: Actor,
    run: OwnedRun,
    events: Option<EventStream>,
    reader: RunReader,
    /// Parts that were read and not returned yet.
    parts: VecDeque<ReplyEvent>,
    /// The end of the run that waits for a person.
    waiting: Option<ReplyEvent>,
    /// The questions for which the run waits.
    questions: Vec<OpenQuestion>,
    /// The time for which nothing was returned while the run waits.
    quiet: Duration,
}

/// The next step of an answer.
pub(super) enum Progress {
    /// A part.
    Part(ReplyEvent),
    /// Nothing has come for a while.
    Quiet,
    /// There are no more parts.
    Over,
}

impl Answering {
    /// # Errors
    /// When the store fails.
    pub(super) async fn new(
        app: &Arc<App>,
        actor: &Actor,
        run: OwnedRun,
        reader: RunReader,
        permit: StreamPermit,
    ) -> Result<Self, Problem> {
        let events = EventStream::new(Arc::clone(&app.service), run.clone(), Format::default(), permit).await?;
        Ok(Self {
            app: Arc::clone(app),
            actor: actor.clone(),
            run,
            events: Some(events),
            reader,
            parts: VecDeque::new(),
            waiting: None,
            questions: Vec::new(),
            quiet: Duration::ZERO,
        })
    }

    /// Returns the next step.
    ///
    /// # Errors
    /// When the store fails, or the server ends before the run.
    pub(super) async fn next(&mut self) -> Result<Progress, Problem> {
        loop {
            match self.parts.pop_front() {
                Some(ReplyEvent::End(end)) => match &end.outcome {
                    Outcome::Waiting(questions) => {
                        self.questions.clone_from(questions);
                        self.waiting = Some(ReplyEvent::End(end));
                        self.answer().await?;
                        continue;
                    }
                    _ => {
                        self.events = None;
                        return Ok(Progress::Part(ReplyEvent::End(end)));
                    }
                },
                Some(part) => return Ok(Progress::Part(part)),
                None => {}
            }
            if self.waiting.is_some() {
                if self.is_quiet().await? {
                    return Ok(Progress::Quiet);
                }
                continue;
            }
            let Some(events) = &mut self.events else {
                return Ok(Progress::Over);
            };
            match events.next_events().await? {
                None => {
                    let detail = "the server is shutting down; the run continues when it starts again";
                    return Err(Problem::new(ProblemCode::ShuttingDown, detail));
                }
                Some(items) if items.is_empty() => return Ok(Progress::Quiet),
                Some(items) => self.read(&items),
            }
        }
    }

    fn read(&mut self, items: &[Arc<LogItem>]) {
        for item in items {
            if let LogEvent::Agui(event) = &item.event {
                self.parts.extend(self.reader.push(event));
            }
        }
    }

    /// Answers questions for the person, if that is the setting. Otherwise somebody else does.
    async fn answer(&mut self) -> Result<(), Problem> {
        if self.app.doors.approvals == DoorApprovals::Wait {
            return Ok(());
        }
        let entries = self.questions.iter().map(|question| match question.reason.as_str() {
            "approval" | "uncertain" => {
                ResumeEntry::resolved(&*question.id, json!({"approved": false, "message": REFUSAL}))
            }
            _ => ResumeEntry::cancelled(&*question.id),
        });
        let answers = GivenAnswers::of_entries(entries.collect());
        let service = &self.app.service;
        let (resuming, actor, thread) = (Arc::clone(service), self.actor.clone(), self.run.thread.clone());
        let run = service.new_id("run");
        let resume = async move { resuming.resume(&actor, &thread, &run, None, answers).await };
        match service.carry_out(Box::pin(resume)).await {
            Ok(run) => self.follow(run).await,
            // Somebody was faster.
            Err(problem) if problem.code() == ProblemCode::AlreadyAnswered => Ok(()),
            Err(problem) => Err(problem),
        }
    }

    /// Waits for the answer of a person. Returns whether a comment is due.
    async fn is_quiet(&mut self) -> Result<bool, Problem> {
        let service = Arc::clone(&self.app.service);
        tokio::select! {
            () = service.stopping.cancelled() => {
                let detail = "the server is shutting down; the run waits for the answer of a person";
                return Err(Problem::new(ProblemCode::ShuttingDown, detail));
            }
            () = service.clock.sleep(PAUSE) => {}
        }
        let own = service.own(&self.actor, &self.run.thread).await?;
        let runs = own.runs(&RunFilter::new().with_last(RUNS)).await?;
        if let Some(next) = continuation(&runs, &self.run.run, &self.questions) {
            let (next, _) = own.run(&next.id).await?;
            self.follow(next).await?;
            return Ok(false);
        }
        let now = runs.iter().find(|run| run.id == self.run.run);
        if let (None | Some(RunStatus::Cancelled | RunStatus::Failed), Some(ReplyEvent::End(mut end))) =
            (now.map(|run| run.status), self.waiting.clone())
        {
            self.waiting = None;
            end.outcome = Outcome::Cancelled;
            self.parts.push_back(ReplyEvent::End(end));
            return Ok(false);
        }
        self.quiet += PAUSE;
        let is_due = self.quiet >= service.limits.keep_alive;
        if is_due {
            self.quiet = Duration::ZERO;
        }
        Ok(is_due)
    }

    async fn follow(&mut self, run: OwnedRun) -> Result<(), Problem> {
        self.waiting = None;
        self.quiet = Duration::ZERO;
        self.run = run.clone();
        if let Some(events) = self.events.take() {
            self.events = Some(events.then(run).await?);
        }
        Ok(())
    }
}

/// Returns the run that continues another one with answers to its questions.
fn continuation<'r>(runs: &'r [Run], run: &str, questions: &[OpenQuestion]) -> Option<&'r Run> {
    let at = runs.iter().position(|known| known.id == run)?;
    runs.get(at + 1..)?.iter().find(|next| {
        let input = next
            .input
            .clone()
            .and_then(|input| serde_json::from_value::<RunInput>(input).ok());
        input.is_some_and(|input| questions.iter().any(|question| input.is_answer_to(&question.id)))
    })
}

/// Returns whether a run continues an earlier one, and is a part of its answer.
pub(super) fn is_continuation(run: &Run) -> bool {
    let input = run
        .input
        .clone()
        .and_then(|input| serde_json::from_value::<RunInput>(input).ok());
    input.is_some_and(|input| input.is_continuation() && input.note.is_none())
}

/// Returns the stored part of the answer of a run, with the runs that continue it.
///
/// # Errors
/// When the store fails.
pub(super) async fn stored(
    app: &App,
    actor: &Actor,
    run: OwnedRun,
    reader: &mut RunReader,
) -> Result<Vec<ReplyEvent>, Problem> {
    let service = &app.service;
    let own = service.own(actor, &run.thread).await?;
    let runs = own.runs(&RunFilter::new().with_last(RUNS)).await?;
    let (mut parts, mut run) = (Vec::new(), run);
    loop {
        let events = service.events(&run, EventFilter::new()).await?;
        let mut items: Vec<_> = events.into_iter().map(|event| Arc::new(LogItem::from(event))).collect();
        let restart = items.iter().rposition(|item| matches!(item.event, LogEvent::Restarted));
        if let Some(restart) = restart {
            forget_ends(&mut items[..restart]);
        }
        for item in &items {
            if let LogEvent::Agui(event) = &item.event {
                parts.extend(reader.push(event));
            }
        }
        let next = match parts.last_mut() {
            Some(ReplyEvent::End(end)) => match &end.outcome {
                Outcome::Waiting(questions) => {
                    let next = continuation(&runs, &run.run, questions);
                    let now = runs.iter().find(|known| known.id == run.run).map(|known| known.status);
                    if next.is_none() && now == Some(RunStatus::Cancelled) {
                        end.outcome = Outcome::Cancelled;
                    }
                    next
                }
                _ => None,
            },
            _ => None,
        };
        let Some(next) = next else { return Ok(parts) };
        parts.pop();
        run = own.run(&next.id).await?.0;
    }
}
