//! [`Engine`]: takes one call from the text that the model wrote to its end.

use std::{pin::pin, sync::Arc, time::Duration};

use agcore_chat::{Question, Text, ToolCall, ToolOutcome, ToolWork};
use agcore_trace::{CancelGuard, attribute, operation};
use tracing::Instrument;

use super::{
    admission::{Admission, AdmissionRequest, Rejection},
    gate::{Gate, check_edited},
    question::ask_again,
    start::{CallStart, PersonDecision, Resumed},
};
use crate::{
    arguments::Arguments,
    context::{CallObserver, ToolContext},
    error::{ToolError, ToolErrorKind},
    layer::{BoxInvoke, PreparedCall, Statistics},
    output::ToolOutput,
    panic::catch_panic,
    registry::{RegisteredTool, ToolSnapshot},
    session::ToolSession,
};

/// Runs calls: checks them, asks for approval, and executes them.
pub(crate) struct Engine {
    pub(crate) snapshot: Arc<ToolSnapshot>,
    pub(crate) context: ToolContext,
    pub(crate) session: ToolSession,
    /// `None` for calls that the application makes itself.
    pub(crate) gate: Option<Gate>,
    /// The layers around a tool.
    pub(crate) invoke: Statistics<BoxInvoke>,
    pub(crate) max_concurrency: usize,
}

/// The run that a call belongs to.
#[derive(Clone, Copy)]
pub(crate) struct Caller<'a> {
    pub(crate) context: &'a ToolContext,
    pub(crate) session: &'a ToolSession,
}

/// A call after everything that happens before it runs.
pub(super) enum Prepared {
    /// The call can run.
    Ready(ReadyCall),
    /// The call ended without running.
    Settled(Box<Settlement>),
}

/// A call that can run.
pub(super) struct ReadyCall {
    pub(super) call: PreparedCall,
    /// The call, as the model wrote it.
    original: Arc<ToolCall>,
    admitted: AdmittedAs,
}

/// The facts about a call that may run.
#[derive(Debug, Clone, Copy)]
struct AdmittedAs {
    /// Whether a person approved the call.
    approved: bool,
    /// Whether its arguments are not those of the call, because a person edited them.
    changed: bool,
    /// The number of the call's next question.
    next_question: u32,
}

impl ReadyCall {
    /// Waits until no other call in the registry uses the concurrency key of the tool.
    ///
    /// # Errors
    /// When the call is cancelled meanwhile.
    pub(super) async fn acquire_key(&mut self) -> Result<(), ToolError> {
        if let Some(lock) = self.call.tool.key_lock() {
            let key = Arc::clone(lock).lock_owned();
            let key = self.call.context.run_cancellation().run_until_cancelled(key).await;
            self.call.hold(key.ok_or_else(ToolError::cancelled)?);
        }
        Ok(())
    }

    fn settle(self, end: impl FnOnce(RegisteredTool) -> CallEnd, duration: Duration) -> Settlement {
        let PreparedCall {
            tool,
            arguments,
            context,
            ..
        } = self.call;
        Settlement {
            call_id: context.call_id().clone(),
            name: tool.name().clone(),
            call: self.original,
            arguments,
            changed: self.admitted.changed,
            end: end(tool),
            duration,
        }
    }
}

/// A call that has ended.
#[derive(Debug)]
pub(crate) struct Settlement {
    pub(crate) call_id: Text,
    /// The name of the tool as the model wrote it.
    pub(crate) name: Text,
    /// The call, as the model wrote it.
    pub(crate) call: Arc<ToolCall>,
    /// The arguments that the call ran with, or would have.
    pub(crate) arguments: Arguments,
    /// Whether the arguments are not those of the call, because a person edited them.
    pub(crate) changed: bool,
    pub(crate) end: CallEnd,
    pub(crate) duration: Duration,
}

/// The way in which a call ended.
#[derive(Debug)]
pub(crate) enum CallEnd {
    /// The tool returned an output.
    Output {
        output: ToolOutput,
        tool: RegisteredTool,
        /// Whether a person approved the call.
        approved: bool,
        /// The number of the call's next question.
        next_question: u32,
    },
    /// The call waits for the answer to a question.
    Question(Box<Question>),
    /// A guard refused the arguments that a person edited.
    Guarded(Box<ToolOutcome>),
    /// The executor did not let the call run, or the run was cancelled.
    Refused(ToolError),
    /// The tool or a layer around it returned an error.
    Failed(ToolError),
}

