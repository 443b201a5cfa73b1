//! [`Execution`]: one task while it runs, with its [`TaskSettings`].

use std::sync::{Arc, Mutex, PoisonError};

use agcore_chat::{AgentEvent, StreamEvent, UsageTracker};
use agcore_cycle::{HookContext, Observer, PlanStepEnd, TurnOutcome, hooks::HookBounds};
use futures_util::{StreamExt, stream::FuturesUnordered};
use tokio_util::sync::CancellationToken;

use super::{
    kept::KeptTask,
    parser::PlanParser,
    progress::TaskProgress,
    prompts,
    questions::{Asking, StepQuestions},
    report::TaskReport,
};
use crate::{
    agent::{Agent, AgentSpec},
    bundle::RuntimeBundle,
    durable::TaskRecord,
    error::{AgentError, AgentErrorKind},
    plan::{Plan, StepStatus},
    session::AgentSession,
    turn::AgentTurn,
};

/// The number of times that the planner may correct a plan.
const CORRECTIONS: u32 = 2;

/// The parts that a task works with.
#[derive(Clone)]
pub(super) struct TaskSettings {
    pub(super) bundle: RuntimeBundle,
    pub(super) worker: Arc<dyn Agent>,
    pub(super) parser: Arc<dyn PlanParser>,
    pub(super) max_parallel: usize,
    pub(super) max_replans: u32,
    /// Answers the questions of steps. Without it, steps with questions fail.
    pub(super) questions: Option<Arc<dyn StepQuestions>>,
}

/// One task while it runs.
pub(super) struct Execution {
    agent: TaskSettings,
    /// Where the progress is written, if it is kept.
    kept: Option<KeptTask>,
    goal: String,
    /// Plans that failed, oldest first.
    earlier: Vec<Plan>,
    observer: Option<Observer>,
    token: CancellationToken,
    usage: Mutex<UsageTracker>,
    asking: Asking,
}

impl Execution {
    pub(super) fn new(
        agent: TaskSettings,
        kept: Option<KeptTask>,
        progress: &mut TaskProgress,
        observer: Option<Observer>,
        token: CancellationToken,
    ) -> Self {
        Self {
            asking: Asking::new(agent.questions.clone()),
            agent,
            kept,
            goal: std::mem::take(&mut progress.goal),
            earlier: std::mem::take(&mut progress.earlier),
            observer,
            token,
            usage: Mutex::new(std::mem::take(&mut progress.usage)),
        }
    }

    /// Carries out a plan, or makes one first.
    pub(super) async fn run(mut self, plan: Option<Plan>) -> Result<TaskReport, AgentError> {
        let mut plan = match plan {
            Some(plan) => plan,
            None => self.plan().await?,
        };
        // A task that is continued has used some of its plans.
        let mut replans = match &self.kept {
            Some(_) => u32::try_from(self.earlier.len()).unwrap_or(u32::MAX),
            None => 0,
        };
        loop {
            self.carry_out(&mut plan).await?;
            if plan.is_completed() {
                break;
            }
            if replans >= self.agent.max_replans {
                return Ok(self.report(plan, None));
            }
            replans += 1;
            self.earlier.push(plan);
            plan = self.plan().await?;
        }
        let answer = self.answer(&plan).await?;
        Ok(self.report(plan, Some(answer)))
    }

