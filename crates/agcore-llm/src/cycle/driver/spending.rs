//! Budgets: what a call may come to is reserved before it, what it came to is settled after it.

use std::time::Duration;

use agcore_chat::{ChatRequest, ChatResponse, Clock, Fault, FaultKind, Message, Usage, UsageTracker};

use super::state::Driver;
use crate::{
    budget::{Budget, BudgetLimit, PriceError, Reservation, Resource, Scope, Spent},
    cycle::machine::{LimitKind, Outcome, Purpose, RoundLimit},
    error::LlmError,
};

/// What is set aside for one call of a model. Dropping it gives back what a pool holds for it.
pub(super) struct Hold {
    model: String,
    /// Tokens of the request, estimated.
    input: u64,
    /// The worst case of one attempt.
    attempt: Spent,
    /// That of all attempts.
    worst: Spent,
    reservation: Option<Reservation>,
}

/// Why a call is not made.
#[derive(Debug)]
pub(super) enum Refusal {
    Limit(BudgetLimit),
    Price(PriceError),
}

impl Refusal {
    pub(super) fn fault(&self) -> Fault {
        let message = match self {
            Self::Limit(limit) => LimitKind::Budget(*limit).message().into_owned(),
            Self::Price(error) => error.to_string(),
        };
        Fault::new(FaultKind::Limit, message)
    }
}