impl Engine {
    /// Returns the run for which the engine was made.
    pub(crate) fn caller(&self) -> Caller<'_> {
        Caller {
            context: &self.context,
            session: &self.session,
        }
    }

    /// Performs all checks that precede the execution of a call.
    pub(super) async fn prepare(
        &self,
        caller: Caller<'_>,
        mut work: ToolWork,
        observer: Option<Arc<dyn CallObserver>>,
    ) -> Prepared {
        let call_id = Text::from(work.call.id.as_str());
        let name = Text::from(work.call.name.as_str());
        let mut arguments = Arguments::new();
        let checked = catch_panic(
            &name,
            self.check_and_admit(caller, &mut work, &call_id, observer, &mut arguments),
        )
        .await;
        let end = match checked.unwrap_or_else(|panic| Err(panic.into())) {
            Ok(Admitted::Ready {
                tool,
                context,
                admitted,
            }) => {
                return Prepared::Ready(ReadyCall {
                    call: PreparedCall::new(tool, arguments, context),
                    original: work.call,
                    admitted,
                });
            }
            Ok(Admitted::Question(question)) => CallEnd::Question(question),
            Err(Rejection::Decided(error)) => CallEnd::Refused(error),
            Err(Rejection::Failed(error)) => {
                self.record_refusal(caller.context, &work.call, &arguments, &error);
                CallEnd::Refused(error)
            }
            Err(Rejection::Guarded(outcome)) => {
                let reason = match &outcome {
                    ToolOutcome::Done(result) => result.content.text(),
                    _ => "a guard refused the edited arguments".into(),
                };
                let error = ToolError::new(ToolErrorKind::PermissionDenied, reason);
                self.record_refusal(caller.context, &work.call, &arguments, &error);
                CallEnd::Guarded(Box::new(outcome))
            }
        };
        Prepared::Settled(Box::new(Settlement {
            call_id,
            name,
            call: work.call,
            arguments,
            changed: false,
            end,
            duration: Duration::ZERO,
        }))
    }

    /// Checks a call and passes it through the gate. Stores the arguments in `arguments` if they could be parsed.
    async fn check_and_admit(
        &self,
        caller: Caller<'_>,
        work: &mut ToolWork,
        call_id: &Text,
        observer: Option<Arc<dyn CallObserver>>,
        arguments: &mut Arguments,
    ) -> Result<Admitted, Rejection> {
        let tool = self.snapshot.find(&work.call.name)?;
        let mut start = CallStart::new(&work.call, tool.name(), work.resumed.take())?;
        start.check_client(tool)?;
        *arguments = start.arguments;
        let answer = start.resumed.as_mut().and_then(|resumed| resumed.answer.take());
        if let (Some(answer), Some(resumed)) = (&answer, &start.resumed)
            && resumed.question.state.get("forwarded").is_none()
            && let Some(again) = ask_again(&resumed.question, &answer.value, start.next_question)
        {
            return Ok(Admitted::Question(Box::new(again)));
        }
        let context = caller
            .context
            .for_call(call_id.clone(), observer, answer, caller.session);
        let request = AdmissionRequest {
            tool,
            context: &context,
            session: caller.session,
            call: &work.call,
            guard: work.guard.as_ref(),
            resumed: start.resumed.as_deref(),
            next_question: start.next_question,
        };
        let admission = self.admit(request, arguments).await?;
        let changed = start.resumed.as_ref().is_some_and(|resumed| resumed.changed);
        Ok(match admission {
            Admission::Run { approved, edited } => Admitted::Ready {
                tool: tool.clone(),
                context,
                admitted: AdmittedAs {
                    approved,
                    changed: changed || edited,
                    next_question: start.next_question,
                },
            },
            Admission::Suspended(question) => Admitted::Question(question),
        })
    }

    /// Checks the arguments and passes the call through the gate.
    async fn admit(&self, request: AdmissionRequest<'_>, arguments: &mut Arguments) -> Result<Admission, Rejection> {
        let AdmissionRequest { tool, resumed, .. } = request;
        if let Some(Resumed {
            decision: Some(PersonDecision::Denied { message, approver }),
            ..
        }) = resumed
        {
            return Err(match &self.gate {
                Some(gate) => gate.denied_by_person(request, arguments, message, approver.as_ref()),
                None => ToolError::denied_by_person(tool.name(), message).into(),
            });
        }
        if resumed.is_some_and(|resumed| resumed.edited) {
            check_edited(tool, arguments)?;
        } else {
            tool.check_arguments(arguments)?;
        }
        match &self.gate {
            None => Ok(Admission::Run {
                approved: false,
                edited: false,
            }),
            Some(gate) => gate.admit(request, arguments).await,
        }
    }

    /// Records that a call was refused before a decision about it was made, or before it ran.
    fn record_refusal(&self, context: &ToolContext, call: &ToolCall, arguments: &Arguments, error: &ToolError) {
        if let Some(gate) = &self.gate {
            gate.refused(context, call, arguments, error);
        }
    }

    /// Ends a call that may run without running it.
    pub(super) fn refuse(&self, ready: ReadyCall, error: ToolError) -> Settlement {
        let _guard = ready.call.context.guard();
        self.record_refusal(&ready.call.context, &ready.original, &ready.call.arguments, &error);
        ready.settle(|_| CallEnd::Refused(error), Duration::ZERO)
    }

    /// Executes a call.
    pub(super) async fn run(&self, ready: ReadyCall) -> Settlement {
        if ready.call.context.must_stop() {
            return self.refuse(ready, ToolError::cancelled());
        }
        let _guard = ready.call.context.guard();
        let (result, duration) = self.run_in_span(&ready.call).await;
        let is_cancelled =
            matches!(&result, Err(error) if error.kind() == ToolErrorKind::Cancelled) && ready.call.context.must_stop();
        let AdmittedAs {
            approved,
            next_question,
            ..
        } = ready.admitted;
        let end = |tool| match result {
            Ok(output) => CallEnd::Output {
                output,
                tool,
                approved,
                next_question,
            },
            Err(error) if is_cancelled => CallEnd::Refused(error),
            Err(error) => CallEnd::Failed(error),
        };
        ready.settle(end, duration)
    }

    /// Executes a call in its tracing span.
    async fn run_in_span(&self, call: &PreparedCall) -> (Result<ToolOutput, ToolError>, Duration) {
        let span = tracing::info_span!(
            "execute_tool",
            // Names: <https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/#execute-tool-span>.
            otel.name = format!("execute_tool {}", call.tool.name()),
            otel.kind = "internal",
            otel.status_code = tracing::field::Empty,
            error.type = tracing::field::Empty,
            gen_ai.operation.name = operation::EXECUTE_TOOL,
            gen_ai.tool.type = "function",
            gen_ai.tool.name = %call.tool.name(),
            gen_ai.tool.call.id = %call.context.call_id(),
            gen_ai.tool.call.arguments = tracing::field::Empty,
            gen_ai.tool.call.result = tracing::field::Empty,
            // Recorded by tools of MCP servers.
            mcp.method.name = tracing::field::Empty,
        );
        let guard = CancelGuard::new(&span);
        // Pinned here and passed by reference: moved into `instrument`, the future would be stored twice.
        let work = pin!(self.invoke.measure(call));
        let (result, duration) = work.instrument(span.clone()).await;
        guard.finish();
        if let Err(error) = &result {
            span.record(attribute::ERROR_TYPE, error.fault().kind.to_string());
            span.record(attribute::OTEL_STATUS_CODE, "ERROR");
        }
        (result, duration)
    }

    /// Returns whether these calls begin when their batch is polled first: the rules alone allow them, and none of them waits
    /// for another.
    pub(crate) fn begins_at_once(&self, work: &[ToolWork]) -> bool {
        let is_alone = work.len() == 1;
        let begins = |work: &ToolWork| {
            let Some(tool) = self.snapshot.get(&work.call.name).filter(|_| work.resumed.is_none()) else {
                return false;
            };
            let is_free = tool.key_lock().is_none() && (is_alone || tool.annotations().destructive != Some(true));
            is_free && self.gate.as_ref().is_none_or(|gate| gate.allows(tool, &work.call))
        };
        work.len() <= self.max_concurrency && work.iter().all(begins)
    }

    /// Checks and executes one call.
    pub(crate) async fn settle(&self, caller: Caller<'_>, work: ToolWork) -> Settlement {
        match self.prepare(caller, work, None).await {
            Prepared::Ready(mut ready) => match ready.acquire_key().await {
                Ok(()) => self.run(ready).await,
                Err(error) => self.refuse(ready, error),
            },
            Prepared::Settled(settlement) => *settlement,
        }
    }
}

/// A call after the gate.
enum Admitted {
    Ready {
        tool: RegisteredTool,
        context: ToolContext,
        admitted: AdmittedAs,
    },
    Question(Box<Question>),
}
