//! [`AuditSink`]: receives a record of every decision about a call and of every call that ends.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use agcore_chat::{Actor, ApprovalScope};
use serde::{Serialize, Serializer};

use crate::{
    arguments::Arguments,
    context::ToolContext,
    error::ToolErrorKind,
    grants::Grant,
    permission::{Reason, Verdict},
};

/// Receives audit records.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use agcore_chat::{ToolCall, ToolWork};
/// use agcore_tools::{AuditRecord, AuditSink, NoArguments, SystemClock, ToolContext, ToolError, ToolRegistry, typed};
///
/// #[derive(Default)]
/// struct Log(Mutex<Vec<String>>);
///
/// impl AuditSink for Log {
///     fn record(&self, record: &AuditRecord<'_>) {
///         let event = serde_json::to_value(record.event).unwrap();
///         self.0.lock().unwrap().push(format!("{} {}", record.tool, event["event"]));
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let log = Arc::new(Log::default());
/// let tools = ToolRegistry::new();
/// tools.register(typed("ping", "Pings.", |_: NoArguments| async { Ok("pong") }))?;
/// let context = ToolContext::builder(Arc::new(SystemClock::new())).build();
/// let executor = tools.executor(context).with_audit(log.clone()).build()?;
///
/// executor.settle(ToolWork::new(ToolCall::function("call_1", "ping", "{}"))).await;
/// assert_eq!(*log.0.lock().unwrap(), [r#"ping "decided""#, r#"ping "finished""#]);
/// # Ok(())
/// # }
/// ```
pub trait AuditSink: Send + Sync {
    /// Records an event. The call waits until this returns, so it must not block: pass the record to a queue or a log.
    fn record(&self, record: &AuditRecord<'_>);
}

impl<S: AuditSink + ?Sized> AuditSink for Arc<S> {
    fn record(&self, record: &AuditRecord<'_>) {
        (**self).record(record);
    }
}

/// A record of an event: who called what, when, and why it was allowed or denied.
///
/// It borrows all its data, so a sink pays only for the fields it keeps.
#[derive(Debug, Clone, Copy, Serialize)]
#[non_exhaustive]
pub struct AuditRecord<'a> {
    /// The time of the event; serialized as milliseconds since the Unix epoch.
    #[serde(rename = "at_ms", serialize_with = "unix_millis")]
    pub at: SystemTime,
    /// The id of the session.
    pub session_id: &'a str,
    /// The id under which the run is traced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<&'a str>,
    /// The actor on whose behalf the run was started.
    pub actor: &'a Actor,
    /// The id of the call.
    pub call_id: &'a str,
    /// The name of the tool.
    pub tool: &'a str,
    /// The arguments. They may contain secrets; redacting them is up to the sink.
    pub arguments: &'a Arguments,
    /// The event.
    #[serde(flatten)]
    pub event: AuditEvent<'a>,
}

/// An event in the life of a call.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case", tag = "event")]
#[non_exhaustive]
pub enum AuditEvent<'a> {
    /// The call was refused before a decision was made: there is no such tool, the arguments are unreadable or invalid,
    /// a guard refused arguments that a person edited, or the run was cancelled first.
    Refused {
        /// The kind of failure.
        #[serde(serialize_with = "one_kind_name")]
        error: ToolErrorKind,
        /// The reason, in words.
        message: &'a str,
    },
    /// A decision was made on whether the call may run.
    Decided {
        /// The decision.
        outcome: AuditOutcome,
        /// The party that made the decision.
        decider: Decider,
        /// The verdict of the rules.
        verdict: Verdict,
        /// The rule that led to the verdict, in words.
        reason: Reason<'a>,
        /// Whether a person edited the arguments.
        edited: bool,
        /// How long a person's approval is valid.
        #[serde(skip_serializing_if = "Option::is_none")]
        scope: Option<ApprovalScope>,
        /// The grant that covers the call, or that an approval adds.
        #[serde(skip_serializing_if = "Option::is_none")]
        grant: Option<&'a Grant>,
        /// The name of the person who approved or denied the call, if the approver or the answer contains it.
        #[serde(skip_serializing_if = "Option::is_none")]
        approver: Option<&'a str>,
        /// The words of the person who denied the call.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<&'a str>,
        /// The id of the question that a suspended call asks, or whose answer decided. It is the id that the executor
        /// gave the question, and unique for the calls of a conversation.
        #[serde(skip_serializing_if = "Option::is_none")]
        question: Option<&'a str>,
    },
    /// The call ran and ended.
    Finished {
        /// The kind of failure, if the call failed.
        #[serde(serialize_with = "kind_name")]
        error: Option<ToolErrorKind>,
        /// How long the call ran, without the time it waited for people; serialized in microseconds.
        #[serde(rename = "duration_us", serialize_with = "micros")]
        duration: Duration,
    },
}

/// The decision on whether a call may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AuditOutcome {
    /// The call may run.
    Allowed,
    /// The call must not run.
    Denied,
    /// The call waits for an answer.
    Suspended,
}

/// The party that decided whether a call may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decider {
    /// The rules alone.
    Rules,
    /// The rules require approval, but there is no approver.
    #[serde(rename = "nobody")]
    NoApprover,
    /// A person's earlier approval, remembered as a grant.
    Grant,
    /// A person.
    Person,
}

impl<'a> AuditRecord<'a> {
    /// Creates a record of an event of a call.
    pub(crate) fn new(
        context: &'a ToolContext,
        call_id: &'a str,
        tool: &'a str,
        arguments: &'a Arguments,
        event: AuditEvent<'a>,
    ) -> Self {
        Self {
            at: context.clock().now(),
            session_id: context.session_id(),
            trace_id: context.trace_id().map(|id| &**id),
            actor: context.actor(),
            call_id,
            tool,
            arguments,
            event,
        }
    }
}

/// Passes a record to a sink. Returns whether the sink accepted it; a panic is logged.
pub(crate) fn record(sink: &dyn AuditSink, record: &AuditRecord<'_>) -> bool {
    let recorded = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| sink.record(record)));
    if recorded.is_err() {
        tracing::error!(call_id = record.call_id, tool = record.tool, "an audit sink panicked");
    }
    recorded.is_ok()
}

fn unix_millis<S: Serializer>(at: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    serializer.serialize_u64(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

fn micros<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
}

fn one_kind_name<S: Serializer>(kind: &ToolErrorKind, serializer: S) -> Result<S::Ok, S::Error> {
    kind.as_str().serialize(serializer)
}

fn kind_name<S: Serializer>(kind: &Option<ToolErrorKind>, serializer: S) -> Result<S::Ok, S::Error> {
    kind.map(ToolErrorKind::as_str).serialize(serializer)
}
