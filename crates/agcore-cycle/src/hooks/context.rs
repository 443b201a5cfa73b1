//! [`HookContext`]: what a hook can look at.

use std::{sync::Arc, time::Duration};

use agcore_chat::{ChatRequest, ChatResponse, Fault, Message};

/// What a hook can look at. Members are set where they make sense at the point that is told of.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct HookContext<'a> {
    /// The agent.
    pub agent: &'a str,
    /// The turn, from 0.
    pub turn: u32,
    /// The round within the turn, from 0.
    pub round: u32,
    /// What the turn began with; for [`turn_start`](super::Hook::turn_start).
    pub input: &'a [Arc<Message>],
    /// What the model is asked for; for all points of a request.
    pub purpose: Option<RequestPurpose>,
    /// The step of a plan, from 0.
    pub plan_step: Option<u32>,
    /// How that step ended; for [`plan_step`](super::Hook::plan_step).
    pub plan_step_end: Option<PlanStepEnd>,
    /// The attempt, from 0; for [`on_retry`](super::Hook::on_retry) the next one.
    pub attempt: u32,
    /// The request as it was sent.
    pub request: Option<&'a Arc<ChatRequest>>,
    /// The response; at the end of a turn the last one.
    pub response: Option<&'a ChatResponse>,
    /// How long the attempts of this call took, waits included.
    pub duration: Option<Duration>,
    /// Why an attempt, a call, a step or a turn failed.
    pub error: Option<&'a Fault>,
}

impl<'a> HookContext<'a> {
    /// What is told of an agent.
    pub fn new(agent: &'a str) -> Self {
        Self {
            agent,
            ..Self::default()
        }
    }

    /// Sets the step of a plan, and how it ended.
    pub fn with_plan_step(mut self, step: u32, end: PlanStepEnd) -> Self {
        (self.plan_step, self.plan_step_end) = (Some(step), Some(end));
        self
    }

    /// Sets why it failed.
    pub fn with_error(mut self, error: &'a Fault) -> Self {
        self.error = Some(error);
        self
    }
}

/// What a request asks the model for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RequestPurpose {
    /// The next message of the conversation.
    Reply,
    /// A summary that takes the place of the conversation's older part.
    Summary,
}

/// How a step of a plan ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PlanStepEnd {
    /// It was done.
    Completed,
    /// It could not be done.
    Failed,
    /// It was left out.
    Skipped,
}
