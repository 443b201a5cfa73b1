//! One call of a tool for a client.

use std::{future::poll_fn, pin::pin, sync::Arc};

use agcore_chat::{Answer, Progress, Question, QuestionKind, RawArguments, Text, ToolCall, ToolOutcome, ToolWork};
use agcore_tools::{RegisteredTool, RegistryExecutor, ToolContextBuilder, ToolError, ToolSession};
use rmcp::{
    ErrorData, Peer, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ProgressNotificationParam, ProgressToken,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

use super::{
    kept::KeptData,
    peer::{LogLevel, McpPeer},
    request_state::{Binding, Sealer},
    rounds::{self, Round, Rounds, Sent},
    settings::Settings,
};
use crate::{ask::ElicitationAnswer, convert, error::error_data, inbox::Inbox};

/// The number of questions that a call may return as its output.
const MAX_QUESTIONS: usize = 10;

/// Runs a call with all checks of the registry.
pub(super) async fn run(
    settings: &Settings,
    sealer: &Arc<Sealer>,
    log_level: &Arc<LogLevel>,
    params: CallToolRequestParams,
    request: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let offer = settings.offer();
    let Some(tool) = offer.snapshot.get(&params.name) else {
        let error = ToolError::not_found(&params.name, offer.snapshot.near_names(&params.name));
        return Err(ErrorData::invalid_params(error.message().to_owned(), None));
    };
    let name = params.name;
    let arguments = RawArguments::from(params.arguments.unwrap_or_default());
    let sent = Sent {
        responses: params.input_responses,
        state: params.request_state,
    };
    let binding = || Binding::new("tools/call", &name, arguments.clone());
    let rounds = Rounds::open(sealer, &request, binding, sent)?;
    let client = Arc::new(McpPeer::new(request, log_level, rounds.clone()));
    let request = client.request();
    let kept = Arc::new(KeptData::default());
    let context = settings.context.clone();
    let context = context
        .with_cancellation(request.ct.clone())
        .with_shared_state(Arc::clone(&client))
        .with_shared_state(Arc::clone(&kept));
    let call = Call {
        executor: &offer.executor,
        call: Arc::new(ToolCall::function(request.id.to_string(), name, arguments)),
        client: &client,
    };
    let outcome = match request.meta.get_progress_token() {
        None => {
            let work = pin!(call.settle(context, tool));
            rounds::run(rounds.as_deref(), work).await?
        }
        Some(token) => {
            let progress = ProgressOut {
                peer: &request.peer,
                token,
                last: 0.0,
            };
            // Rarely needed, and large.
            let work = Box::pin(call.settle_with_progress(context, tool, progress));
            rounds::run(rounds.as_deref(), work).await?
        }
    };
    let outcome = match outcome {
        Round::Done(outcome) => outcome?,
        Round::Ask(questions) => return Ok(CallToolResponse::InputRequired(questions)),
    };
    let kept = kept.take();
    match kept.refusal {
        // With a session, the result contains what the client lacks.
        Some(error) if rounds.is_some() => Err(error_data(error)),
        _ => result(outcome, kept.structured).map(CallToolResponse::Complete),
    }
}

/// A call for a client.
struct Call<'a> {
    executor: &'a RegistryExecutor,
    call: Arc<ToolCall>,
    client: &'a McpPeer,
}

