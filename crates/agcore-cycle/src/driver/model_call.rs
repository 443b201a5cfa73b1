//! [`ModelCall`]: a call of the model, from its reservation to the settlement of what it has cost.

mod call_ids;
mod call_log;
mod flight;
mod in_flight;
mod reading;
mod output_limit;

pub(super) use self::in_flight::{InFlight, Unread};

use std::{sync::Arc, time::Duration};

use agcore_chat::{ChatRequest, ChatResponse, ModelCall as LoggedCall, Usage};
use agcore_llm::{LlmError, LlmErrorKind, TimeoutStage};

use self::{call_log::CallLog, flight::Flight};
use super::{
    environment::Scene,
    hooks::{request_purpose, run_hooks},
    spending::{Hold, PlannedCall, Refusal, Spending},
};
use crate::{
    budget::{BudgetLimit, Spent},
    hooks::{HookContext, HookStop},
    machine::{Lost, Machine, Outcome, Purpose},
};

/// The call of the model that is in flight, its reservation and its attempts; the last reply; and the budgets of the turn, from
/// which tools spend, too.
pub(super) struct ModelCall<'a> {
    pub(super) spending: Spending<'a>,
    /// The last reply. Boxed because it is large and not there while the first one arrives.
    pub(super) response: Option<Box<ChatResponse>>,
    flight: Flight,
    /// The reservation for the call, if there are budgets.
    hold: Option<Box<Hold>>,
    /// The cost of the attempts that were lost, if there are budgets.
    lost_cost: Spent,
    /// The attempts, if a recorder wants them.
    log: Option<Box<CallLog>>,
}

impl<'a> ModelCall<'a> {
    pub(super) fn new(spending: Spending<'a>) -> Self {
        Self {
            spending,
            response: None,
            flight: Flight::default(),
            hold: None,
            lost_cost: Spent::default(),
            log: None,
        }
    }

    /// Returns the attempts of the call that were lost.
    pub(super) fn lost(&self) -> Lost {
        self.flight.lost.clone()
    }

    /// Forgets the call: the machine knows what became of it.
    pub(super) fn forget(&mut self) {
        self.flight = Flight::default();
        self.begin_with(None, None);
    }

    /// Runs the pre-request hooks. Returns the request to send.
    pub(super) async fn run_pre_request(
        &self,
        scene: Scene<'_>,
        request: &Arc<ChatRequest>,
        purpose: Purpose,
    ) -> Result<Arc<ChatRequest>, HookStop> {
        let (request, environment) = (Arc::clone(request), scene.environment);
        if environment.hooks.is_empty() {
            return Ok(request);
        }
        run_hooks(async {
            let context = HookContext {
                purpose: Some(request_purpose(purpose)),
                ..environment.context(scene.machine)
            };
            let bounds = environment.bounds(self.spending.time_left(scene.machine, purpose));
            environment.hooks.pre_request(&context, &bounds, request).await
        })
        .await
    }

    /// Runs the post-request hooks, or the error hooks: exactly one of the two ends an attempt.
    pub(super) async fn run_post_request(&self, scene: Scene<'_>, call: &InFlight, failure: Option<&Unread>) {
        if scene.environment.hooks.is_empty() {
            return;
        }
        run_hooks(async {
            let (hooks, mut context) = (scene.environment.hooks, call.context(scene));
            let left = self.spending.time_left(scene.machine, call.purpose);
            let bounds = scene.environment.bounds(left);
            let fault = failure.map(Unread::fault);
            if fault.is_some() {
                context.error = fault.as_ref();
                hooks.on_error(&context, &bounds).await;
            } else {
                context.response = self.response.as_deref();
                hooks.post_request(&context, &bounds).await;
            }
        })
        .await;
    }

