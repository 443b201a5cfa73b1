//! [`Answerer`]: answers the requests of a server with the application's traits.
#![expect(deprecated, reason = "sampling and roots are part of the revisions up to 2025-11-25")]

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use agcore_chat::{Content, Message};
use rmcp::{
    ErrorData,
    model::{
        ClientCapabilities, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult,
        ElicitationAction, ElicitationCapability, FormElicitationCapability, InputRequest, InputRequests,
        InputResponses, ListRootsResult, Role, Root, RootsCapabilities, SamplingCapability, SamplingMessage,
        SamplingMessageContentBlock, UrlElicitationCapability,
    },
};
use serde_json::{Value, json};

use crate::{
    ask::{Answers, Elicitation, ElicitationAnswer, SampleRequest},
    convert,
};

/// Answers the requests of a server.
#[derive(Debug, Clone)]
pub(crate) struct Answerer {
    server: Arc<str>,
    answers: Answers,
    /// The number of questions that wait for an answer.
    waiting: Arc<AtomicUsize>,
}

/// Counts a question until it is answered or dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Answerer {
    pub(crate) fn new(server: &Arc<str>, answers: &Answers) -> Self {
        Self {
            server: Arc::clone(server),
            answers: answers.clone(),
            waiting: Arc::default(),
        }
    }

    /// Returns whether a question of the server waits for an answer.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting.load(Ordering::Acquire) > 0
    }

    fn wait(&self) -> Waiting<'_> {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        Waiting(&self.waiting)
    }

    /// Returns what the server may ask for.
    pub(crate) fn capabilities(&self) -> ClientCapabilities {
        let mut capabilities = ClientCapabilities::default();
        if let Some(elicitor) = &self.answers.elicitor {
            let mut modes = ElicitationCapability::new().with_form(FormElicitationCapability::default());
            if elicitor.shows_urls() {
                modes = modes.with_url(UrlElicitationCapability::default());
            }
            capabilities.elicitation = Some(modes);
        }
        if self.answers.sampler.is_some() {
            capabilities.sampling = Some(SamplingCapability::default());
        }
        if self.answers.roots.is_some() {
            capabilities.roots = Some(RootsCapabilities::default());
        }
        capabilities
    }

    /// Asks the person.
    pub(crate) async fn elicit(&self, params: ElicitRequestParams) -> Result<ElicitResult, ErrorData> {
        let Some(elicitor) = &self.answers.elicitor else {
            return Err(unsupported("elicitation"));
        };
        let server = self.server.to_string();
        let question = match params {
            ElicitRequestParams::FormElicitationParams {
                message,
                requested_schema,
                ..
            } => {
                let schema = serde_json::to_value(requested_schema)
                    .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
                Elicitation::new(server, message, schema)
            }
            ElicitRequestParams::UrlElicitationParams { message, url, .. } if elicitor.shows_urls() => {
                Elicitation::new(server, message, json!({"type": "object", "properties": {}})).with_url(url)
            }
            _ => return Err(unsupported("elicitation by URL")),
        };
        let _waiting = self.wait();
        Ok(match elicitor.ask(&question).await {
            // The person answers on the page.
            ElicitationAnswer::Accept(_) if question.url.is_some() => ElicitResult::new(ElicitationAction::Accept),
            ElicitationAnswer::Accept(content) => {
                ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(content))
            }
            ElicitationAnswer::Decline => ElicitResult::new(ElicitationAction::Decline),
            ElicitationAnswer::Cancel => ElicitResult::new(ElicitationAction::Cancel),
        })
    }

    /// Asks the model.
    pub(crate) async fn sample(&self, params: CreateMessageRequestParams) -> Result<CreateMessageResult, ErrorData> {
        let Some(sampler) = &self.answers.sampler else {
            return Err(unsupported("sampling"));
        };
        let hints = params.model_preferences.and_then(|preferences| preferences.hints);
        let request = SampleRequest {
            server: self.server.to_string(),
            messages: params.messages.into_iter().map(message).collect::<Result<_, _>>()?,
            system_prompt: params.system_prompt,
            max_tokens: params.max_tokens,
            temperature: params.temperature,
            stop_sequences: params.stop_sequences.unwrap_or_default(),
            model_hints: hints.into_iter().flatten().filter_map(|hint| hint.name).collect(),
        };
        let _waiting = self.wait();
        let answer = sampler.sample(&request).await;
        let answer = answer.map_err(|reason| ErrorData::internal_error(reason, None))?;
        let result = CreateMessageResult::new(SamplingMessage::assistant_text(answer.text), answer.model);
        Ok(result.with_stop_reason(CreateMessageResult::STOP_REASON_END_TURN))
    }

    /// Lists the folders.
    pub(crate) fn roots(&self) -> Result<ListRootsResult, ErrorData> {
        match &self.answers.roots {
            Some(roots) => Ok(ListRootsResult::new(roots.iter().map(Root::new).collect())),
            None => Err(unsupported("roots")),
        }
    }

    /// Answers all requests that a result of the revision without sessions contains.
    pub(crate) async fn fulfil(&self, requests: InputRequests) -> Result<InputResponses, ErrorData> {
        let mut responses = InputResponses::new();
        for (key, request) in requests {
            let response = match request {
                InputRequest::Elicitation(request) => serde_json::to_value(self.elicit(request.params).await?),
                InputRequest::CreateMessage(request) => serde_json::to_value(self.sample(request.params).await?),
                InputRequest::ListRoots(_) => serde_json::to_value(self.roots()?),
                _ => return Err(unsupported("this kind of input")),
            };
            let response = response.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            responses.insert(key, response);
        }
        Ok(responses)
    }
}

fn unsupported(what: &str) -> ErrorData {
    ErrorData::new(
        rmcp::model::ErrorCode::METHOD_NOT_FOUND,
        format!("this client does not offer {what}"),
        None,
    )
}

fn message(message: SamplingMessage) -> Result<Message, ErrorData> {
    let mut parts = Vec::new();
    for block in message.content.into_vec() {
        // The other blocks have the form of those of a result.
        let block = match block {
            SamplingMessageContentBlock::ToolUse(_) | SamplingMessageContentBlock::ToolResult(_) => {
                return Err(unsupported("sampling with tools"));
            }
            other => serde_json::to_value(other).and_then(serde_json::from_value),
        };
        let block = block.map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        parts.push(convert::part(block));
    }
    let content = Content::from(parts);
    Ok(match message.role {
        Role::User => Message::user(content),
        Role::Assistant => Message::assistant(content.text()),
    })
}
