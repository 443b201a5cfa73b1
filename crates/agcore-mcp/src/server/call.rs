//! One call of a tool for a client.

use std::{
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
};

use agcore_chat::{Progress, Text, ToolCall, ToolOutcome, ToolWork};
use agcore_tools::{
    ExecutorBuilder, ToolContext, ToolError, ToolOutput,
    layer::{Invoke, PreparedCall},
};
use rmcp::{
    ErrorData, Peer, RoleServer,
    model::{CallToolRequestParams, CallToolResult, ContentBlock, ProgressNotificationParam, ProgressToken},
    service::RequestContext,
};
use serde_json::Value;
use tokio::sync::mpsc;

use super::{
    peer::{LogLevel, McpPeer},
    settings::Settings,
};
use crate::convert;

/// The number of progress reports that wait to be sent. More are dropped.
const WAITING_PROGRESS: usize = 64;

/// Runs a call with all checks of the registry.
pub(super) async fn run(
    settings: &Settings,
    log_level: &Arc<LogLevel>,
    params: CallToolRequestParams,
    request: RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let snapshot = settings.registry.snapshot();
    if snapshot.get(&params.name).is_none() {
        let error = ToolError::not_found(&params.name, snapshot.near_names(&params.name));
        return Err(ErrorData::invalid_params(error.message().to_owned(), None));
    }
    let name = params.name.into_owned();
    let only = snapshot.subset(|tool| **tool.name() == *name);
    let (report, mut reports) = mpsc::channel(WAITING_PROGRESS);
    let token = request.meta.get_progress_token();
    let context = context(settings, log_level, &request, report);
    let structured = Arc::new(Mutex::new(None));
    let slot = Arc::clone(&structured);
    let executor = ExecutorBuilder::new(only, context)
        .with_policy(settings.policy.clone())
        .with_timeout(Some(settings.timeout))
        .with_layer(move |inner| KeepValue { inner, slot })
        .build()
        .map_err(|error| ErrorData::internal_error(error.message().to_owned(), None))?;

    let arguments = Value::Object(params.arguments.unwrap_or_default()).to_string();
    let call = ToolCall::function(request.id.to_string(), name, arguments);
    let mut work = pin!(executor.settle(ToolWork::new(call)));
    let mut progress = ProgressOut {
        peer: &request.peer,
        token,
        last: 0.0,
    };
    let (outcome, _) = loop {
        tokio::select! {
            biased;
            Some(report) = reports.recv() => progress.send(report).await,
            outcome = &mut work => break outcome,
        }
    };
    while let Ok(report) = reports.try_recv() {
        progress.send(report).await;
    }
    let structured = structured.lock().unwrap_or_else(PoisonError::into_inner).take();
    result(outcome, structured)
}

/// Returns the context of a call: that of the server, with progress, cancellation and the client.
fn context(
    settings: &Settings,
    log_level: &Arc<LogLevel>,
    request: &RequestContext<RoleServer>,
    report: mpsc::Sender<Progress>,
) -> ToolContext {
    let version = request.protocol_version();
    let level = match version.is_some_and(|version| !version.has_initialize()) {
        true => Arc::new(LogLevel::of_request(request.meta.log_level())),
        false => Arc::clone(log_level),
    };
    let client = McpPeer {
        peer: request.peer.clone(),
        level,
    };
    let context = settings.context.clone();
    let context = context.with_cancellation(request.ct.clone()).with_state(client);
    if request.meta.get_progress_token().is_none() {
        return context.build();
    }
    let send = move |_: &Text, progress| {
        let _ = report.try_send(progress);
    };
    context.with_progress(send).build()
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

/// A layer that keeps the structured value of a result.
struct KeepValue<S> {
    inner: S,
    slot: Arc<Mutex<Option<Value>>>,
}

impl<S: Invoke> Invoke for KeepValue<S> {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        let output = self.inner.invoke(call).await?;
        // Text is content only, unless the tool declares the form of its output.
        let value = output
            .as_value()
            .filter(|value| value.is_object() || call.tool.tool().output_schema().is_some());
        *self.slot.lock().unwrap_or_else(PoisonError::into_inner) = value.cloned();
        Ok(output)
    }
}
