//! [`InFlight`]: a call of the model that is in flight. [`Unread`]: the reason its reply was not read to the end.

use std::{sync::Arc, time::Duration};

use agcore_chat::{ChatRequest, Fault, FaultKind};
use agcore_llm::{Call, LlmError};

use crate::{
    budget::{BudgetLimit, BudgetShortage, DrawError},
    driver::{
        environment::{Environment, Scene},
        hooks::request_purpose,
        spending::Refusal,
    },
    hooks::HookContext,
    machine::Purpose,
};

/// A call of the model that is in flight.
pub(in crate::driver) struct InFlight {
    pub(in crate::driver) request: Arc<ChatRequest>,
    pub(in crate::driver) purpose: Purpose,
    /// When it began, if there are hooks.
    started: Duration,
    /// The number of the attempt, from 0.
    pub(super) attempt: u32,
    /// Whether the application set the token limit of the request.
    pub(super) has_own_limit: bool,
}

/// The reason a reply was not read to its end.
pub(in crate::driver) enum Unread {
    Failed(LlmError),
    /// The time is over.
    Limit(BudgetLimit),
    /// A budget has too little left for another attempt.
    Shortage(Box<BudgetShortage>),
    /// A budget that is kept elsewhere has too little left for another attempt, or cannot be used.
    Draw(DrawError),
}

impl InFlight {
    pub(in crate::driver) fn new(environment: &Environment<'_>, request: Arc<ChatRequest>, purpose: Purpose) -> Self {
        // Only hooks need the time.
        let has_hooks = !environment.hooks.is_empty();
        let now = has_hooks.then(|| environment.clock.monotonic());
        Self {
            has_own_limit: request.token_limit().is_some(),
            request,
            purpose,
            started: now.unwrap_or_default(),
            attempt: 0,
        }
    }

    /// Returns what hooks see of the call.
    pub(super) fn context<'c>(&'c self, scene: Scene<'c>) -> HookContext<'c> {
        let now = scene.environment.clock.monotonic();
        HookContext {
            purpose: Some(request_purpose(self.purpose)),
            request: Some(&self.request),
            attempt: self.attempt,
            duration: Some(now.saturating_sub(self.started)),
            ..scene.environment.context(scene.machine)
        }
    }

    /// Limits the reply of a call that would get a limit from elsewhere, which the server is known to refuse.
    pub(super) fn limit_reply(&mut self, environment: &Environment<'_>) {
        if self.has_own_limit {
            return;
        }
        let learnt = environment.learnt(self.purpose, &self.request.model);
        if let Some(limit) = learnt.output.filter(|_| learnt.is_needed) {
            Arc::make_mut(&mut self.request).max_completion_tokens = Some(limit);
        }
    }

    /// Returns the call for the provider.
    pub(super) fn call(&self, environment: &Environment<'_>, deadline: Option<Duration>) -> Call {
        let options = environment.options;
        let mut call = Call::cancellable(Arc::clone(&self.request), options.token.clone());
        call.stream = options.stream;
        call.deadline = deadline;
        call.trace.clone_from(&options.trace);
        call.actor.clone_from(&options.actor);
        call.stop_check.clone_from(&options.stop_check);
        call
    }
}

impl Unread {
    pub(in crate::driver) fn fault(&self) -> Fault {
        match self {
            Self::Failed(error) => error.fault(),
            Self::Limit(limit) => Fault::new(FaultKind::Limit, Refusal::Limit(*limit).message()),
            Self::Shortage(shortage) => Fault::new(FaultKind::Limit, shortage.to_string()),
            Self::Draw(DrawError::Short { message, .. }) => Fault::new(FaultKind::Limit, message.as_str()),
            Self::Draw(DrawError::Failed(fault)) => fault.clone(),
        }
    }
}
