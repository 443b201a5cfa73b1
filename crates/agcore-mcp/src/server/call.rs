//! One call of a tool for a client.

use std::{
    error::Error as _,
    future::poll_fn,
    sync::{Arc, Mutex, PoisonError},
};

use agcore_chat::{Answer, Progress, QuestionKind, RawArguments, Text, ToolCall, ToolOutcome, ToolWork};
use agcore_tools::{
    ExecutorBuilder, RegistryExecutor, ToolContext, ToolError, ToolOutput,
    layer::{Invoke, PreparedCall},
};
use rmcp::{
    ErrorData, Peer, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ProgressNotificationParam, ProgressToken,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

use super::{
    peer::{LogLevel, McpPeer},
    request_state::{Binding, Sealer},
    rounds::{self, Round, Rounds, Sent},
    settings::Settings,
};
use crate::{
    ask::ElicitationAnswer,
    convert,
    error::{McpError, error_data},
    inbox::Inbox,
};

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
    let snapshot = settings.registry.snapshot();
    if snapshot.get(&params.name).is_none() {
        let error = ToolError::not_found(&params.name, snapshot.near_names(&params.name));
        return Err(ErrorData::invalid_params(error.message().to_owned(), None));
    }
    let name = params.name.into_owned();
    let arguments = RawArguments::from(params.arguments.unwrap_or_default());
    let sent = Sent {
        responses: params.input_responses,
        state: params.request_state,
    };
    let binding = Binding::new("tools/call", &name, arguments.clone());
    let rounds = Rounds::open(sealer, &request, binding, sent)?;
    let client = McpPeer::new(&request, log_level, rounds.clone());
    let only = snapshot.subset(|tool| **tool.name() == *name);
    let reports = Inbox::default();
    let context = context(settings, client.clone(), &request, reports.clone());
    let kept = Arc::new(Mutex::new(Kept::default()));
    let slot = Arc::clone(&kept);
    let executor = ExecutorBuilder::new(only, context)
        .with_policy(settings.policy.clone())
        .with_timeout(Some(settings.timeout))
        .with_layer(move |inner| Keep { inner, slot })
        .build()
        .map_err(|error| ErrorData::internal_error(error.message().to_owned(), None))?;
    let call = ToolCall::function(request.id.to_string(), name, arguments);
    // Large, and moved several times.
    let work = Box::pin(settle(&executor, Arc::new(call), &client));
    let progress = ProgressOut {
        peer: &request.peer,
        token: request.meta.get_progress_token(),
        last: 0.0,
    };
    let work = reporting(work, &reports, progress);
    let outcome = match rounds::run(rounds.as_deref(), work).await? {
        Round::Done(outcome) => outcome,
        Round::Ask(questions) => return Ok(CallToolResponse::InputRequired(questions)),
    };
    let kept = std::mem::take(&mut *kept.lock().unwrap_or_else(PoisonError::into_inner));
    match kept.refusal {
        // With a session, the result contains what the client lacks.
        Some(error) if rounds.is_some() => Err(error_data(error)),
        _ => result(outcome, kept.structured).map(CallToolResponse::Complete),
    }
}

/// Runs the tool. If it returns a question as its output, the client is asked, and the tool runs again with the answer.
async fn settle(executor: &RegistryExecutor, call: Arc<ToolCall>, client: &McpPeer) -> ToolOutcome {
    let mut work = ToolWork::new(Arc::clone(&call));
    for number in 0..MAX_QUESTIONS {
        let question = match executor.settle(work).await.0 {
            // An approval is a decision of the server's own people, not of its clients.
            ToolOutcome::Ask(question) if question.kind == QuestionKind::Input && client.can_elicit() => question,
            outcome => return outcome,
        };
        let own = question.schema.clone().unwrap_or_else(|| json!({"type": "string"}));
        // A person fills in a form, which is an object.
        let is_form = own["type"] == "object";
        let schema = match is_form {
            true => own,
            false => json!({"type": "object", "properties": {"answer": own}, "required": ["answer"]}),
        };
        let key = format!("input-{number}");
        let value = match client.elicit(&key, question.prompt.clone(), schema).await {
            Ok(ElicitationAnswer::Accept(content)) if is_form => Value::Object(content),
            Ok(ElicitationAnswer::Accept(mut content)) => content.remove("answer").unwrap_or_default(),
            Ok(_) => return ToolOutcome::error("the person did not answer the question of the tool"),
            Err(error) => return ToolOutcome::error(error.message()),
        };
        work = ToolWork::resumed(Arc::clone(&call), *question, Answer::Value(value));
    }
    ToolOutcome::error(format!("the tool asked more than {MAX_QUESTIONS} questions"))
}

/// Runs a call and sends its progress.
async fn reporting(
    mut work: impl Future<Output = ToolOutcome> + Unpin,
    reports: &Inbox,
    mut progress: ProgressOut<'_>,
) -> ToolOutcome {
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

/// Returns the context of a call: that of the server, with progress, cancellation and the client.
fn context(settings: &Settings, client: McpPeer, request: &RequestContext<RoleServer>, reports: Inbox) -> ToolContext {
    let context = settings.context.clone();
    let context = context.with_cancellation(request.ct.clone()).with_state(client);
    if request.meta.get_progress_token().is_none() {
        return context.build();
    }
    context
        .with_progress(move |_: &Text, progress| reports.deliver(progress))
        .build()
}

/// Sends the progress of a call. The amounts of the protocol only grow; reports without an amount count.
struct ProgressOut<'a> {
    peer: &'a Peer<RoleServer>,
    token: Option<ProgressToken>,
    last: f64,
}

impl ProgressOut<'_> {
    async fn send(&mut self, progress: Progress) {
        let Some(token) = &self.token else {
            return;
        };
        self.last = progress.done.unwrap_or(self.last + 1.0);
        let mut params = ProgressNotificationParam::new(token.clone(), self.last);
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

/// Data that a call leaves beside its outcome.
#[derive(Default)]
struct Kept {
    structured: Option<Value>,
    /// The error with which the request is answered, if the tool failed because of it.
    refusal: Option<McpError>,
}

/// A layer that keeps the structured value of a result, and the cause of a failure.
struct Keep<S> {
    inner: S,
    slot: Arc<Mutex<Kept>>,
}

impl<S: Invoke> Invoke for Keep<S> {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        let result = self.inner.invoke(call).await;
        let mut kept = Kept::default();
        match &result {
            // Text is content only, unless the tool declares the form of its output.
            Ok(output) => {
                let value = output.as_value();
                let value = value.filter(|value| value.is_object() || call.tool.tool().output_schema().is_some());
                kept.structured = value.cloned();
            }
            Err(error) => {
                let cause = error.source().and_then(|cause| cause.downcast_ref::<McpError>());
                kept.refusal = cause.filter(|cause| cause.data().is_some()).cloned();
            }
        }
        *self.slot.lock().unwrap_or_else(PoisonError::into_inner) = kept;
        result
    }
}
