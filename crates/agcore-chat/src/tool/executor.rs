//! [`ToolExecutor`]: the contract by which the agent loop runs tools without knowing any registry.

use std::{fmt, pin::Pin, sync::Arc, time::Duration};

use futures_core::Stream;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    content::Content,
    fault::Fault,
    small_text::Text,
    tool::{
        Tool,
        call::ToolCall,
        question::{Answer, Question},
    },
};

/// Runs the tool calls of a model's reply.
///
/// ```
/// use std::{sync::Arc, time::Duration};
///
/// use agcore_chat::{Tool, ToolCall, ToolDefinition, ToolExecutor, ToolOutcome, ToolReport, ToolReports, ToolWork};
/// use futures_util::{StreamExt, stream};
/// use serde_json::json;
///
/// /// An executor whose only tool always rolls a four.
/// struct Dice;
///
/// impl ToolExecutor for Dice {
///     fn definitions(&self) -> Arc<[Tool]> {
///         Arc::new([ToolDefinition::new("dice", "Rolls a die.", json!({"type": "object"})).into()])
///     }
///
///     fn execute(&self, work: Vec<ToolWork>) -> ToolReports {
///         Box::pin(stream::iter(work).map(|work| {
///             let outcome = match work.call.name.as_str() {
///                 "dice" => ToolOutcome::done("4"),
///                 _ => ToolOutcome::error("unknown tool"),
///             };
///             ToolReport::settled(work.call.id.as_str(), outcome, Duration::ZERO)
///         }))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let work = vec![ToolWork::new(ToolCall::function("call_1", "dice", "{}"))];
/// let reports: Vec<_> = Dice.execute(work).collect().await;
/// let [ToolReport::Settled { outcome, .. }] = &reports[..] else { panic!() };
/// assert_eq!(*outcome, ToolOutcome::done("4"));
/// # }
/// ```
pub trait ToolExecutor: Send + Sync {
    /// Returns the tools that the model may call, in a stable order. The list is the same on every call.
    fn definitions(&self) -> Arc<[Tool]>;

    /// Runs a batch of calls and reports their progress: any number of [`ToolReport::Progress`] and
    /// [`ToolReport::Waiting`], and exactly one [`ToolReport::Settled`] for each call when it ends. The stream ends after
    /// the last of them.
    ///
    /// The executor decides which calls run concurrently and enforces its own timeouts. A call of a tool that is not
    /// among the [`definitions`](Self::definitions) settles with an error result. Dropping the stream cancels the calls
    /// that are still running.
    fn execute(&self, work: Vec<ToolWork>) -> ToolReports;

    /// Returns whether the executor reports [`ToolReport::Began`] before a call runs.
    ///
    /// If it does not, which is the default, every call of a batch counts as started as soon as the batch is executed: if
    /// the process dies or the turn is cancelled while the call waits for an approval, its outcome is unknown.
    fn reports_begin(&self) -> bool {
        false
    }

    /// Returns whether all of these calls begin, side by side, as soon as the batch is polled: no person is asked, no other call
    /// is waited for, and [`ToolReport::Began`] is the first report about each.
    ///
    /// The begin of such calls is stored together with the reply that made them, which saves a write for each round of tools.
    /// `false`, the default, is always correct.
    fn begins_at_once(&self, work: &[ToolWork]) -> bool {
        let _ = work;
        false
    }

    /// Returns whether a call may run again if it is unknown whether it took effect: its tool changes nothing, or a second call
    /// with the same id and arguments has no further effect. Calls of other tools are left to a person.
    ///
    /// `false`, the default, is always correct.
    fn is_repeatable(&self, call: &ToolCall) -> bool {
        let _ = call;
        false
    }
}

/// A stream of the reports of one batch of calls.
pub type ToolReports = Pin<Box<dyn Stream<Item = ToolReport> + Send>>;

