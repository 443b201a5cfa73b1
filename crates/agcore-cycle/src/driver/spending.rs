//! [`Spending`]: reserves the worst case of a call before it is made, and settles its real cost afterwards.

mod tools;

use std::time::Duration;

use agcore_chat::{AssistantMessage, ChatRequest, ChatResponse, Clock, Message, TokenEstimator, Usage, UsageTracker};
use agcore_llm::ProviderInfo;

use crate::{
    budget::{Budget, BudgetLimit, Budgets, PriceError, Reservation, Resource, Scope, Spent},
    machine::{LimitKind, Machine, Purpose, RoundLimit},
};

/// The budgets of a turn, and the time that counts against them. What was spent is in the machine.
pub(super) struct Spending<'a> {
    budgets: &'a Budgets,
    estimator: &'a dyn TokenEstimator,
    clock: &'a dyn Clock,
    /// The moment up to which time was counted.
    counted_until: Duration,
}

/// The reservation for one call of a model. Dropping it returns what a pool set aside for it.
pub(super) struct Hold {
    model: String,
    /// The estimated tokens of the request.
    input: u64,
    /// The worst case of one attempt.
    attempt: Spent,
    /// The worst case of all attempts.
    worst: Spent,
    reservation: Option<Reservation>,
}

/// A call of a model that is about to be made.
#[derive(Clone, Copy)]
pub(super) struct PlannedCall<'c> {
    pub(super) request: &'c ChatRequest,
    /// The estimated tokens of the request.
    pub(super) input: u64,
    pub(super) purpose: Purpose,
    pub(super) provider: &'c ProviderInfo,
    /// The assumed length of the reply if nothing limits it, in tokens.
    pub(super) default_output: u64,
}

/// The reason a call is not made.
#[derive(Debug)]
pub(super) enum Refusal {
    Limit(BudgetLimit),
    Price(PriceError),
}

impl Refusal {
    pub(super) fn message(&self) -> String {
        match self {
            Self::Limit(limit) => LimitKind::Budget(*limit).message().into_owned(),
            Self::Price(error) => error.to_string(),
        }
    }
}

impl<'a> Spending<'a> {
    pub(super) fn new(budgets: &'a Budgets, estimator: &'a dyn TokenEstimator, clock: &'a dyn Clock) -> Self {
        Self {
            budgets,
            estimator,
            clock,
            counted_until: clock.monotonic(),
        }
    }

    /// Returns whether anything has to be counted.
    pub(super) fn is_active(&self) -> bool {
        self.budgets.is_active()
    }

    /// Reserves the worst case of a call. Returns `None` if there are no budgets.
    pub(super) fn reserve(&self, machine: &Machine, call: PlannedCall<'_>) -> Result<Option<Hold>, Refusal> {
        if !self.is_active() {
            return Ok(None);
        }
        let PlannedCall { request, input, .. } = call;
        let model = if request.model.is_empty() {
            call.provider.model.to_string()
        } else {
            request.model.clone()
        };
        // The estimate is accurate to 15 %.
        let worst_input = input.saturating_add(input.saturating_mul(15).div_ceil(100));
        let reply = request
            .token_limit()
            .or(call.provider.capabilities.max_output_tokens)
            .unwrap_or(call.default_output);
        let output = reply.saturating_mul(request.n.unwrap_or(1).max(1).into());
        let attempt = self
            .budgets
            .worst_case(&model, worst_input, output)
            .map_err(Refusal::Price)?;
        // The reply of this call is part of the request that wraps up. The length of tool results is unknown.
        let margin = holds_back(machine, call.purpose);
        let margin = margin.then(|| {
            self.budgets
                .worst_case(&model, worst_input.saturating_add(output), output)
        });
        let margin = margin.transpose().map_err(Refusal::Price)?;
        self.admit(machine, &attempt, margin.as_ref()).map_err(Refusal::Limit)?;
        let reservation = match &self.budgets.pool {
            Some(pool) => Some(pool.reserve_with(&attempt, margin.as_ref()).map_err(in_pool)?),
            None => None,
        };
        Ok(Some(Hold {
            model,
            input,
            worst: attempt.clone(),
            attempt,
            reservation,
        }))
    }