impl Call<'_> {
    /// Runs the tool. If it returns a question as its output, the client is asked, and the tool runs again with the answer.
    async fn settle(&self, context: ToolContextBuilder, tool: &RegisteredTool) -> Result<ToolOutcome, ErrorData> {
        let context = context.build();
        if let Err(error) = tool.tool().check_context(&context) {
            let message = format!("{} cannot be used: {}", tool.name(), error.message());
            return Err(ErrorData::internal_error(message, None));
        }
        let session = ToolSession::new();
        let mut work = ToolWork::new(Arc::clone(&self.call));
        for number in 0..MAX_QUESTIONS {
            let question = match self.executor.settle_for(&context, &session, work).await.0 {
                // An approval is a decision of the server's own people, not of its clients.
                ToolOutcome::Ask(question) if question.kind == QuestionKind::Input && self.client.can_elicit() => {
                    question
                }
                outcome => return Ok(outcome),
            };
            // Large, and rarely needed.
            match Box::pin(self.ask(number, &question)).await {
                Ok(value) => work = ToolWork::resumed(Arc::clone(&self.call), *question, Answer::Value(value)),
                Err(reason) => return Ok(ToolOutcome::error(reason)),
            }
        }
        let message = format!("the tool asked more than {MAX_QUESTIONS} questions");
        Ok(ToolOutcome::error(message))
    }

    /// Asks the client a question of the tool. Fails with the reason why there is no answer.
    async fn ask(&self, number: usize, question: &Question) -> Result<Value, String> {
        let own = question.schema.clone().unwrap_or_else(|| json!({"type": "string"}));
        // A person fills in a form, which is an object.
        let is_form = own["type"] == "object";
        let schema = match is_form {
            true => own,
            false => json!({"type": "object", "properties": {"answer": own}, "required": ["answer"]}),
        };
        let key = format!("input-{number}");
        match self.client.elicit(&key, question.prompt.clone(), schema).await {
            Ok(ElicitationAnswer::Accept(content)) if is_form => Ok(Value::Object(content)),
            Ok(ElicitationAnswer::Accept(mut content)) => Ok(content.remove("answer").unwrap_or_default()),
            Ok(_) => Err("the person did not answer the question of the tool".to_owned()),
            Err(error) => Err(error.message().to_owned()),
        }
    }

    /// Runs the tool and sends its progress.
    async fn settle_with_progress(
        &self,
        context: ToolContextBuilder,
        tool: &RegisteredTool,
        mut progress: ProgressOut<'_>,
    ) -> Result<ToolOutcome, ErrorData> {
        let reports = Inbox::default();
        let sender = reports.clone();
        let context = context.with_progress(move |_: &Text, progress| sender.deliver(progress));
        let mut work = pin!(self.settle(context, tool));
        let outcome = loop {
            tokio::select! {
                biased;
                Some(report) = poll_fn(|context| reports.poll(context)) => progress.send(report).await,
                outcome = &mut work => break outcome,
            }
        };
        while let Some(report) = reports.take() {
            progress.send(report).await;
        }
        outcome
    }
}

/// Sends the progress of a call. The amounts of the protocol only grow; reports without an amount count.
struct ProgressOut<'a> {
    peer: &'a Peer<RoleServer>,
    token: ProgressToken,
    last: f64,
}

impl ProgressOut<'_> {
    async fn send(&mut self, progress: Progress) {
        self.last = progress.done.unwrap_or(self.last + 1.0);
        let mut params = ProgressNotificationParam::new(self.token.clone(), self.last);
        params.total = progress.total;
        params.message = progress.message.map(|message| message.to_string());
        if let Err(error) = self.peer.notify_progress(params).await {
            tracing::debug!(%error, "progress for an MCP client is dropped");
        }
    }
}

fn result(outcome: ToolOutcome, structured: Option<Value>) -> Result<CallToolResult, ErrorData> {
    match outcome {
        ToolOutcome::Done(done) if done.is_error => Ok(CallToolResult::error(convert::blocks(done.content))),
        ToolOutcome::Done(done) => {
            let mut result = CallToolResult::success(convert::blocks(done.content));
            result.structured_content = structured;
            Ok(result)
        }
        ToolOutcome::Divert { content, .. } => Ok(CallToolResult::success(convert::blocks(content))),
        ToolOutcome::Ask(question) => {
            let text = format!(
                "the call needs an answer that cannot be given here: {}",
                question.prompt
            );
            Ok(CallToolResult::error(vec![ContentBlock::text(text)]))
        }
        ToolOutcome::Fatal(fault) => Ok(CallToolResult::error(vec![ContentBlock::text(fault.message)])),
        _ => Err(ErrorData::internal_error(
            "the outcome of the call cannot be sent",
            None,
        )),
    }
}