/// A call to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolWork {
    /// The call, as the model wrote it.
    pub call: Arc<ToolCall>,
    /// The question that the call asked when it ran before, and the answer to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed: Option<Box<(Question, Answer)>>,
    /// Checks the call again if a person edits its arguments. Not saved.
    #[serde(skip)]
    pub guard: Option<ToolGuard>,
}

impl ToolWork {
    /// Creates work for a call that runs for the first time.
    pub fn new(call: impl Into<Arc<ToolCall>>) -> Self {
        Self {
            call: call.into(),
            resumed: None,
            guard: None,
        }
    }

    /// Creates work for a call that continues after its question was answered.
    pub fn resumed(call: impl Into<Arc<ToolCall>>, question: Question, answer: Answer) -> Self {
        Self {
            call: call.into(),
            resumed: Some(Box::new((question, answer))),
            guard: None,
        }
    }

    /// Sets the check that edited arguments must pass.
    #[must_use]
    pub fn with_guard(mut self, guard: ToolGuard) -> Self {
        self.guard = Some(guard);
        self
    }
}

/// Checks a call whose arguments a person has edited, before it runs: the guardrails that saw the call of the model
/// have not seen these arguments.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::{ToolCall, ToolGuard, ToolOutcome};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let guard = ToolGuard::new(|call| async move {
///     if call.raw_input().contains("/etc") {
///         return Err(ToolOutcome::error("Nothing below /etc may be changed."));
///     }
///     Ok(())
/// });
/// let edited = ToolCall::function("call_1", "write", r#"{"path": "/etc/passwd"}"#);
/// assert!(guard.check(Arc::new(edited)).await.is_err());
/// # }
/// ```
#[derive(Clone)]
pub struct ToolGuard(Arc<dyn Fn(Arc<ToolCall>) -> GuardFuture + Send + Sync>);

/// The future of a [`ToolGuard`]. An error is the outcome with which the call ends instead of running.
pub type GuardFuture = Pin<Box<dyn Future<Output = Result<(), ToolOutcome>> + Send>>;

impl ToolGuard {
    /// Creates a guard from an async function.
    pub fn new<F, R>(check: F) -> Self
    where
        F: Fn(Arc<ToolCall>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), ToolOutcome>> + Send + 'static,
    {
        Self(Arc::new(move |call| Box::pin(check(call))))
    }

    /// Checks a call.
    ///
    /// # Errors
    /// The outcome with which the call ends instead of running.
    pub fn check(&self, call: Arc<ToolCall>) -> GuardFuture {
        (self.0)(call)
    }
}

impl fmt::Debug for ToolGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ToolGuard")
    }
}

/// Two guards are equal if they are clones of each other.
impl PartialEq for ToolGuard {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A report of an executor about a call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ToolReport {
    /// These calls are about to run: they passed all checks, and no person has to be asked. The executor does not run
    /// them before its stream is polled again, so that the report can be stored first.
    Began {
        /// The ids of the calls.
        calls: Vec<Text>,
    },
    /// A call starts or stops waiting for a person: for an approval, for an approval of another call that is asked about
    /// first, or for something else that its tool awaits. Reported only if the wait does not end at once.
    ///
    /// A batch only waits for people while at least one call waits and every call that [began](Self::Began) either
    /// waits or has settled. This time does not count towards any time limit.
    Waiting {
        /// The call's id.
        call_id: Text,
        /// Whether the call waits from now on.
        waiting: bool,
    },
    /// A running call reports its progress.
    Progress {
        /// The call's id.
        call_id: Text,
        /// The progress so far.
        progress: Progress,
    },
    /// A call has ended.
    Settled {
        /// The call's id.
        call_id: Text,
        /// How the call ended.
        outcome: ToolOutcome,
        /// How long it ran, not counting the time it waited for a person.
        duration: Duration,
        /// The arguments with which it ran, as JSON, if a person edited those of the call.
        input: Option<Text>,
    },
}

impl ToolReport {
    /// Creates the report of a call that has ended, with the arguments of the model.
    pub fn settled(call_id: impl Into<Text>, outcome: ToolOutcome, duration: Duration) -> Self {
        Self::Settled {
            call_id: call_id.into(),
            outcome,
            duration,
            input: None,
        }
    }
}

/// The progress of a running call.
///
/// ```
/// use agcore_chat::Progress;
///
/// assert_eq!(Progress::message("downloading").message.as_deref(), Some("downloading"));
/// assert_eq!(Progress::amount(3.0, Some(10.0)).total, Some(10.0));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Progress {
    /// How much is done, in a unit of the tool's choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<f64>,
    /// How much there is to do, in the same unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// A description of the current step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Text>,
    /// A part of the output that is available before the call ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Value>,
}

