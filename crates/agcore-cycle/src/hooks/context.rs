//! [`HookContext`]: the information that hooks receive.

use std::{sync::Arc, time::Duration};

use agcore_chat::{ChatRequest, ChatResponse, Fault, Message};

/// The information that hooks receive. Which fields are set depends on the point.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct HookContext<'a> {
    /// The name of the agent.
    pub agent: &'a str,
    /// The id of the session for which the turn runs, if there is one. Sub-agents have that of the session in which they were
    /// asked.
    pub session: Option<&'a str>,
    /// The index of the turn, from 0.
    pub turn: u32,
    /// The round within the turn, from 0.
    pub round: u32,
    /// The messages that the turn adds. Set at [`turn_start`](crate::Hook::turn_start).
    pub input: &'a [Arc<Message>],
    /// The purpose of the request. Set at all points of a request.
    pub purpose: Option<RequestPurpose>,
    /// The index of the plan step, from 0. Set at [`plan_step`](crate::Hook::plan_step).
    pub plan_step: Option<u32>,
    /// How that step ended.
    pub plan_step_end: Option<PlanStepEnd>,
    /// The number of the attempt, from 0; at [`on_retry`](crate::Hook::on_retry) that of the next one.
    pub attempt: u32,
    /// The request as it was sent.
    pub request: Option<&'a Arc<ChatRequest>>,
    /// The response; at the end of a turn, the last one.
    pub response: Option<&'a ChatResponse>,
    /// The time that the attempts of this call took so far, including waits.
    pub duration: Option<Duration>,
    /// The reason why an attempt, a call, a step or a turn failed.
    pub error: Option<&'a Fault>,
}

impl<'a> HookContext<'a> {
    /// Creates a context for the agent of this name.
    pub fn new(agent: &'a str) -> Self {
        Self {
            agent,
            ..Self::default()
        }
    }

    /// Sets the step of a plan, and how it ended.
    #[must_use]
    pub fn with_plan_step(mut self, step: u32, end: PlanStepEnd) -> Self {
        (self.plan_step, self.plan_step_end) = (Some(step), Some(end));
        self
    }

    /// Sets the reason of a failure.
    #[must_use]
    pub fn with_error(mut self, error: &'a Fault) -> Self {
        self.error = Some(error);
        self
    }
}

/// The purpose of a request to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RequestPurpose {
    /// The next message of the conversation.
    Reply,
    /// A summary that replaces the older part of the conversation.
    Summary,
}

/// The end of a step of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PlanStepEnd {
    /// The step was completed.
    Completed,
    /// The step failed.
    Failed,
    /// The step was skipped.
    Skipped,
}