impl Driver<'_> {
    /// Sets aside what a call may come to; nothing where there are no budgets.
    pub(super) fn reserve(&self, request: &ChatRequest, input: u64, purpose: Purpose) -> Result<Option<Hold>, Refusal> {
        let budgets = &self.settings.budgets;
        if !budgets.is_active() {
            return Ok(None);
        }
        let info = self.provider_for(purpose).info();
        let model = if request.model.is_empty() {
            info.model.to_string()
        } else {
            request.model.clone()
        };
        // The estimate is good to 15 %.
        let worst_input = input.saturating_add(input.saturating_mul(15).div_ceil(100));
        let reply = request
            .token_limit()
            .or(info.capabilities.max_output_tokens)
            .unwrap_or(self.settings.compaction.window.reserved_tokens);
        let output = reply.saturating_mul(request.n.unwrap_or(1).max(1).into());
        let attempt = budgets
            .worst_case(&model, worst_input, output)
            .map_err(Refusal::Price)?;
        // What comes of this call is in the request that wraps up; how long tools' results are, nobody knows.
        let margin = self.holds_back(purpose);
        let margin = margin.then(|| budgets.worst_case(&model, worst_input.saturating_add(output), output));
        let margin = margin.transpose().map_err(Refusal::Price)?;
        self.admit_spending(&attempt, margin.as_ref()).map_err(Refusal::Limit)?;
        let reservation = match &budgets.pool {
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

    /// Sets the same aside once more: an attempt that cost something is lost, and another begins.
    pub(super) fn reserve_again(&self, hold: &mut Hold) -> Result<(), BudgetLimit> {
        let mut both = hold.worst.clone();
        both.add(&hold.attempt);
        self.admit_spending(&both, None)?;
        if let Some(reservation) = &mut hold.reservation {
            let too_little = |resource| BudgetLimit::new(Scope::Pool, resource);
            reservation.grow(&hold.attempt).map_err(too_little)?;
        }
        hold.worst = both;
        Ok(())
    }

    /// Counts what a call came to: an answer or a part of one, and attempts lost before it.
    pub(super) async fn settle_call(
        &mut self,
        hold: Option<Hold>,
        answer: Option<&ChatResponse>,
        lost: &UsageTracker,
    ) -> Result<(), LlmError> {
        let Some(hold) = hold else { return Ok(()) };
        let mut spent = self.attempts_cost(&hold, answer, lost);
        spent.add(&self.take_time());
        if let Some(reservation) = hold.reservation {
            reservation.settle(&spent);
        }
        self.record_spending(spent).await
    }

    fn attempts_cost(&self, hold: &Hold, answer: Option<&ChatResponse>, lost: &UsageTracker) -> Spent {
        let mut spent = Spent::new();
        let unknown = lost.calls.saturating_sub(lost.calls_with_usage);
        if lost.calls_with_usage > 0 {
            spent.add(&self.cost(hold, &lost.usage, false));
        }
        for _ in 0..unknown {
            spent.add(&self.cost(hold, &Usage::new(hold.input, 0), true));
        }
        if let Some(answer) = answer {
            let told = answer.usage.clone().unwrap_or_default();
            let estimated = told.total().is_none();
            let usage = if estimated {
                let output = || {
                    answer
                        .choices
                        .iter()
                        .map(|choice| self.reply_tokens(&choice.message))
                        .sum()
                };
                Usage {
                    prompt_tokens: told.prompt_tokens.or(Some(hold.input)),
                    completion_tokens: told.completion_tokens.or_else(|| Some(output())),
                    ..told
                }
            } else {
                told
            };
            spent.add(&self.cost(hold, &usage, estimated));
        }
        spent.with_model_calls(lost.calls.saturating_add(answer.is_some().into()))
    }

    fn reply_tokens(&self, message: &agcore_chat::AssistantMessage) -> u64 {
        self.settings.estimator.message(&Message::Assistant(message.clone()))
    }

    /// Tokens and money of a use. A price that a money budget cannot go by was refused before the call; if it has become
    /// one since, the call counts as it was reserved.
    fn cost(&self, hold: &Hold, usage: &Usage, estimated: bool) -> Spent {
        let mut spent = Spent::new().with_tokens(usage.total().unwrap_or(0));
        spent.estimated = estimated;
        match self.settings.budgets.price_of(&hold.model, usage) {
            Ok(Some(price)) => spent.with_money(&price),
            Ok(None) => spent,
            Err(_) => {
                spent.money.clone_from(&hold.attempt.money);
                spent.estimated = true;
                spent
            }
        }
    }

    /// Counts calls of tools that are about to run.
    pub(super) async fn spend_tools(&mut self, calls: usize) -> Result<Result<(), BudgetLimit>, LlmError> {
        if !self.settings.budgets.is_active() {
            return Ok(Ok(()));
        }
        let spent = Spent::new().with_tool_calls(u64::try_from(calls).unwrap_or(u64::MAX));
        if let Err(limit) = self.admit_spending(&spent, None) {
            return Ok(Err(limit));
        }
        if let Some(pool) = &self.settings.budgets.pool {
            match pool.reserve(&spent) {
                Ok(reservation) => reservation.settle(&spent),
                Err(resource) => return Ok(Err(BudgetLimit::new(Scope::Pool, resource))),
            }
        }
        self.record_spending(spent).await.map(Ok)
    }

    /// Counts the time since something was counted last.
    pub(super) async fn spend_time(&mut self) -> Result<(), LlmError> {
        if !self.settings.budgets.is_active() {
            return Ok(());
        }
        let spent = self.take_time();
        if spent.is_nothing() {
            return Ok(());
        }
        if let Some(pool) = &self.settings.budgets.pool {
            pool.spend(&spent);
        }
        self.record_spending(spent).await
    }

    async fn record_spending(&mut self, spent: Spent) -> Result<(), LlmError> {
        self.absorb(Outcome::Spent(spent)).await
    }

    fn elapsed(&self) -> Duration {
        self.clock.monotonic().saturating_sub(self.counted_until)
    }

    fn take_time(&mut self) -> Spent {
        let elapsed = self.elapsed();
        self.counted_until = self.counted_until.saturating_add(elapsed);
        Spent::new().with_time(elapsed)
    }

    /// How much time is left for what is done now, and whose it is.
    pub(super) fn time_left(&self, purpose: Purpose) -> Option<(Duration, BudgetLimit)> {
        if !self.settings.budgets.is_active() {
            return None;
        }
        let held_back = self.holds_back(purpose);
        let of = |scope, budget: &Budget, used: &Spent| {
            let budget = if held_back { &budget.before_wrap_up() } else { budget };
            let left = budget.time_left(used)?;
            Some((left, BudgetLimit::new(scope, Resource::Time)))
        };
        let own = self.own_budgets();
        let own = own.iter().filter_map(|(scope, budget, used)| of(*scope, budget, used));
        let pool = self.settings.budgets.pool.as_ref();
        let pool = pool.and_then(|pool| of(Scope::Pool, &pool.budget(), &self.with_elapsed(pool.spent())));
        own.chain(pool).min_by_key(|(left, _)| *left)
    }

    /// How much time is left for the newest turn, also when it has just ended.
    pub(super) fn time_left_of_turn(&self) -> Option<(Duration, BudgetLimit)> {
        let turn = self.machine.turn_spent().and_then(|used| {
            let left = self.settings.budgets.turn.time_left(&self.with_elapsed(used.clone()))?;
            Some((left, BudgetLimit::new(Scope::Turn, Resource::Time)))
        });
        let others = self.time_left(Purpose::WrapUp);
        turn.into_iter().chain(others).min_by_key(|(left, _)| *left)
    }

    /// Whether so much more fits the budgets of turn and cycle, with a margin for wrapping up.
    fn admit_spending(&self, more: &Spent, margin: Option<&Spent>) -> Result<(), BudgetLimit> {
        for (scope, budget, used) in self.own_budgets() {
            budget
                .admits_with(&used, more, margin)
                .map_err(|resource| BudgetLimit::new(scope, resource))?;
        }
        Ok(())
    }

    /// The budgets that nobody else spends from, and what is used of them by now.
    fn own_budgets(&self) -> Vec<(Scope, &Budget, Spent)> {
        let budgets = &self.settings.budgets;
        let turn = self.machine.turn_spent().filter(|_| self.machine.is_open());
        let turn = turn.map(|used| (Scope::Turn, &budgets.turn, used));
        let cycle = (Scope::Cycle, &budgets.cycle, self.machine.spent());
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

    /// Whether a part of the budgets is held back for a last reply.
    fn holds_back(&self, purpose: Purpose) -> bool {
        purpose != Purpose::WrapUp
            && self.machine.is_open()
            && self.machine.limits().at_round_limit == RoundLimit::WrapUp
    }
}

fn in_pool(resource: Resource) -> Refusal {
    Refusal::Limit(BudgetLimit::new(Scope::Pool, resource))
}

/// Waits until the time that is left is over; for ever where there is no limit.
pub(super) async fn out_of_time(clock: &dyn Clock, left: Option<(Duration, BudgetLimit)>) -> BudgetLimit {
    match left {
        Some((left, limit)) => {
            clock.sleep(left).await;
            limit
        }
        None => std::future::pending().await,
    }
}