impl Progress {
    /// Creates a report of the current step.
    pub fn message(message: impl Into<Text>) -> Self {
        Self {
            message: Some(message.into()),
            ..Self::default()
        }
    }

    /// Creates a report of the amount done, and of the total amount if known.
    pub fn amount(done: f64, total: Option<f64>) -> Self {
        Self {
            done: Some(done),
            total,
            ..Self::default()
        }
    }

    /// Creates a report with a part of the output.
    pub fn part(part: Value) -> Self {
        Self {
            part: Some(part),
            ..Self::default()
        }
    }
}

/// The outcome of a call.
///
/// ```
/// use agcore_chat::{Question, QuestionKind, ToolOutcome};
///
/// let done = ToolOutcome::done("It is sunny.");
/// assert!(matches!(&done, ToolOutcome::Done(result) if result.content.text() == "It is sunny."));
///
/// let ask = ToolOutcome::ask(Question::new("call_1", 0, QuestionKind::Input, "Which city?"));
/// assert!(matches!(&ask, ToolOutcome::Ask(question) if question.id.to_string() == "call_1?0"));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolOutcome {
    /// The call has a result for the model, which may be an error.
    Done(ToolResult),
    /// The call cannot continue until a question is answered.
    Ask(Box<Question>),
    /// The call ends the turn because another agent takes over (a handoff).
    Divert {
        /// The result that is recorded in the history.
        content: Content,
        /// Data for the layer above, which carries out the handoff.
        data: Value,
    },
    /// The call failed in a way that ends the turn.
    Fatal(Fault),
}

impl ToolOutcome {
    /// Creates a successful result.
    pub fn done(content: impl Into<Content>) -> Self {
        Self::Done(ToolResult::new(content))
    }

    /// Creates a question that the call needs answered.
    pub fn ask(question: Question) -> Self {
        Self::Ask(Box::new(question))
    }

    /// Creates an error result, which is sent to the model.
    pub fn error(content: impl Into<Content>) -> Self {
        Self::Done(ToolResult::error(content))
    }
}

/// The result of a call.
///
/// ```
/// use agcore_chat::ToolResult;
/// use serde_json::json;
///
/// let result = ToolResult::new("20 °C").with_display(json!({"icon": "sun"}));
/// assert_eq!(result.content.text(), "20 °C");
/// assert!(!result.is_error);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// The content that is sent to the model.
    pub content: Content,
    /// Whether the call failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// Data for observers, such as display hints; never sent to a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display: Option<Box<Value>>,
}

impl ToolResult {
    /// Creates a successful result.
    pub fn new(content: impl Into<Content>) -> Self {
        Self {
            content: content.into(),
            is_error: false,
            display: None,
        }
    }

    /// Creates an error result, which is sent to the model.
    pub fn error(content: impl Into<Content>) -> Self {
        Self {
            content: content.into(),
            is_error: true,
            display: None,
        }
    }

    /// Sets the data for observers.
    #[must_use]
    pub fn with_display(mut self, display: Value) -> Self {
        self.display = Some(Box::new(display));
        self
    }
}
