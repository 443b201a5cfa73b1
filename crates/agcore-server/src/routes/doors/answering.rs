//! [`Answering`]: the answer of a run for a client that knows no questions.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use agcore_agui::Format;
use agcore_chat::Actor;
use agcore_openai::{OpenQuestion, Outcome, ReplyEvent, RunReader};
use agcore_session::{EventFilter, Run, RunFilter, RunStatus};

use crate::{
    log::{LogEvent, LogItem, forget_ends},
    problem::{Problem, ProblemCode},
    run::RunInput,
    service::{App, OwnedRun, StreamPermit},
    settings::DoorApprovals,
    stream::EventStream,
};

/// The pause between two looks for the answer of a person.
const PAUSE: Duration = Duration::from_secs(1);

/// The number of runs of a thread among which the one is looked for that continues another.
const RUNS: u64 = 200;

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

    /// Refuses the questions, if that is the setting. The process that has executed the run does the same: both get the same run.
    /// Otherwise somebody answers in another way, and the run that continues this one is looked for.
    async fn answer(&mut self) -> Result<(), Problem> {
        if self.app.doors.approvals == DoorApprovals::Wait {
            return self.find_next().await;
        }
        let ids = self.questions.iter().map(|question| question.id.clone()).collect();
        match refuse(&self.app, &self.run, ids).await {
            Ok(Some(run)) => self.follow(run).await,
            Ok(None) => self.find_next().await,
            // Somebody was faster, or is about to answer.
            Err(problem) if matches!(problem.code(), ProblemCode::AlreadyAnswered | ProblemCode::SessionBusy) => {
                self.find_next().await
            }
            Err(problem) => Err(problem),
        }
    }

    /// Waits for an answer to the questions. Returns whether a comment is due.
    async fn is_quiet(&mut self) -> Result<bool, Problem> {
        let service = Arc::clone(&self.app.service);
        tokio::select! {
            () = service.stopping.cancelled() => {
                let detail = "the server is shutting down; the run waits for the answer of a person";
                return Err(Problem::new(ProblemCode::ShuttingDown, detail));
            }
            () = service.clock.sleep(PAUSE) => {}
        }
        self.answer().await?;
        if self.waiting.is_none() {
            return Ok(false);
        }
        self.quiet += PAUSE;
        let is_due = self.quiet >= service.limits.keep_alive;
        if is_due {
            self.quiet = Duration::ZERO;
        }
        Ok(is_due)
    }

    /// Follows the run that continues this one, or ends the answer if its questions were withdrawn.
    async fn find_next(&mut self) -> Result<(), Problem> {
        let own = self.app.service.own(&self.actor, &self.run.thread).await?;
        let found = own.find_run(&self.run.run).await?;
        match found.map(|(_, run)| run.status) {
            // Nothing has happened: the other runs need not be read.
            Some(RunStatus::Interrupted) => Ok(()),
            None | Some(RunStatus::Cancelled | RunStatus::Failed) => {
                if let Some(ReplyEvent::End(mut end)) = self.waiting.take() {
                    end.outcome = Outcome::Cancelled;
                    self.parts.push_back(ReplyEvent::End(end));
                }
                Ok(())
            }
            Some(_) => {
                let runs = own.runs(&RunFilter::new().with_last(RUNS)).await?;
                match continuation(&runs, &self.run.run, &self.questions) {
                    Some(next) => {
                        let (next, _) = own.run(&next.id).await?;
                        self.follow(next).await
                    }
                    None => Ok(()),
                }
            }
        }
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

/// Refuses questions, also if the client leaves meanwhile.
async fn refuse(app: &App, run: &OwnedRun, ids: Vec<String>) -> Result<Option<OwnedRun>, Problem> {
    let (service, run) = (Arc::clone(&app.service), run.clone());
    let refuse = async move { service.refuse(&run, Some(&ids)).await };
    app.service.carry_out(Box::pin(refuse)).await
}

/// Returns the stored part of the answer of a run, with the runs that continue it, and the last of these. Questions that were to be
/// refused when the run began to wait, and were not because the server has ended, are refused now.
///
/// # Errors
/// When the store fails.
pub(super) async fn stored(
    app: &App,
    actor: &Actor,
    run: OwnedRun,
    reader: &mut RunReader,
) -> Result<(Vec<ReplyEvent>, OwnedRun), Problem> {
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
        let Some(ReplyEvent::End(end)) = parts.last_mut() else {
            return Ok((parts, run));
        };
        let Outcome::Waiting(questions) = &end.outcome else {
            return Ok((parts, run));
        };
        let Some(next) = continuation(&runs, &run.run, questions) else {
            let now = runs.iter().find(|known| known.id == run.run);
            if now.is_some_and(|now| now.status == RunStatus::Cancelled) {
                end.outcome = Outcome::Cancelled;
            } else if now.is_some_and(is_refusing) {
                let ids = questions.iter().map(|question| question.id.clone()).collect();
                if let Err(problem) = refuse(app, &run, ids).await {
                    tracing::warn!(run = run.run, %problem, "the questions of a run were not refused");
                }
            }
            return Ok((parts, run));
        };
        parts.pop();
        run = own.run(&next.id).await?.0;
    }
}

/// Returns whether the questions of a run that waits are refused.
fn is_refusing(run: &Run) -> bool {
    let input = run
        .input
        .clone()
        .and_then(|input| serde_json::from_value::<RunInput>(input).ok());
    run.status == RunStatus::Interrupted && input.is_some_and(|input| input.refuses)
}