    /// Reserves the worst case once more: an attempt that cost something was lost, and another one starts.
    pub(super) fn reserve_again(&self, machine: &Machine, hold: &mut Hold) -> Result<(), BudgetLimit> {
        let mut both = hold.worst.clone();
        both.add(&hold.attempt);
        self.admit(machine, &both, None)?;
        if let Some(reservation) = &mut hold.reservation {
            let exhausted = |resource| BudgetLimit::new(Scope::Pool, resource);
            reservation.grow(&hold.attempt).map_err(exhausted)?;
        }
        hold.worst = both;
        Ok(())
    }

    /// Returns the real cost of a call: an answer or a part of one, the attempts lost before it, and its time.
    pub(super) fn settle(&mut self, hold: Hold, answer: Option<&ChatResponse>, lost: &UsageTracker) -> Spent {
        let mut spent = self.cost_of_attempts(&hold, answer, lost);
        spent.add(&self.take_elapsed());
        if let Some(reservation) = hold.reservation {
            reservation.settle(&spent);
        }
        spent
    }

    fn cost_of_attempts(&self, hold: &Hold, answer: Option<&ChatResponse>, lost: &UsageTracker) -> Spent {
        let mut spent = Spent::new();
        let unknown = lost.calls.saturating_sub(lost.calls_with_usage);
        if lost.calls_with_usage > 0 {
            spent.add(&self.cost(hold, &lost.usage, false));
        }
        for _ in 0..unknown {
            spent.add(&self.cost(hold, &Usage::new(hold.input, 0), true));
        }
        if let Some(answer) = answer {
            let reported = answer.usage.clone().unwrap_or_default();
            let estimated = reported.total().is_none();
            let usage = if estimated {
                let output = || {
                    let choices = answer.choices.iter();
                    choices.map(|choice| self.reply_tokens(&choice.message)).sum()
                };
                Usage {
                    prompt_tokens: reported.prompt_tokens.or(Some(hold.input)),
                    completion_tokens: reported.completion_tokens.or_else(|| Some(output())),
                    ..reported
                }
            } else {
                reported
            };
            spent.add(&self.cost(hold, &usage, estimated));
        }
        spent.with_model_calls(lost.calls.saturating_add(answer.is_some().into()))
    }

    fn reply_tokens(&self, message: &AssistantMessage) -> u64 {
        self.estimator.message(&Message::Assistant(message.clone()))
    }

    /// Returns the tokens and money of a use. Calls whose price a money budget cannot use were refused before; if the price
    /// has become unusable since, the call counts as it was reserved.
    fn cost(&self, hold: &Hold, usage: &Usage, estimated: bool) -> Spent {
        let mut spent = Spent::new().with_tokens(usage.total().unwrap_or(0));
        spent.estimated = estimated;
        match self.budgets.price_of(&hold.model, usage) {
            Ok(Some(price)) => spent.with_money(&price),
            Ok(None) => spent,
            Err(_) => {
                spent.money.clone_from(&hold.attempt.money);
                spent.estimated = true;
                spent
            }
        }
    }

    /// Admits tool calls that are about to run. Returns what they spend, or `None` if there are no budgets.
    pub(super) fn admit_tools(&self, machine: &Machine, calls: usize) -> Result<Option<Spent>, BudgetLimit> {
        if !self.is_active() {
            return Ok(None);
        }
        let spent = Spent::new().with_tool_calls(u64::try_from(calls).unwrap_or(u64::MAX));
        self.admit(machine, &spent, None)?;
        if let Some(pool) = &self.budgets.pool {
            match pool.reserve(&spent) {
                Ok(reservation) => reservation.settle(&spent),
                Err(resource) => return Err(BudgetLimit::new(Scope::Pool, resource)),
            }
        }
        Ok(Some(spent))
    }

    /// Takes the time that has passed since time was counted last. Returns `None` if there is nothing to record.
    pub(super) fn take_time(&mut self) -> Option<Spent> {
        if !self.is_active() {
            return None;
        }
        let spent = self.take_elapsed();
        if spent.is_zero() {
            return None;
        }
        if let Some(pool) = &self.budgets.pool {
            pool.spend(&spent);
        }
        Some(spent)
    }

