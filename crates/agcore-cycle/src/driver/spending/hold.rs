//! [`Hold`]: the reservation for a call before it is made, and its cost afterwards.

use std::{cmp::Reverse, time::SystemTime};

use agcore_chat::{AnsweredBy, AssistantMessage, ChatRequest, ChatResponse, Message, Money, PriceQuery, Text, Usage};
use agcore_llm::LlmProvider;

use super::{Refusal, Spending, holds_back, shortage_in, total};
use crate::{
    budget::{BudgetShortage, DrawError, Learnt, MIN_REPLY_TOKENS, PriceError, Reservation, Spent},
    machine::{Machine, Purpose},
};

/// The reservation for one call of a model. Dropping it returns what a pool set aside for it.
pub(in crate::driver) struct Hold {
    /// The dearest route that the call may take.
    dearest: AnsweredBy,
    /// The service tier of the request.
    tier: Option<String>,
    /// The time at which the request was sent.
    at: SystemTime,
    /// The estimated tokens of the request.
    input: u64,
    /// The worst case of one attempt.
    attempt: Spent,
    /// The worst case of all attempts.
    worst: Spent,
    reservation: Option<Reservation>,
    /// The amount that was drawn from a budget that is kept elsewhere.
    drawn: Option<Reservation>,
    /// The token limit to add to the request.
    pub(in crate::driver) token_limit: Option<u64>,
    /// Whether it is unknown that the model accepts a limit of this size.
    pub(in crate::driver) is_limit_a_guess: bool,
}

/// A call of a model that is about to be made.
#[derive(Clone, Copy)]
pub(in crate::driver) struct PlannedCall<'c> {
    pub(in crate::driver) request: &'c ChatRequest,
    /// The estimated tokens of the request.
    pub(in crate::driver) input: u64,
    pub(in crate::driver) purpose: Purpose,
    pub(in crate::driver) provider: &'c dyn LlmProvider,
    /// The assumed length of the reply if nothing limits it, in tokens.
    pub(in crate::driver) default_output: u64,
    /// The token limits that the server of the model has reported.
    pub(in crate::driver) learnt: Learnt,
    /// The time at which it is sent.
    pub(in crate::driver) at: SystemTime,
}

/// The longest reply of a call.
#[derive(Clone, Copy)]
struct Reply {
    /// The most that is worth reserving.
    most: u64,
    /// The least that is useful; the same if it cannot be changed.
    least: u64,
    /// Whether the request gets it as its token limit.
    is_sent: bool,
    /// Whether it is unknown that the model accepts it.
    is_guess: bool,
}

/// The highest cost of a call.
struct Costs {
    attempt: Spent,
    /// The cost of a reply that wraps up after it.
    margin: Option<Spent>,
    dearest: AnsweredBy,
}

impl PlannedCall<'_> {
    /// Returns the highest expected number of tokens of the request: the estimate is accurate to 15 %.
    fn worst_input(&self) -> u64 {
        self.input.saturating_add(self.input.saturating_mul(15).div_ceil(100))
    }

    /// Returns how long the reply may be.
    fn reply(&self, is_limited: bool) -> Reply {
        let fixed = |most| Reply {
            most,
            least: most,
            is_sent: false,
            is_guess: false,
        };
        if let Some(limit) = self.request.token_limit() {
            return fixed(limit);
        }
        let (mut wanted, mut most) = (None::<u64>, self.learnt.output.unwrap_or(u64::MAX));
        let mut is_guess = self.learnt.output.is_none();
        self.provider.visit_routes(&self.request.model, &mut |route| {
            let capabilities = route.capabilities;
            let own = capabilities.default_output_tokens.or(capabilities.max_output_tokens);
            wanted = wanted.max(Some(own.unwrap_or(self.default_output)));
            most = most.min(capabilities.max_output_tokens.unwrap_or(u64::MAX));
            is_guess &= own.is_none();
            if let Some(window) = self.learnt.window.or(capabilities.context_window) {
                most = most.min(window.saturating_sub(self.worst_input()).max(MIN_REPLY_TOKENS));
            }
        });
        let most = wanted.unwrap_or(self.default_output).min(most);
        if !is_limited {
            return fixed(most);
        }
        Reply {
            most,
            least: most.min(MIN_REPLY_TOKENS),
            is_sent: true,
            is_guess,
        }
    }
}

