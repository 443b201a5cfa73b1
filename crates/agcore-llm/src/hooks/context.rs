//! [`HookContext`]: what a hook can look at.

use std::{sync::Arc, time::Duration};

use agcore_chat::{ChatRequest, ChatResponse, Fault};

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
    /// The step of a plan, from 0.
    pub plan_step: Option<u32>,
    /// The attempt, from 0; for [`on_retry`](super::Hook::on_retry) the next one.
    pub attempt: u32,
    /// The request as it was sent.
    pub request: Option<&'a Arc<ChatRequest>>,
    /// The response.
    pub response: Option<&'a ChatResponse>,
    /// How long the attempts of this call took, waits included.
    pub duration: Option<Duration>,
    /// Why an attempt, a call or a turn failed.
    pub error: Option<&'a Fault>,
}
