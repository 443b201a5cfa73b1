//! Requests that a server answers with questions, until it has all input that it wants.

use std::time::Duration;

use agcore_chat::Progress;
use rmcp::model::{ClientRequest, InputResponses, ServerResult};

use super::{McpClient, connection::Connection, request::Limits};
use crate::error::{McpError, McpErrorKind};

/// The number of times that a server may ask for input for one request.
const MAX_ROUNDS: usize = 10;

/// The pause before a server is asked again that has no question.
const STATE_PAUSE: Duration = Duration::from_millis(50);

/// The input that is sent with a request after the server has asked.
#[derive(Debug, Default)]
pub(super) struct Input {
    pub(super) responses: Option<InputResponses>,
    pub(super) state: Option<String>,
}

impl McpClient {
    /// Sends a request, answers the questions of the server, and sends the request again, until there is a result.
    pub(super) async fn send_with_input(
        &self,
        connection: &Connection,
        what: &str,
        request: impl Fn(Input) -> ClientRequest,
        limits: Limits,
        on_progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<ServerResult, McpError> {
        let mut input = Input::default();
        for _ in 0..MAX_ROUNDS {
            let request = request(input);
            let required = match connection.requests.send(what, request, limits, on_progress).await? {
                ServerResult::InputRequiredResult(required) => required,
                result => return Ok(result),
            };
            let requests = required.input_requests.unwrap_or_default();
            if requests.is_empty() && required.request_state.is_none() {
                return Err(connection.requests.unexpected(what, "a question or a state"));
            }
            if requests.is_empty() {
                // The server only wants to be asked again.
                tokio::time::sleep(STATE_PAUSE).await;
            }
            let answers = connection.requests.answerer.fulfil(requests).await;
            let answers = answers.map_err(|error| self.input_error(what, &error.message))?;
            // The protocol answers a question by sending the request again, with the answer and the server's state.
            input = Input {
                responses: (!answers.is_empty()).then_some(answers),
                state: required.request_state,
            };
        }
        Err(self.input_error(what, &format!("it asked more than {MAX_ROUNDS} times")))
    }

    fn input_error(&self, what: &str, reason: &str) -> McpError {
        let message = format!("the MCP server {:?} wants input for {what}: {reason}", self.name());
        McpError::new(McpErrorKind::Unsupported, message)
            .with_model_text("the tool needs input that cannot be given here; try another approach")
    }
}
