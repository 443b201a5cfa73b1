//! [`Engine`]: takes one call from the text that the model wrote to its end.

use std::{pin::pin, sync::Arc, time::Duration};

use agcore_chat::{ApprovalScope, Question, QuestionKind, Text, ToolWork};
use serde_json::Value;
use tracing::Instrument;

use super::{
    gate::{Admission, AdmissionRequest, Gate, check_edited},
    start::{CallStart, SavedCall},
};
use crate::{
    arguments::Arguments,
    context::{CallObservers, ToolContext},
    error::{ToolError, ToolErrorKind},
    layer::{BoxInvoke, Invoke, PreparedCall},
    output::{InputRequest, ToolOutput},
    panic::catch_panic,
    registry::{RegisteredTool, ToolSnapshot},
    schema::CompiledSchema,
};

/// Runs calls: checks them, asks for approval, and executes them.
pub(crate) struct Engine {
    pub(crate) snapshot: Arc<ToolSnapshot>,
    pub(crate) context: ToolContext,
    /// `None` for calls that the application makes itself.
    pub(crate) gate: Option<Gate>,
    pub(crate) invoke: BoxInvoke,
    pub(crate) max_concurrency: usize,
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
    approved: bool,
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
            let key = self.call.context.cancellation().run_until_cancelled(key).await;
            self.call.hold(key.ok_or_else(ToolError::cancelled)?);
        }
        Ok(())
    }

    /// Ends the call without running it.
    pub(super) fn refuse(self, error: ToolError) -> Box<Settlement> {
        let _guard = self.call.context.guard();
        self.settle(CallEnd::Refused(error), Duration::ZERO)
    }

    fn settle(self, end: CallEnd, duration: Duration) -> Box<Settlement> {
        let PreparedCall {
            tool,
            arguments,
            context,
            ..
        } = self.call;
        Box::new(Settlement {
            call_id: context.call_id().clone(),
            name: tool.name().clone(),
            arguments,
            end,
            duration,
        })
    }
}

/// A call that has ended.
#[derive(Debug)]
pub(crate) struct Settlement {
    pub(crate) call_id: Text,
    /// The name of the tool as the model wrote it.
    pub(crate) name: Text,
    /// The arguments that the call ran with, or would have.
    pub(crate) arguments: Arguments,
    pub(crate) end: CallEnd,
    pub(crate) duration: Duration,
}

/// The way in which a call ended.
#[derive(Debug)]
pub(crate) enum CallEnd {
    /// The tool returned an output.
    Output {
        output: ToolOutput,
        /// Whether a person approved the call.
        approved: bool,
        /// The number of the call's next question.
        next_question: u32,
    },
    /// The call waits for the answer to a question.
    Question(Box<Question>),
    /// The executor did not let the call run, or the run was cancelled.
    Refused(ToolError),
    /// The tool or a layer around it returned an error.
    Failed(ToolError),
}

impl Engine {
    /// Performs all checks that precede the execution of a call.
    pub(super) async fn prepare(&self, work: &mut ToolWork, observers: CallObservers) -> Prepared {
        let call_id = Text::from(work.call.id.as_str());
        let name = Text::from(work.call.name.as_str());
        let mut arguments = Arguments::new();
        let checked = catch_panic(&name, self.check_and_admit(work, &call_id, observers, &mut arguments)).await;
        let end = match checked.and_then(|checked| checked) {
            Ok(Admitted::Ready {
                tool,
                context,
                approved,
                next_question,
            }) => {
                let call = PreparedCall::new(tool, arguments, context);
                return Prepared::Ready(ReadyCall {
                    call,
                    approved,
                    next_question,
                });
            }
            Ok(Admitted::Question(question)) => CallEnd::Question(question),
            Err(error) => CallEnd::Refused(error),
        };
        Prepared::Settled(Box::new(Settlement {
            call_id,
            name,
            arguments,
            end,
            duration: Duration::ZERO,
        }))
    }

    /// Checks a call and passes it through the gate. Stores the arguments in `arguments` if they could be parsed.
    async fn check_and_admit(
        &self,
        work: &mut ToolWork,
        call_id: &Text,
        observers: CallObservers,
        arguments: &mut Arguments,
    ) -> Result<Admitted, ToolError> {
        let ValidCall {
            tool,
            context,
            edited,
            approval,
            next_question,
        } = match self.check(work, call_id, observers, arguments)? {
            Checked::Valid(call) => call,
            Checked::Question(question) => return Ok(Admitted::Question(question)),
        };
        let admission = match &self.gate {
            None => Admission::Run { approved: false },
            Some(gate) => {
                gate.admit(
                    AdmissionRequest {
                        tool,
                        context: &context,
                        edited,
                        approval,
                    },
                    arguments,
                )
                .await?
            }
        };
        Ok(match admission {
            Admission::Run { approved } => Admitted::Ready {
                tool: tool.clone(),
                context,
                approved,
                next_question,
            },
            Admission::Suspended(prompt) => {
                let saved = SavedCall::new(next_question, arguments.clone(), false, Value::Null);
                let question = Question::new(call_id.clone(), next_question, QuestionKind::Approval, prompt);
                Admitted::Question(Box::new(question.with_state(saved.into_state())))
            }
        })
    }