    fn report(self, plan: Plan, answer: Option<String>) -> TaskReport {
        TaskReport {
            plan,
            earlier: self.earlier,
            answer,
            usage: self.usage.into_inner().unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// Asks the model for a plan.
    async fn plan(&self) -> Result<Plan, AgentError> {
        let (parser, worker) = (&self.agent.parser, &self.agent.worker);
        let planner = AgentSpec::new("planner", prompts::planner(&parser.instructions()))
            .with_tools::<String>([])
            .with_request(worker.request().into_owned());
        let session = self.session(Arc::new(planner), "plan").await?;
        let request = prompts::plan(&self.goal, &self.tools(), &self.earlier);
        let mut text = self.answered(&session, request, Some("plan")).await?;
        let mut corrections = 0;
        loop {
            let id = self.agent.bundle.new_id();
            let plan = parser
                .parse(&text)
                .and_then(|steps| Plan::new(id, self.goal.as_str(), steps));
            match plan {
                Ok(plan) => {
                    let usage = self.count(&session).await;
                    let made = plan.clone();
                    self.keep(|| TaskRecord::Planned { plan: made, usage }).await?;
                    return Ok(plan);
                }
                Err(error) if corrections == CORRECTIONS => return Err(error.into()),
                Err(error) => {
                    let request = prompts::correction(&error.to_string());
                    text = self.turn(session.turn(request), &session, Some("plan")).await?;
                }
            }
            corrections += 1;
        }
    }

    /// Writes what happened, if the task is kept.
    async fn keep(&self, record: impl FnOnce() -> TaskRecord) -> Result<(), AgentError> {
        match &self.kept {
            Some(kept) => kept.add(&record()).await,
            None => Ok(()),
        }
    }

    /// Returns the session of an agent for a part of the newest plan. If the task is kept, it is as it was after its last write.
    async fn session(&self, agent: Arc<dyn Agent>, part: &str) -> Result<AgentSession, AgentError> {
        match &self.kept {
            Some(kept) => {
                let part = format!("{part}-{}", self.earlier.len());
                kept.open(self.agent.bundle.clone(), agent, &part).await
            }
            None => Ok(self.agent.bundle.new_session_with(agent)),
        }
    }

    /// Returns the names of the tools that workers see.
    fn tools(&self) -> Vec<String> {
        let tools = self.agent.bundle.tools().snapshot();
        let visible = tools.tools().iter().filter(|tool| self.agent.worker.exposes(tool));
        visible.map(|tool| tool.name().to_string()).collect()
    }

    /// Carries out the steps that can be carried out.
    async fn carry_out(&self, plan: &mut Plan) -> Result<(), AgentError> {
        let interrupted = plan.steps().iter().filter(|step| step.status() == StepStatus::Running);
        for index in interrupted.map(|step| step.index).collect::<Vec<_>>() {
            self.failed(plan, index, "it was interrupted, and whether it took effect is unknown")
                .await?;
        }
        let mut running = FuturesUnordered::new();
        loop {
            while running.len() < self.agent.max_parallel {
                let next = plan.ready().next();
                let Some(index) = next else { break };
                plan.start(index)?;
                self.report_step(plan, index, None).await;
                let step = &plan.steps()[index];
                running.push(self.step(index, prompts::step(plan, step, &self.earlier)));
            }
            let Some(done) = running.next().await else {
                return Ok(());
            };
            let Done { index, result, usage } = done;
            let result = match result {
                // The step can be continued later.
                Err(error) if error.is_cancelled() || is_of_store(error.kind()) => return Err(error),
                Err(error) => Err(error.to_string()),
                Ok(text) => match text.trim_start().strip_prefix(prompts::FAILED) {
                    Some(reason) => Err(reason.trim().to_owned()),
                    None => Ok(text),
                },
            };
            match result {
                Ok(result) => {
                    let step = index;
                    self.keep(|| TaskRecord::Completed {
                        step,
                        result: result.clone(),
                        usage,
                    })
                    .await?;
                    plan.complete(index, result)?;
                    self.report_step(plan, index, Some(PlanStepEnd::Completed)).await;
                }
                Err(reason) => {
                    let (step, because) = (index, reason.clone());
                    self.keep(|| TaskRecord::Failed {
                        step,
                        reason: because,
                        usage,
                    })
                    .await?;
                    self.failed(plan, index, &reason).await?;
                }
            }
        }
    }

    /// Notes that a step failed, and which are skipped for that.
    async fn failed(&self, plan: &mut Plan, index: usize, reason: &str) -> Result<(), AgentError> {
        let skipped = plan.fail(index, reason)?;
        self.report_step(plan, index, Some(PlanStepEnd::Failed)).await;
        for index in skipped {
            self.report_step(plan, index, Some(PlanStepEnd::Skipped)).await;
        }
        Ok(())
    }

    /// Carries out one step.
    async fn step(&self, index: usize, request: String) -> Done {
        let part = format!("step-{index}");
        let session = match self.session(Arc::clone(&self.agent.worker), &part).await {
            Ok(session) => session,
            Err(error) => {
                return Done {
                    index,
                    result: Err(error),
                    usage: UsageTracker::default(),
                };
            }
        };
        let result = self.answered(&session, request, Some(&part)).await;
        let usage = self.count(&session).await;
        Done { index, result, usage }
    }

    /// Asks for the answer to the goal. The result of a plan with a single step is the answer.
    async fn answer(&self, plan: &Plan) -> Result<String, AgentError> {
        let (answer, usage) = match (plan.steps(), self.earlier.as_slice()) {
            ([step], []) => (step.result().unwrap_or_default().to_owned(), UsageTracker::default()),
            _ => {
                let worker = &self.agent.worker;
                let writer = AgentSpec::new(worker.name(), worker.system_prompt())
                    .with_tools::<String>([])
                    .with_request(worker.request().into_owned());
                let session = self.session(Arc::new(writer), "answer").await?;
                let answer = self
                    .answered(&session, prompts::answer(plan, &self.earlier), None)
                    .await;
                let usage = self.count(&session).await;
                (answer?, usage)
            }
        };
        let written = answer.clone();
        self.keep(|| TaskRecord::Answered { answer: written, usage }).await?;
        Ok(answer)
    }

    /// Returns the answer of a session to a request. A session that an earlier process left behind is continued, or has answered
    /// already.
    async fn answered(
        &self,
        session: &AgentSession,
        request: String,
        part: Option<&str>,
    ) -> Result<String, AgentError> {
        let questions = session.questions().await;
        let turn = if !questions.is_empty() {
            session.resume(self.asking.answers(session, &questions, &self.token).await?)
        } else if session.is_interrupted().await {
            session.resume([])
        } else if let Some(answer) = session.last_answer().await {
            return Ok(answer);
        } else {
            session.turn(request)
        };
        self.turn(turn, session, part).await
    }

    /// Runs a turn and returns its answer. Each time it waits for a person, it continues with the answers.
    async fn turn(&self, turn: AgentTurn, session: &AgentSession, part: Option<&str>) -> Result<String, AgentError> {
        let mut turn = turn;
        loop {
            match self.observed(turn, part).await? {
                TurnOutcome::Suspended(questions) => {
                    turn = session.resume(self.asking.answers(session, &questions, &self.token).await?);
                }
                outcome => return Ok(outcome.text().into_owned()),
            }
        }
    }

    /// Runs a turn and passes its events on.
    async fn observed(&self, turn: AgentTurn, part: Option<&str>) -> Result<TurnOutcome, AgentError> {
        let turn = turn.with_token(self.token.clone());
        let Some(observer) = &self.observer else {
            return turn.await;
        };
        let part = part.map(Arc::<str>::from);
        let mut events = turn.stream_with_sub_agents();
        while let Some(event) = events.next().await {
            match &part {
                Some(part) => observer.forward(event, part).await,
                None => observer.send(event),
            }
        }
        events.finish().await
    }

    /// Counts what a session has used, and returns it.
    async fn count(&self, session: &AgentSession) -> UsageTracker {
        let used = session.usage().await;
        self.usage.lock().unwrap_or_else(PoisonError::into_inner).merge(&used);
        used
    }

    /// Reports the change of a step to observers and hooks.
    async fn report_step(&self, plan: &Plan, index: usize, end: Option<PlanStepEnd>) {
        let Some(step) = plan.steps().get(index) else { return };
        let number = u32::try_from(index).unwrap_or(u32::MAX);
        let name = self.agent.worker.name();
        if let Some(observer) = &self.observer {
            let event = AgentEvent::PlanStep {
                plan: plan.id().into(),
                index: number,
                status: step.status().as_str().into(),
                description: step.description.as_str().into(),
            };
            observer.send(StreamEvent::new(0, name.into(), 0, 0, event));
        }
        if let Some(end) = end {
            let parts = self.agent.bundle.parts();
            let context = HookContext::new(name).with_plan_step(number, end);
            parts
                .hooks
                .plan_step(&context, &HookBounds::new(&*parts.clock, &self.token))
                .await;
        }
    }
}

/// The end of a step.
struct Done {
    index: usize,
    result: Result<String, AgentError>,
    usage: UsageTracker,
}

/// Returns whether the work can continue later, when the store works again or the session was opened again.
fn is_of_store(kind: AgentErrorKind) -> bool {
    matches!(
        kind,
        AgentErrorKind::Storage | AgentErrorKind::Unavailable | AgentErrorKind::Conflict
    )
}
