//! [`Engine`]: takes one call from what the model wrote to its end.

use std::{pin::pin, sync::Arc, time::Duration};

use agcore_chat::{ApprovalScope, Question, QuestionKind, Text, ToolWork};
use serde_json::Value;
use tracing::Instrument;

use super::{
    gate::{Asking, Gate, Passed, check_edited},
    resume::{Beginning, Saved},
};
use crate::{
    arguments::Arguments,
    context::{ProgressSender, ToolContext},
    error::ToolError,
    layer::{BoxInvoke, Invoke, PreparedCall},
    output::{InputRequest, ToolOutput},
    panic::caught,
    registry::{RegisteredTool, ToolSnapshot},
    schema::Check,
};

/// Takes calls to their end.
pub(crate) struct Engine {
    pub(crate) snapshot: Arc<ToolSnapshot>,
    pub(crate) context: ToolContext,
    /// None for the application's own calls.
    pub(crate) gate: Option<Gate>,
    pub(crate) invoke: BoxInvoke,
    pub(crate) most_at_a_time: usize,
}

/// A call on its way.
pub(super) enum Prepared {
    /// It can run.
    Ready(ReadyCall),
    /// It has ended before it ran.
    Settled(Box<Settlement>),
}

/// A call that can run.
pub(super) struct ReadyCall {
    pub(super) call: PreparedCall,
    approved: bool,
    number: u32,
}

/// A call at its end.
#[derive(Debug)]
pub(crate) struct Settlement {
    pub(crate) call_id: Text,
    /// The tool's name as the model wrote it.
    pub(crate) name: Text,
    /// The arguments it ran with, or would have.
    pub(crate) arguments: Arguments,
    pub(crate) end: End,
    pub(crate) duration: Duration,
}

/// How a call ended.
#[derive(Debug)]
pub(crate) enum End {
    Output {
        output: ToolOutput,
        /// Whether a person had said yes to the call.
        approved: bool,
        /// The number of its next question.
        number: u32,
    },
    Asked(Box<Question>),
    Failed(ToolError),
}

impl Engine {
    /// Takes a call through all that comes before it runs.
    pub(super) async fn prepare(&self, work: &mut ToolWork, progress: Option<ProgressSender>) -> Prepared {
        let call_id = Text::from(work.call.id.as_str());
        let name = Text::from(work.call.name.as_str());
        let mut arguments = Arguments::new();
        let begun = caught(&name, self.begin(work, &call_id, progress, &mut arguments)).await;
        let end = match begun.and_then(|begun| begun) {
            Ok(Begun::Ready {
                tool,
                context,
                approved,
                number,
            }) => {
                let call = PreparedCall::new(tool, arguments, context);
                return Prepared::Ready(ReadyCall { call, approved, number });
            }
            Ok(Begun::Asked(question)) => End::Asked(question),
            Err(error) => End::Failed(error),
        };
        Prepared::Settled(Box::new(Settlement {
            call_id,
            name,
            arguments,
            end,
            duration: Duration::ZERO,
        }))
    }

    /// As [`prepare`](Self::prepare); leaves the arguments, as far as they could be read, in `arguments`.
    async fn begin(
        &self,
        work: &mut ToolWork,
        call_id: &Text,
        progress: Option<ProgressSender>,
        arguments: &mut Arguments,
    ) -> Result<Begun, ToolError> {
        let Fit {
            tool,
            context,
            edited,
            yes,
            number,
        } = match self.check(work, call_id, progress, arguments)? {
            Checked::Fit(fit) => fit,
            Checked::Asked(question) => return Ok(Begun::Asked(question)),
        };
        let passed = match &self.gate {
            None => Passed::Run { approved: false },
            Some(gate) => {
                gate.pass(
                    Asking {
                        tool,
                        context: &context,
                        edited,
                        yes,
                    },
                    arguments,
                )
                .await?
            }
        };
        Ok(match passed {
            Passed::Run { approved } => Begun::Ready {
                tool: tool.clone(),
                context,
                approved,
                number,
            },
            Passed::Suspended(prompt) => {
                let saved = Saved::new(number, arguments.clone(), false, Value::Null);
                let question = Question::new(call_id.clone(), number, QuestionKind::Approval, prompt);
                Begun::Asked(Box::new(question.with_state(saved.into_state())))
            }
        })
    }

