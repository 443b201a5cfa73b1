//! [`InputRequest`]: a question of a tool to a person or another agent.

use agcore_chat::{Question, QuestionKind};
use serde_json::Value;

/// A question of a tool to a person or another agent.
///
/// The turn is suspended until it is answered. The answer arrives with the next execution of the same call, in
/// [`ToolContext::answer`](crate::ToolContext::answer).
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::{Answer, ToolCall, ToolOutcome, ToolWork};
/// use agcore_tools::{InputRequest, NoArguments, SystemClock, ToolContext, ToolError, ToolOutput, ToolRegistry, typed};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let tools = ToolRegistry::new();
/// tools.register(typed("book", "Books a room.", |_: NoArguments, context: ToolContext| async move {
///     Ok(match context.answer() {
///         None => ToolOutput::awaiting_input(InputRequest::new("For which day?")),
///         Some(answer) => ToolOutput::text(format!("booked for {}", answer.value)),
///     })
/// }))?;
/// let executor = tools.executor(ToolContext::builder(Arc::new(SystemClock::new())).build()).build()?;
///
/// let call = ToolCall::function("call_1", "book", "{}");
/// let (ToolOutcome::Ask(question), _) = executor.settle(ToolWork::new(call.clone())).await else { panic!() };
/// assert_eq!(question.prompt, "For which day?");
///
/// let answered = ToolWork::resumed(call, *question, Answer::Value("Monday".into()));
/// assert_eq!(executor.settle(answered).await.0, ToolOutcome::done(r#"booked for "Monday""#));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct InputRequest {
    /// The question.
    pub prompt: String,
    /// JSON Schema of the answer, if it must have a certain form.
    pub schema: Option<Value>,
    /// Data that the tool gets back with the answer. It is saved with the question, so it must not contain secrets.
    pub context: Value,
    /// The question of a call that the tool itself runs, if it passes that on. See [`forwarding`](Self::forwarding).
    pub question: Option<Box<Question>>,
    /// The kind of answer: [`Input`](QuestionKind::Input), or [`Client`](QuestionKind::Client) for a
    /// [`ClientTool`](crate::ClientTool).
    pub kind: QuestionKind,
}

impl InputRequest {
    /// Creates a question without a schema or context.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self {
            prompt: prompt.into(),
            schema: None,
            context: Value::Null,
            question: None,
            kind: QuestionKind::Input,
        }
    }

    /// Passes on the question of a call that the tool itself runs, for example within a turn of another agent. A person sees that
    /// question: its kind, tool and arguments. The id and the call are those of this tool's call. Whatever the answer is, an
    /// approval, a denial or a value, this tool receives it: [`InputAnswer::to_answer`](crate::InputAnswer::to_answer) returns it.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use agcore_chat::{Answer, Question, QuestionKind, ToolCall, ToolOutcome, ToolWork};
    /// use agcore_tools::{
    ///     InputRequest, NoArguments, SystemClock, ToolContext, ToolError, ToolOutput, ToolRegistry, typed,
    /// };
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), ToolError> {
    /// let tools = ToolRegistry::new();
    /// tools.register(typed("ask_clerk", "Asks the clerk.", |_: NoArguments, context: ToolContext| async move {
    ///     let Some(answer) = context.answer() else {
    ///         let inner = Question::new("inner", 0, QuestionKind::Approval, "May pay run?")
    ///             .with_tool("pay")
    ///             .with_arguments(json!({"amount": 40}));
    ///         return Ok(ToolOutput::awaiting_input(InputRequest::forwarding(inner)));
    ///     };
    ///     Ok(ToolOutput::text(match answer.to_answer() {
    ///         Some(Answer::Approve { .. }) => "paid",
    ///         _ => "not paid",
    ///     }))
    /// }))?;
    /// let executor = tools.executor(ToolContext::builder(Arc::new(SystemClock::new())).build()).build()?;
    ///
    /// let call = ToolCall::function("call_1", "ask_clerk", "{}");
    /// let (ToolOutcome::Ask(question), _) = executor.settle(ToolWork::new(call.clone())).await else { panic!() };
    /// assert_eq!((question.kind, &*question.tool, &*question.call_id), (QuestionKind::Approval, "pay", "call_1"));
    ///
    /// let denied = ToolWork::resumed(call, *question, Answer::deny("not today"));
    /// assert_eq!(executor.settle(denied).await.0, ToolOutcome::done("not paid"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn forwarding(question: Question) -> Self {
        Self {
            question: Some(Box::new(question)),
            ..Self::new("")
        }
    }

    /// Asks the client that has offered the tool to run the call.
    pub(crate) fn for_client(prompt: impl Into<String>) -> Self {
        Self {
            kind: QuestionKind::Client,
            ..Self::new(prompt)
        }
    }

    /// Sets the JSON Schema of the answer.
    pub fn with_schema(mut self, schema: Value) -> Self {
        self.schema = Some(schema);
        self
    }

    /// Sets the data that the tool gets back with the answer.
    pub fn with_context(mut self, context: Value) -> Self {
        self.context = context;
        self
    }
}
