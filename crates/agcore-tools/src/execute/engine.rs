//! [`Engine`]: takes one call from what the model wrote to its end.

use std::{sync::Arc, time::Duration};

use agcore_chat::{Question, QuestionKind, Text, ToolWork};
use serde_json::Value;
use tracing::Instrument;

use super::{
    gate::{Asking, Gate, Passed, check_edited},
    resume::{Beginning, Saved},
};
use crate::{
    arguments::Arguments,
    context::{InputAnswer, ProgressSender, ToolContext},
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
    Ready(Box<ReadyCall>),
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
    Asked(Question),
    Failed(ToolError),
}

impl Engine {
    /// Takes a call through all that comes before it runs.
    pub(super) async fn prepare(&self, work: ToolWork, progress: Option<ProgressSender>) -> Prepared {
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
                return Prepared::Ready(Box::new(ReadyCall { call, approved, number }));
            }
            Ok(Begun::Asked(question)) => End::Asked(*question),
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
        work: ToolWork,
        call_id: &Text,
        progress: Option<ProgressSender>,
        arguments: &mut Arguments,
    ) -> Result<Begun, ToolError> {
        let tool = self.snapshot.find(&work.call.name)?;
        let beginning = Beginning::read(&work.call, work.resumed)?;
        let Beginning {
            edited,
            yes,
            answer,
            number,
            ..
        } = beginning;
        *arguments = beginning.arguments;
        if let Some((InputAnswer { value, .. }, question)) = &answer
            && let Some(again) = ask_again(question, value, number)
        {
            return Ok(Begun::Asked(Box::new(again)));
        }
        if edited {
            check_edited(tool, arguments)?;
        } else {
            tool.check_arguments(arguments)?;
        }
        let context = self
            .context
            .for_call(call_id.clone(), progress, answer.map(|(answer, _)| answer));
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

    /// Runs a call.
    pub(super) async fn run(&self, ready: Box<ReadyCall>) -> Box<Settlement> {
        let ReadyCall { call, approved, number } = *ready;
        let _over = call.context.guard();
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
        let (result, duration) = self.in_turn(&call).instrument(span.clone()).await;
        if let Err(error) = &result {
            span.record("error.type", error.fault().kind.to_string());
            span.record("otel.status_code", "ERROR");
        }
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
    pub(crate) async fn settle(&self, work: ToolWork) -> Box<Settlement> {
        match self.prepare(work, None).await {
            Prepared::Ready(ready) => self.run(ready).await,
            Prepared::Settled(settlement) => settlement,
        }
    }
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