    /// Performs the checks that involve no person: the tool, the saved state, the answer, and the arguments.
    fn check(
        &self,
        work: &mut ToolWork,
        call_id: &Text,
        observers: CallObservers,
        arguments: &mut Arguments,
    ) -> Result<Checked<'_>, ToolError> {
        let tool = self.snapshot.find(&work.call.name)?;
        let start = CallStart::new(&work.call, work.resumed.take())?;
        let CallStart {
            edited,
            approval,
            next_question,
            ..
        } = start;
        *arguments = start.arguments;
        let answer = match start.answer.map(|answer| *answer) {
            None => None,
            Some((answer, question)) => match ask_again(&question, &answer.value, next_question) {
                Some(again) => return Ok(Checked::Question(Box::new(again))),
                None => Some(answer),
            },
        };
        if edited {
            check_edited(tool, arguments)?;
        } else {
            tool.check_arguments(arguments)?;
        }
        Ok(Checked::Valid(ValidCall {
            tool,
            context: self.context.for_call(call_id.clone(), observers, answer),
            edited,
            approval,
            next_question,
        }))
    }

    /// Executes a call.
    pub(super) async fn run(&self, ready: ReadyCall) -> Box<Settlement> {
        if self.context.cancellation().is_cancelled() {
            return ready.refuse(ToolError::cancelled());
        }
        let _guard = ready.call.context.guard();
        let (result, duration) = self.run_in_span(&ready.call).await;
        let end = match result {
            Ok(output) => CallEnd::Output {
                output,
                approved: ready.approved,
                next_question: ready.next_question,
            },
            Err(error) if error.kind() == ToolErrorKind::Cancelled && self.context.cancellation().is_cancelled() => {
                CallEnd::Refused(error)
            }
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
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.type = "function",
            gen_ai.tool.name = %call.tool.name(),
            gen_ai.tool.call.id = %call.context.call_id(),
        );
        // Pinned here and passed by reference: moved into `instrument`, the future would be stored twice.
        let work = pin!(self.invoke(call));
        let (result, duration) = work.instrument(span.clone()).await;
        if let Err(error) = &result {
            span.record("error.type", error.fault().kind.to_string());
            span.record("otel.status_code", "ERROR");
        }
        (result, duration)
    }

    /// Passes a call through the layers.
    async fn invoke(&self, call: &PreparedCall) -> (Result<ToolOutput, ToolError>, Duration) {
        let start = call.context.clock().monotonic();
        // Catches panics of the layers. Those of the tool are caught further in, where the layers see them as errors.
        let result = catch_panic(call.tool.name(), self.invoke.invoke(call)).await;
        (result.and_then(|result| result), call.context.worked_since(start))
    }

    /// Checks and executes one call.
    pub(crate) async fn settle(&self, mut work: ToolWork) -> Box<Settlement> {
        match self.prepare(&mut work, CallObservers::default()).await {
            Prepared::Ready(mut ready) => match ready.acquire_key().await {
                Ok(()) => self.run(ready).await,
                Err(error) => ready.refuse(error),
            },
            Prepared::Settled(settlement) => settlement,
        }
    }
}

/// A call after the checks that involve no person.
enum Checked<'a> {
    Valid(ValidCall<'a>),
    Question(Box<Question>),
}

/// A call whose arguments match the schema of its tool.
struct ValidCall<'a> {
    tool: &'a RegisteredTool,
    context: ToolContext,
    edited: bool,
    approval: Option<ApprovalScope>,
    next_question: u32,
}

/// A call after the gate.
enum Admitted {
    Ready {
        tool: RegisteredTool,
        context: ToolContext,
        approved: bool,
        next_question: u32,
    },
    Question(Box<Question>),
}

/// Creates the question of a tool that waits for input.
pub(super) fn input_question(
    call_id: &Text,
    arguments: Arguments,
    request: InputRequest,
    approved: bool,
    number: u32,
) -> Question {
    let InputRequest {
        prompt,
        schema,
        context,
    } = request;
    let mut question = Question::new(call_id.clone(), number, QuestionKind::Input, prompt);
    question.schema = schema;
    question.with_state(SavedCall::new(number, arguments, approved, context).into_state())
}

/// Returns the question again, with a new number, if the answer does not match its schema.
fn ask_again(question: &Question, value: &Value, number: u32) -> Option<Question> {
    // An invalid schema cannot be enforced: any answer is accepted.
    let violations = CompiledSchema::new(question.schema.as_ref()?)
        .ok()?
        .check(value)
        .err()?;
    let list = violations
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("; ");
    let prompt = format!(
        "{}\n(The previous answer did not have the required form: {list})",
        question.prompt
    );
    let mut again = Question::new(question.call_id.clone(), number, QuestionKind::Input, prompt);
    again.schema.clone_from(&question.schema);
    again.state.clone_from(&question.state);
    if let Some(state) = again.state.as_object_mut() {
        state.insert("number".to_owned(), number.into());
    }
    Some(again)
}