    /// Reserves what a call may cost, and limits its reply to that. `input` is the estimated size of the request, and
    /// `is_logged` whether a recorder wants the attempts.
    pub(super) async fn reserve(
        &mut self,
        scene: Scene<'_>,
        call: &mut InFlight,
        input: u64,
        is_logged: bool,
    ) -> Result<(), Refusal> {
        if !is_logged && !self.spending.is_active() {
            self.start(None, None);
            call.limit_reply(scene.environment);
            return Ok(());
        }
        let environment = scene.environment;
        let planned = PlannedCall {
            request: &call.request,
            input,
            purpose: call.purpose,
            provider: environment.provider_for(call.purpose),
            default_output: environment.settings.compaction.window.reserved_tokens,
            learnt: environment.learnt(call.purpose, &call.request.model),
            at: environment.clock.now(),
        };
        let log = is_logged.then(|| {
            let log = CallLog::new(planned.provider, planned.request, planned.at, self.spending.now());
            Box::new(log.for_reply(call.purpose != Purpose::Summary))
        });
        let mut hold = self.spending.reserve(scene.machine, planned)?;
        if let Some(hold) = hold.as_mut().filter(|_| self.spending.is_shared()) {
            Box::pin(self.draw(scene, planned, hold)).await?;
        }
        match hold.as_ref().and_then(|hold| hold.token_limit) {
            Some(limit) => Arc::make_mut(&mut call.request).max_completion_tokens = Some(limit),
            None => call.limit_reply(environment),
        }
        self.start(hold, log);
        Ok(())
    }

    /// Draws what a call may cost from the budget that is kept elsewhere, for as long as the turn is not cancelled: a call that is
    /// cancelled before it is polled is not sent.
    async fn draw(&self, scene: Scene<'_>, planned: PlannedCall<'_>, hold: &mut Hold) -> Result<(), Refusal> {
        let environment = scene.environment;
        let left = self.spending.time_left(scene.machine, planned.purpose);
        tokio::select! {
            biased;
            () = environment.options.token.cancelled() => Ok(()),
            limit = left.over(&**environment.clock) => Err(Refusal::Limit(limit)),
            drawn = self.spending.draw(scene.machine, planned, hold) => drawn,
        }
    }

    fn start(&mut self, hold: Option<Box<Hold>>, log: Option<Box<CallLog>>) {
        self.flight = Flight::ready();
        self.begin_with(hold, log);
    }

    fn begin_with(&mut self, hold: Option<Box<Hold>>, log: Option<Box<CallLog>>) {
        self.hold = hold;
        self.lost_cost = Spent::default();
        self.log = log;
    }

    /// Counts a call that has ended, with or without an answer. Returns its cost, if there are budgets. The machine must know it,
    /// and the [attempts](Self::take_calls).
    pub(super) fn settle(&mut self, answer: &Result<(), Unread>) -> Option<Spent> {
        let response = self.response.take();
        let spent = match (answer, response.as_deref()) {
            (Ok(()), Some(response)) => self.settle_answer(response),
            (Err(Unread::Failed(error)), _) => self.settle_failure(error),
            _ => self.give_up(),
        };
        self.response = response;
        spent
    }

    /// Returns the budget behind a timeout: the provider knows how much time is left, and may notice its end first.
    pub(super) fn time_limit_behind(
        &self,
        answer: &Result<(), Unread>,
        machine: &Machine,
        purpose: Purpose,
    ) -> Option<BudgetLimit> {
        match answer {
            Err(Unread::Failed(error)) if error.kind() == LlmErrorKind::Timeout(TimeoutStage::Total) => {
                self.spending.time_left(machine, purpose).exhausted()
            }
            _ => None,
        }
    }

    /// Returns whether the machine knows everything, as at the end of most turns: no call is in flight, and no time is counted.
    pub(super) fn is_settled(&self) -> bool {
        self.flight.is_idle() && self.log.is_none() && !self.spending.is_active()
    }

    /// Takes what the machine does not know yet of a call that was dropped.
    pub(super) fn take_dropped(&mut self) -> impl Iterator<Item = Outcome> + use<> {
        let spent = if self.flight.is_over() { None } else { self.give_up() };
        if let Some(answer) = self.response.as_deref().filter(|_| self.flight.is_answered()) {
            self.flight.lost.record(answer.usage.as_ref());
        }
        let calls = self.take_calls().into_iter();
        let calls = calls.map(|call| Outcome::Called(Box::new(call)));
        let lost = std::mem::take(&mut self.flight.lost).into_tracker();
        let lost = lost.map(|lost| Outcome::Lost(Box::new(lost)));
        let spent = [spent, self.spending.take_time()].into_iter().flatten();
        calls.chain(lost).chain(spent.map(Outcome::Spent))
    }