impl Spending<'_> {
    /// Reserves the worst case of a call. Returns `None` if there are no budgets.
    pub(in crate::driver) fn reserve(
        &self,
        machine: &Machine,
        call: PlannedCall<'_>,
    ) -> Result<Option<Box<Hold>>, Refusal> {
        if !self.is_active() {
            return Ok(None);
        }
        let reply = call.reply(self.limits_replies());
        let mut output = reply.most;
        loop {
            let costs = self.costs(machine, call, output).map_err(Refusal::Price)?;
            match self.try_reserve(machine, &costs) {
                Ok(reservation) => {
                    return Ok(Some(Box::new(Hold {
                        dearest: costs.dearest,
                        tier: call.request.service_tier.clone(),
                        at: call.at,
                        input: call.input,
                        worst: costs.attempt.clone(),
                        attempt: costs.attempt,
                        reservation,
                        drawn: None,
                        token_limit: reply.is_sent.then_some(output),
                        is_limit_a_guess: reply.is_guess,
                    })));
                }
                // Another turn may have reserved something meanwhile, so this may happen more than once.
                Err(_) if output > reply.least => output = self.lower(machine, call, reply, output)?,
                Err(mut shortage) => {
                    shortage.input_tokens = call.worst_input();
                    shortage.output_tokens = output;
                    return Err(Refusal::Shortage(shortage));
                }
            }
        }
    }

    /// Returns the highest useful limit of the reply below `output` that fits, or the lowest if none does.
    fn lower(&self, machine: &Machine, call: PlannedCall<'_>, reply: Reply, output: u64) -> Result<u64, Refusal> {
        let fits = |output| {
            let costs = self.costs(machine, call, output).map_err(Refusal::Price)?;
            Ok(self.check(machine, &costs))
        };
        // One call should not take all that is left if a usual reply fits.
        if (reply.least..output).contains(&call.default_output) && fits(call.default_output)? {
            return Ok(call.default_output);
        }
        let (mut fitting, mut too_high) = (reply.least, output);
        if !fits(fitting)? {
            return Ok(fitting);
        }
        while too_high - fitting > 1 {
            let middle = fitting + (too_high - fitting) / 2;
            if fits(middle)? {
                fitting = middle;
            } else {
                too_high = middle;
            }
        }
        Ok(fitting)
    }

    /// Returns what a call costs at most if its reply has this many tokens.
    fn costs(&self, machine: &Machine, call: PlannedCall<'_>, output: u64) -> Result<Costs, PriceError> {
        let (input, choices) = (call.worst_input(), u64::from(call.request.n.unwrap_or(1).max(1)));
        let output = output.saturating_mul(choices);
        let (attempt, dearest) = self.dearest(call, input, output)?;
        // The reply of this call is part of the request that wraps up. The length of tool results is unknown.
        let margin = if holds_back(machine, call.purpose) {
            Some(self.dearest(call, input.saturating_add(output), output)?.0)
        } else {
            None
        };
        Ok(Costs {
            attempt,
            margin,
            dearest,
        })
    }

    /// Returns the highest cost of these tokens on any route that the call may take, and that route.
    fn dearest(&self, call: PlannedCall<'_>, input: u64, output: u64) -> Result<(Spent, AnsweredBy), PriceError> {
        let (mut highest, mut dearest) = (Spent::new(), None);
        let (mut failed, none) = (None, Usage::default());
        let currency = self.shared_currency();
        call.provider.visit_routes(&call.request.model, &mut |route| {
            let query = PriceQuery::new(route.model, &none, call.at)
                .with_provider(route.provider)
                .with_key(route.key)
                .with_service_tier(call.request.service_tier.as_deref());
            match self.budgets.worst_case(query, input, output, currency.as_ref()) {
                Ok(cost) => {
                    if dearest.is_none() || cost.money > highest.money {
                        let mut who = AnsweredBy::new(Text::from(route.provider), Text::from(route.model));
                        who.key = route.key.map(Text::from);
                        dearest = Some(who);
                    }
                    highest.raise_to(&cost);
                }
                Err(error) => failed = failed.take().or(Some(error)),
            }
        });
        match failed {
            Some(error) => Err(error),
            None => Ok((highest, dearest.unwrap_or_else(|| AnsweredBy::new("", "")))),
        }
    }

    fn try_reserve(&self, machine: &Machine, costs: &Costs) -> Result<Option<Reservation>, Box<BudgetShortage>> {
        let (attempt, margin) = (&costs.attempt, costs.margin.as_ref());
        self.admit(machine.account(), attempt, margin)?;
        let Some(pool) = &self.budgets.pool else {
            return Ok(None);
        };
        let reserved = pool.reserve_with(attempt, margin);
        reserved
            .map(Some)
            .map_err(|resource| shortage_in(pool, resource, &total(attempt, margin)))
    }

    fn check(&self, machine: &Machine, costs: &Costs) -> bool {
        let (attempt, margin) = (&costs.attempt, costs.margin.as_ref());
        let pool = self.budgets.pool.as_ref();
        self.admit(machine.account(), attempt, margin).is_ok()
            && pool.is_none_or(|pool| pool.admits(attempt, margin).is_ok())
    }

    /// Reserves the worst case once more: a paid attempt was lost, and another one starts.
    pub(in crate::driver) fn reserve_again(
        &self,
        machine: &Machine,
        hold: &mut Hold,
    ) -> Result<(), Box<BudgetShortage>> {
        let both = total(&hold.worst, Some(&hold.attempt));
        self.admit(machine.account(), &both, None)?;
        if let (Some(reservation), Some(pool)) = (&mut hold.reservation, &self.budgets.pool) {
            let grown = reservation.grow(&hold.attempt);
            grown.map_err(|resource| shortage_in(pool, resource, &hold.attempt))?;
        }
        hold.worst = both;
        Ok(())
    }

    /// Draws the highest cost of a call from the budget that is kept elsewhere. If it does not fit, shorter replies are tried,
    /// unless the request has a limit of its own.
    pub(in crate::driver) async fn draw(
        &self,
        machine: &Machine,
        call: PlannedCall<'_>,
        hold: &mut Hold,
    ) -> Result<(), Refusal> {
        let Some(shared) = self.shared else {
            return Ok(());
        };
        let longest = hold.token_limit.unwrap_or(0);
        let shorter = [call.default_output, MIN_REPLY_TOKENS].into_iter();
        let mut shorter: Vec<u64> = shorter.filter(|output| *output < longest).collect();
        shorter.sort_unstable_by_key(|output| Reverse(*output));
        let mut wanted = vec![hold.attempt.clone()];
        for output in &shorter {
            wanted.push(self.costs(machine, call, *output).map_err(Refusal::Price)?.attempt);
        }
        let (index, drawn) = shared.reserve(&wanted).await.map_err(Refusal::Draw)?;
        if let Some(output) = index.checked_sub(1).and_then(|index| shorter.get(index)) {
            hold.token_limit = Some(*output);
            hold.attempt = drawn.amount().clone();
            hold.worst = hold.attempt.clone();
        }
        hold.drawn = Some(drawn);
        Ok(())
    }

    /// Draws the highest cost once more, after the same was [reserved](Self::reserve_again).
    pub(in crate::driver) async fn draw_again(&self, hold: &mut Hold) -> Result<(), DrawError> {
        match (self.shared, &mut hold.drawn) {
            (Some(shared), Some(drawn)) => shared.grow(drawn, &hold.attempt).await,
            _ => Ok(()),
        }
    }

    /// Counts the real cost of a call and its time, and returns both.
    pub(in crate::driver) fn settle(&mut self, hold: Hold, mut cost: Spent) -> Spent {
        if let Some(reservation) = hold.reservation {
            reservation.settle(&cost);
        }
        if let Some(drawn) = hold.drawn {
            drawn.settle(&cost);
        }
        cost.add(&self.take_elapsed());
        cost
    }

    /// Returns the cost of an attempt: of a whole answer, of the part that had arrived, or of the request alone.
    pub(in crate::driver) fn cost_of(&self, hold: &Hold, answer: Option<&ChatResponse>, is_whole: bool) -> Spent {
        let Some(answer) = answer else {
            return self.cost(hold, None, &Usage::new(hold.input, 0), true);
        };
        let reported = answer.usage.clone().unwrap_or_default();
        let written = || {
            let choices = answer.choices.iter();
            choices.map(|choice| self.reply_tokens(&choice.message)).sum()
        };
        if reported.total().is_none() {
            let usage = Usage {
                prompt_tokens: reported.prompt_tokens.or(Some(hold.input)),
                completion_tokens: reported.completion_tokens.or_else(|| Some(written())),
                ..reported
            };
            return self.cost(hold, Some(answer), &usage, true);
        }
        // Some servers report usage at the start, before most of the reply is written.
        let written = if is_whole { 0 } else { written() };
        let known = reported.completion_tokens.unwrap_or(0);
        if written <= known {
            return self.cost(hold, Some(answer), &reported, false);
        }
        let usage = Usage {
            completion_tokens: Some(written),
            total_tokens: reported.total().map(|total| total.saturating_add(written - known)),
            ..reported
        };
        self.cost(hold, Some(answer), &usage, true)
    }

    fn reply_tokens(&self, message: &AssistantMessage) -> u64 {
        self.estimator.message(&Message::Assistant(message.clone()))
    }

    /// Returns the tokens and money of a use. Calls whose price a money budget cannot use were refused before; if the price
    /// has become unusable since, the call counts as it was reserved.
    fn cost(&self, hold: &Hold, answer: Option<&ChatResponse>, usage: &Usage, estimated: bool) -> Spent {
        let mut spent = Spent::new().with_tokens(usage.total().unwrap_or(0)).with_model_calls(1);
        spent.estimated = estimated;
        match self.price(hold, answer, usage) {
            Ok(Some(price)) => spent.with_money(&price),
            Ok(None) => spent,
            Err(_) => {
                spent.money.clone_from(&hold.attempt.money);
                spent.estimated = true;
                spent
            }
        }
    }

    /// Returns the price of a use by the provider that answered. If that is not known, the dearest route counts.
    fn price(&self, hold: &Hold, answer: Option<&ChatResponse>, usage: &Usage) -> Result<Option<Money>, PriceError> {
        let who = answer.and_then(|answer| answer.answered_by.as_ref());
        let who = who.unwrap_or(&hold.dearest);
        let tier = answer.and_then(|answer| answer.service_tier.as_deref());
        let query = |model| {
            PriceQuery::new(model, usage, hold.at)
                .with_provider(&who.provider)
                .with_key(who.key.as_deref())
                .with_service_tier(tier.or(hold.tier.as_deref()))
        };
        let replied = answer.and_then(|answer| answer.model.as_deref());
        let replied = replied.filter(|model| !model.is_empty() && **model != *who.model);
        let currency = self.shared_currency();
        let price_of = |model| self.budgets.price_of(query(model), currency.as_ref());
        if let Some(Ok(Some(price))) = replied.map(price_of) {
            return Ok(Some(price));
        }
        match price_of(&who.model) {
            Ok(Some(price)) => Ok(Some(price)),
            unknown => match self.budgets.reported_cost(usage, currency.as_ref()) {
                Some(cost) => Ok(Some(cost)),
                None => unknown,
            },
        }
    }
}