    /// The part of it that waits for nobody.
    fn check(
        &self,
        work: &mut ToolWork,
        call_id: &Text,
        progress: Option<ProgressSender>,
        arguments: &mut Arguments,
    ) -> Result<Checked<'_>, ToolError> {
        let tool = self.snapshot.find(&work.call.name)?;
        let beginning = Beginning::read(&work.call, work.resumed.take())?;
        let Beginning {
            edited, yes, number, ..
        } = beginning;
        *arguments = beginning.arguments;
        let answer = match beginning.answer.map(|answer| *answer) {
            None => None,
            Some((answer, question)) => match ask_again(&question, &answer.value, number) {
                Some(again) => return Ok(Checked::Asked(Box::new(again))),
                None => Some(answer),
            },
        };
        if edited {
            check_edited(tool, arguments)?;
        } else {
            tool.check_arguments(arguments)?;
        }
        Ok(Checked::Fit(Fit {
            tool,
            context: self.context.for_call(call_id.clone(), progress, answer),
            edited,
            yes,
            number,
        }))
    }

    /// Runs a call.
    pub(super) async fn run(&self, ready: ReadyCall) -> Box<Settlement> {
        let ReadyCall { call, approved, number } = ready;
        let _over = call.context.guard();
        let (result, duration) = self.in_span(&call).await;
        let end = match result {
            Ok(output) => End::Output {
                output,
                approved,
                number,
            },
            Err(error) => End::Failed(error),
        };
        let PreparedCall {
            tool,
            arguments,
            context,
        } = call;
        Box::new(Settlement {
            call_id: context.call_id().clone(),
            name: tool.name().clone(),
            arguments,
            end,
            duration,
        })
    }

    /// Runs a call inside its span.
    async fn in_span(&self, call: &PreparedCall) -> (Result<ToolOutput, ToolError>, Duration) {
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
        // Lent, not given: there would be room for it twice.
        let work = pin!(self.in_turn(call));
        let (result, duration) = work.instrument(span.clone()).await;
        if let Err(error) = &result {
            span.record("error.type", error.fault().kind.to_string());
            span.record("otel.status_code", "ERROR");
        }
        (result, duration)
    }

    /// Runs a call when no other call of the registry has its concurrency key.
    async fn in_turn(&self, call: &PreparedCall) -> (Result<ToolOutput, ToolError>, Duration) {
        let _turn = match call.tool.turnstile() {
            None => None,
            Some(turnstile) => match call.context.cancellation().run_until_cancelled(turnstile.lock()).await {
                None => return (Err(ToolError::cancelled()), Duration::ZERO),
                turn => turn,
            },
        };
        let start = call.context.clock().monotonic();
        // The tool's own panic is caught further in, where the layers see it; this is for the layers themselves.
        let result = caught(call.tool.name(), self.invoke.invoke(call)).await;
        (result.and_then(|result| result), call.context.worked_since(start))
    }

    /// Takes one call all the way.
    pub(crate) async fn settle(&self, mut work: ToolWork) -> Box<Settlement> {
        match self.prepare(&mut work, None).await {
            Prepared::Ready(ready) => self.run(ready).await,
            Prepared::Settled(settlement) => settlement,
        }
    }
}

/// How far a call got before anybody is asked about it.
enum Checked<'a> {
    Fit(Fit<'a>),
    Asked(Box<Question>),
}

/// A call whose arguments match its tool.
struct Fit<'a> {
    tool: &'a RegisteredTool,
    context: ToolContext,
    edited: bool,
    yes: Option<ApprovalScope>,
    number: u32,
}

/// How far a call got before it runs.
enum Begun {
    Ready {
        tool: RegisteredTool,
        context: ToolContext,
        approved: bool,
        number: u32,
    },
    Asked(Box<Question>),
}

/// The question of a tool that waits for input.
pub(crate) fn input_question(
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
    question.with_state(Saved::new(number, arguments, approved, context).into_state())
}

/// The same question once more, when the answer does not have the form that was asked for.
fn ask_again(question: &Question, value: &Value, number: u32) -> Option<Question> {
    // A schema that is itself wrong asks nothing of the answer.
    let violations = Check::new(question.schema.as_ref()?).ok()?.check(value).err()?;
    let list = violations
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("; ");
    let prompt = format!(
        "{}\n(The last answer was not of the form that is needed: {list})",
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
