//! [`Execution`]: one task while it runs, with its [`TaskSettings`].

use std::sync::{Arc, Mutex, PoisonError};

use agcore_chat::{AgentEvent, StreamEvent, UsageTracker};
use agcore_cycle::{HookContext, Observer, PlanStepEnd, TurnOutcome, hooks::HookBounds};
use futures_util::{StreamExt, stream::FuturesUnordered};
use tokio_util::sync::CancellationToken;

use super::{parser::PlanParser, prompts, report::TaskReport};
use crate::{
    agent::{Agent, AgentSpec},
    bundle::RuntimeBundle,
    error::AgentError,
    id::uuid_v7,
    plan::{Plan, StepStatus},
    session::AgentSession,
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
}

/// One task while it runs.
pub(super) struct Execution {
    agent: TaskSettings,
    goal: String,
    /// Plans that failed, oldest first.
    earlier: Vec<Plan>,
    observer: Option<Observer>,
    token: CancellationToken,
    usage: Mutex<UsageTracker>,
}

impl Execution {
    pub(super) fn new(
        agent: TaskSettings,
        goal: String,
        earlier: Vec<Plan>,
        observer: Option<Observer>,
        token: CancellationToken,
    ) -> Self {
        Self {
            agent,
            goal,
            earlier,
            observer,
            token,
            usage: Mutex::default(),
        }
    }

    /// Carries out a plan, or makes one first.
    pub(super) async fn run(mut self, plan: Option<Plan>) -> Result<TaskReport, AgentError> {
        let mut replans = 0;
        let mut plan = match plan {
            Some(plan) => plan,
            None => self.plan().await?,
        };
        loop {
            self.carry_out(&mut plan).await?;
            if plan.is_completed() {
                break;
            }
            if replans == self.agent.max_replans {
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
            .with_request(worker.request());
        let session = self.agent.bundle.new_session_with(Arc::new(planner));
        let mut request = prompts::plan(&self.goal, &self.tools(), &self.earlier);
        let mut corrections = 0;
        loop {
            let text = self.turn(&session, request, Some("plan")).await?;
            let parts = self.agent.bundle.parts();
            let id = uuid_v7(parts.clock.now(), &parts.random);
            let plan = parser
                .parse(&text)
                .and_then(|steps| Plan::new(id, self.goal.as_str(), steps));
            match plan {
                Ok(plan) => {
                    self.count(&session).await;
                    return Ok(plan);
                }
                Err(error) if corrections == CORRECTIONS => return Err(error.into()),
                Err(error) => request = prompts::correction(&error.to_string()),
            }
            corrections += 1;
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
            let Some((index, result)) = running.next().await else {
                return Ok(());
            };
            match result {
                Ok(text) => match text.trim_start().strip_prefix(prompts::FAILED) {
                    Some(reason) => self.failed(plan, index, reason.trim()).await?,
                    None => {
                        plan.complete(index, text)?;
                        self.report_step(plan, index, Some(PlanStepEnd::Completed)).await;
                    }
                },
                Err(error) if error.is_cancelled() => return Err(error),
                Err(error) => self.failed(plan, index, &error.to_string()).await?,
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
    async fn step(&self, index: usize, request: String) -> (usize, Result<String, AgentError>) {
        let session = self.agent.bundle.new_session_with(Arc::clone(&self.agent.worker));
        let result = self.turn(&session, request, Some(&format!("step-{index}"))).await;
        self.count(&session).await;
        (index, result)
    }

    /// Asks for the answer to the goal. The result of a plan with a single step is the answer.
    async fn answer(&self, plan: &Plan) -> Result<String, AgentError> {
        if let ([step], []) = (plan.steps(), self.earlier.as_slice()) {
            return Ok(step.result().unwrap_or_default().to_owned());
        }
        let worker = &self.agent.worker;
        let writer = AgentSpec::new(worker.name(), worker.system_prompt())
            .with_tools::<String>([])
            .with_request(worker.request());
        let session = self.agent.bundle.new_session_with(Arc::new(writer));
        let answer = self.turn(&session, prompts::answer(plan, &self.earlier), None).await;
        self.count(&session).await;
        answer
    }

    /// Runs a turn, passes its events on, and returns its answer.
    async fn turn(&self, session: &AgentSession, request: String, part: Option<&str>) -> Result<String, AgentError> {
        let turn = session.turn(request).with_token(self.token.clone());
        let outcome = match &self.observer {
            None => Box::pin(turn.run()).await?,
            Some(observer) => {
                let part = part.map(Arc::<str>::from);
                let mut events = turn.stream();
                while let Some(event) = events.next().await {
                    match &part {
                        Some(part) => observer.forward(event, part).await,
                        None => observer.send(event),
                    }
                }
                events.finish().await?
            }
        };
        match outcome {
            TurnOutcome::Suspended(questions) => {
                session.abandon_turn().await?;
                let question = questions.first().map_or("", |question| question.prompt.as_str());
                Err(AgentError::input(format!(
                    "it needs the answer of a person, but steps cannot wait for one: {question}"
                )))
            }
            outcome => Ok(outcome.text().into_owned()),
        }
    }

    async fn count(&self, session: &AgentSession) {
        let used = session.usage().await;
        self.usage.lock().unwrap_or_else(PoisonError::into_inner).merge(&used);
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
