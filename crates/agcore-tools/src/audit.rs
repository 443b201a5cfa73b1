//! [`AuditSink`]: is told of every decision and every end of a call.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use serde::{Serialize, Serializer};

use crate::{
    arguments::Arguments,
    context::ToolContext,
    error::ToolErrorKind,
    permission::{Reason, Verdict},
};

/// Keeps audit records.
pub trait AuditSink: Send + Sync {
    /// Keeps a record, before the call goes on. Must not block: hand it to a queue or a log.
    fn record(&self, record: &AuditRecord<'_>);
}

/// A shared sink is a sink.
impl<S: AuditSink + ?Sized> AuditSink for Arc<S> {
    fn record(&self, record: &AuditRecord<'_>) {
        (**self).record(record);
    }
}

/// Who did what, when, and why. Borrows everything, so that a sink which keeps little costs little.
#[derive(Debug, Clone, Copy, Serialize)]
#[non_exhaustive]
pub struct AuditRecord<'a> {
    /// When, in milliseconds since 1970 when written.
    #[serde(rename = "at_ms", serialize_with = "unix_millis")]
    pub at: SystemTime,
    /// The session's id.
    pub session_id: &'a str,
    /// The id under which the run is traced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<&'a str>,
    /// On whose behalf.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<&'a str>,
    /// The call's id.
    pub call_id: &'a str,
    /// The tool's name.
    pub tool: &'a str,
    /// The arguments. They may hold secrets: it is the sink's part to leave them out.
    pub arguments: &'a Arguments,
    /// What happened.
    #[serde(flatten)]
    pub event: AuditEvent<'a>,
}

/// What happened to a call.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case", tag = "event")]
#[non_exhaustive]
pub enum AuditEvent<'a> {
    /// It was decided whether it may run.
    Decided {
        /// How.
        outcome: AuditOutcome,
        /// By whom.
        decider: Decider,
        /// What the rules said.
        verdict: Verdict,
        /// Which rule, in words.
        reason: Reason<'a>,
        /// Whether the arguments are not the model's own.
        edited: bool,
    },
    /// It has run.
    Finished {
        /// What went wrong, if anything.
        #[serde(serialize_with = "kind_name")]
        error: Option<ToolErrorKind>,
        /// How long it ran.
        #[serde(rename = "duration_us", serialize_with = "micros")]
        duration: Duration,
    },
}

/// How it was decided whether a call may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AuditOutcome {
    /// It may run.
    Allowed,
    /// It may not.
    Denied,
    /// It waits for an answer.
    Suspended,
}

/// Who decided whether a call may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decider {
    /// The rules alone.
    Rules,
    /// The rules would have asked, but there is nobody to ask.
    Nobody,
    /// A yes that was given before.
    Grant,
    /// A person.
    Person,
}

impl<'a> AuditRecord<'a> {
    /// A record of a call.
    pub(crate) fn new(
        context: &'a ToolContext,
        tool: &'a str,
        arguments: &'a Arguments,
        event: AuditEvent<'a>,
    ) -> Self {
        Self {
            at: context.clock().now(),
            session_id: context.session_id(),
            trace_id: context.trace_id().map(|id| &**id),
            actor: context.actor().map(|actor| &**actor),
            call_id: context.call_id(),
            tool,
            arguments,
            event,
        }
    }
}

fn unix_millis<S: Serializer>(at: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    serializer.serialize_u64(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

fn micros<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
}

fn kind_name<S: Serializer>(kind: &Option<ToolErrorKind>, serializer: S) -> Result<S::Ok, S::Error> {
    kind.map(ToolErrorKind::as_str).serialize(serializer)
}