    fn settle_answer(&mut self, answer: &ChatResponse) -> Option<Spent> {
        self.flight.answer();
        self.log(Some(answer), answer.usage.as_ref());
        self.add_cost(Some(answer), true);
        self.settle_cost()
    }

    fn settle_failure(&mut self, error: &LlmError) -> Option<Spent> {
        if self.flight.is_paid(error, self.spending.now()) {
            let partial = error.partial();
            let usage = partial.and_then(|partial| partial.usage.as_ref());
            self.flight.lost.record(usage);
            self.log(partial, usage);
            self.add_cost(partial, false);
        }
        self.settle_cost()
    }

    /// Counts a call that is given up in the middle: because it was dropped, or a budget ran out.
    fn give_up(&mut self) -> Option<Spent> {
        if self.flight.may_be_sent(self.spending.now()) {
            let partial = self.flight.lose(None);
            self.log(Some(&partial), partial.usage.as_ref());
            self.add_cost(Some(&partial), false);
        }
        self.settle_cost()
    }

    /// Counts an attempt that was lost, and reserves the next one. `usage` is that which is known otherwise.
    async fn lose_attempt(&mut self, scene: Scene<'_>, purpose: Purpose, usage: Option<Usage>) -> Result<(), Unread> {
        let partial = self.flight.lose(usage);
        self.log(Some(&partial), partial.usage.as_ref());
        self.add_cost(Some(&partial), false);
        if let Some(who) = partial.answered_by {
            self.flight.fold.set_answered_by(who);
        }
        self.flight.rest();
        let Some(hold) = &mut self.hold else {
            return Ok(());
        };
        let reserved = self.spending.reserve_again(scene.machine, hold);
        reserved.map_err(Unread::Shortage)?;
        if self.spending.is_shared() {
            Box::pin(draw_again(&self.spending, scene, purpose, hold)).await?;
        }
        Ok(())
    }

    /// Notes that nothing is sent before a moment.
    fn hold_back(&mut self, until: Duration) {
        self.flight.hold_back(until);
        if let Some(log) = &mut self.log {
            log.start(until);
        }
    }

    /// Notes the end of the attempt in flight, if a recorder wants it.
    fn log(&mut self, answer: Option<&ChatResponse>, usage: Option<&Usage>) {
        if let Some(log) = &mut self.log {
            log.end(self.spending.now(), answer, usage);
        }
    }

    /// Takes the attempts that have ended since the last call, if a recorder wants them.
    pub(super) fn take_calls(&mut self) -> Vec<LoggedCall> {
        self.log.as_mut().map(|log| log.take()).unwrap_or_default()
    }

    /// Adds the cost of an attempt, if there are budgets.
    fn add_cost(&mut self, answer: Option<&ChatResponse>, is_whole: bool) {
        if let Some(hold) = &self.hold {
            self.lost_cost.add(&self.spending.cost_of(hold, answer, is_whole));
        }
    }

    /// Settles the cost of all attempts. Returns it with the time, if there are budgets.
    fn settle_cost(&mut self) -> Option<Spent> {
        self.flight.settle();
        let cost = std::mem::take(&mut self.lost_cost);
        Some(self.spending.settle(*self.hold.take()?, cost))
    }
}

/// Draws the cost of another attempt, for as long as the turn is not cancelled and has time.
async fn draw_again(
    spending: &Spending<'_>,
    scene: Scene<'_>,
    purpose: Purpose,
    hold: &mut Hold,
) -> Result<(), Unread> {
    let environment = scene.environment;
    let left = spending.time_left(scene.machine, purpose);
    tokio::select! {
        biased;
        () = environment.options.token.cancelled() => Err(Unread::Failed(LlmError::cancelled())),
        limit = left.over(&**environment.clock) => Err(Unread::Limit(limit)),
        drawn = spending.draw_again(hold) => drawn.map_err(Unread::Draw),
    }
}
