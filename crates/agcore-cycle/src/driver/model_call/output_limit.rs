//! Token limits that a server refuses: a limit that agcore chose itself is lowered, and the call is made again.

use std::{sync::Arc, time::Duration};

use agcore_chat::{Fault, ModelEvent};
use agcore_llm::{LlmError, LlmErrorKind, wire::failure::OutputLimit};

use super::{InFlight, ModelCall, Unread};
use crate::{
    budget::{Learnt, MIN_REPLY_TOKENS},
    driver::environment::{Environment, Scene},
    recorder::RecordedFailure,
};

/// The limit that is tried if a server refuses a higher one and does not say which it accepts. All current models accept it, but
/// servers may be set up with less: then half of what was refused is tried.
const SAFE_LIMIT: u64 = 4_096;

/// The lowest limit that is tried without being named.
const LEAST_GUESS: u64 = 1_024;

/// The number of times that the limit of one call is lowered: several providers may refuse it one after the other.
const MAX_LOWERED: u32 = 3;

/// The attempts to lower the limit of a call so far.
#[derive(Default)]
struct Lowering {
    count: u32,
    /// The refusal that did not say why.
    unexplained: Option<LlmError>,
    /// The limit of the model, which is known if the next attempt succeeds.
    guess: Option<Learnt>,
    /// Whether it was lowered to what the account can pay for.
    is_by_credit: bool,
}

impl Lowering {
    /// Returns the error of the call: that of its last attempt, unless that was made without a reason.
    fn error(self, last: LlmError) -> LlmError {
        self.unexplained.unwrap_or(last)
    }
}

impl ModelCall<'_> {
    /// Sends the request and reads the reply, which becomes the last one. Sends it again if the server refuses a token limit
    /// that the application did not set.
    pub(in crate::driver) async fn read_reply(
        &mut self,
        scene: Scene<'_>,
        in_flight: &mut InFlight,
    ) -> Result<(), Unread> {
        let mut lowering = Lowering::default();
        loop {
            let error = match self.read_attempt(scene, in_flight).await {
                Err(Unread::Failed(error)) => error,
                read => {
                    if let Some(guess) = lowering.guess.filter(|_| read.is_ok()) {
                        learn(scene.environment, in_flight, guess);
                    }
                    return read;
                }
            };
            match self.lower_limit(scene.environment, in_flight, error, &mut lowering) {
                // Boxed because it is rarely needed.
                Ok(fault) => Box::pin(self.repeat(scene, in_flight, fault)).await,
                Err(error) => return Err(Unread::Failed(lowering.error(error))),
            }
        }
    }

    /// Lowers the token limit of a call that was refused because of it, so that the call can be made again. A limit that the
    /// application set is never changed.
    ///
    /// # Errors
    /// The error itself, if another limit would not help.
    fn lower_limit(
        &mut self,
        environment: &Environment<'_>,
        call: &mut InFlight,
        error: LlmError,
        lowering: &mut Lowering,
    ) -> Result<Fault, LlmError> {
        let is_settled = call.has_own_limit || error.partial().is_some() || RecordedFailure::is_source_of(&error);
        if is_settled || lowering.count == MAX_LOWERED {
            return Err(error);
        }
        let is_guess = self.hold.as_ref().is_some_and(|hold| hold.is_limit_a_guess);
        let Some((limit, reason)) = accepted(&error, call.request.token_limit(), is_guess) else {
            return Err(error);
        };
        if reason == Reason::Credit && lowering.is_by_credit {
            return Err(error);
        }
        let fault = error.fault();
        lowering.count += 1;
        (lowering.unexplained, lowering.guess) = (None, None);
        match reason {
            Reason::Named(learnt) => learn(environment, call, learnt),
            Reason::Guessed(learnt) => lowering.guess = Some(learnt),
            Reason::Hidden => lowering.unexplained = Some(error),
            Reason::Credit => lowering.is_by_credit = true,
        }
        Arc::make_mut(&mut call.request).max_completion_tokens = Some(limit);
        if let Some(hold) = &mut self.hold {
            (hold.token_limit, hold.is_limit_a_guess) = (Some(limit), false);
        }
        Ok(fault)
    }

    /// Reports that a refused call is made again.
    async fn repeat(&mut self, scene: Scene<'_>, call: &mut InFlight, fault: Fault) {
        self.flight.fold.restart();
        self.hold_back(self.spending.now());
        self.flight.rest();
        let attempt = call.attempt.saturating_add(1);
        self.start_attempt(scene, call, attempt, &fault).await;
        let delay = Duration::ZERO;
        scene.send(ModelEvent::RetryScheduled { attempt, delay, fault }).await;
    }
}

/// Remembers the limits that the server of a call's model has reported.
fn learn(environment: &Environment<'_>, call: &InFlight, learnt: Learnt) {
    let (provider, model) = environment.asked(call.purpose, &call.request.model);
    environment.settings.learnt.learn(provider, model, learnt);
}

/// Why a lower limit may be accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// The server has named it.
    Named(Learnt),
    /// The server has refused a higher one without naming one.
    Guessed(Learnt),
    /// The server has not stated why it refused the request.
    Hidden,
    /// The account can pay for it, which has nothing to do with the model.
    Credit,
}

/// Returns the limit to try after a refusal, and why. If the refusal was not about the limit, another one is worth trying only if
/// the one that was sent was a guess.
fn accepted(error: &LlmError, sent: Option<u64>, is_guess: bool) -> Option<(u64, Reason)> {
    let Some(refusal) = OutputLimit::of(error, sent) else {
        // Gateways hide the reason, and servers invent words.
        let is_vague = error.kind() == LlmErrorKind::InvalidRequest && matches!(error.status(), Some(400 | 422));
        return (is_vague && is_guess && sent.is_some_and(|sent| sent > SAFE_LIMIT))
            .then_some((SAFE_LIMIT, Reason::Hidden));
    };
    let guess = || match sent {
        Some(sent) if sent <= SAFE_LIMIT => (sent / 2).max(LEAST_GUESS),
        _ => SAFE_LIMIT,
    };
    let limit = refusal.at_most.unwrap_or_else(guess);
    // A prompt that leaves too little must become shorter, and an answer of a few tokens is useless.
    let is_scarce = refusal.window.is_some() || refusal.is_by_credit;
    let is_useful = !is_scarce || limit >= MIN_REPLY_TOKENS;
    let is_lower = sent.is_none_or(|sent| limit < sent);
    let learnt = Learnt {
        output: refusal.window.is_none().then_some(limit),
        window: refusal.window,
        is_needed: sent.is_none(),
    };
    let reason = match refusal.at_most {
        _ if refusal.is_by_credit => Reason::Credit,
        Some(_) => Reason::Named(learnt),
        None => Reason::Guessed(learnt),
    };
    (is_useful && is_lower).then_some((limit, reason))
}