    fn elapsed(&self) -> Duration {
        self.clock.monotonic().saturating_sub(self.counted_until)
    }

    fn take_elapsed(&mut self) -> Spent {
        let elapsed = self.elapsed();
        self.counted_until = self.counted_until.saturating_add(elapsed);
        Spent::new().with_time(elapsed)
    }

    /// Returns how much time is left for the current step, and which budget limits it.
    pub(super) fn time_left(&self, machine: &Machine, purpose: Purpose) -> Option<(Duration, BudgetLimit)> {
        if !self.is_active() {
            return None;
        }
        let held_back = holds_back(machine, purpose);
        let left_of = |scope, budget: &Budget, used: &Spent| {
            let budget = if held_back { &budget.before_wrap_up() } else { budget };
            let left = budget.time_left(used)?;
            Some((left, BudgetLimit::new(scope, Resource::Time)))
        };
        let own = self.own_budgets(machine);
        let own = own
            .iter()
            .filter_map(|(scope, budget, used)| left_of(*scope, budget, used));
        let pool = self.budgets.pool.as_ref();
        let pool = pool.and_then(|pool| left_of(Scope::Pool, &pool.budget(), &self.with_elapsed(pool.spent())));
        own.chain(pool).min_by_key(|(left, _)| *left)
    }

    /// Returns how much time is left for the newest turn, even if it has just ended.
    pub(super) fn time_left_of_turn(&self, machine: &Machine) -> Option<(Duration, BudgetLimit)> {
        let turn = machine.turn_spent().and_then(|used| {
            let left = self.budgets.turn.time_left(&self.with_elapsed(used.clone()))?;
            Some((left, BudgetLimit::new(Scope::Turn, Resource::Time)))
        });
        let others = self.time_left(machine, Purpose::WrapUp);
        turn.into_iter().chain(others).min_by_key(|(left, _)| *left)
    }

    /// Checks that `more` fits the budgets of the turn and the conversation, with a margin for wrapping up.
    fn admit(&self, machine: &Machine, more: &Spent, margin: Option<&Spent>) -> Result<(), BudgetLimit> {
        for (scope, budget, used) in self.own_budgets(machine) {
            budget
                .admits_with(&used, more, margin)
                .map_err(|resource| BudgetLimit::new(scope, resource))?;
        }
        Ok(())
    }

    /// Returns the budgets that only this conversation spends from, and what is used of them by now.
    fn own_budgets(&self, machine: &Machine) -> Vec<(Scope, &'a Budget, Spent)> {
        let budgets = self.budgets;
        let turn = machine.turn_spent().filter(|_| machine.is_open());
        let turn = turn.map(|used| (Scope::Turn, &budgets.turn, used));
        let cycle = (Scope::Cycle, &budgets.cycle, machine.spent());
        turn.into_iter()
            .chain([cycle])
            .filter(|(_, budget, _)| budget.is_limited())
            .map(|(scope, budget, used)| (scope, budget, self.with_elapsed(used.clone())))
            .collect()
    }

    fn with_elapsed(&self, mut used: Spent) -> Spent {
        used.add(&Spent::new().with_time(self.elapsed()));
        used
    }
}

/// Returns whether a part of the budgets is held back for a last reply.
fn holds_back(machine: &Machine, purpose: Purpose) -> bool {
    purpose != Purpose::WrapUp && machine.is_open() && machine.limits().at_round_limit == RoundLimit::WrapUp
}

fn in_pool(resource: Resource) -> Refusal {
    Refusal::Limit(BudgetLimit::new(Scope::Pool, resource))
}

/// Waits until the time that is left is over; forever if there is no limit.
pub(super) async fn out_of_time(clock: &dyn Clock, left: Option<(Duration, BudgetLimit)>) -> BudgetLimit {
    match left {
        Some((left, limit)) => {
            clock.sleep(left).await;
            limit
        }
        None => std::future::pending().await,
    }
}
