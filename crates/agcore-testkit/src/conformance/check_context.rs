//! [`CheckContext`]: what a check is run on, and [`Setup`]: a scenario set up for it.

use std::sync::Arc;

use agcore_chat::{ChatRequest, Message};
use agcore_llm::{Call, LlmProvider};

use super::{
    check_error::CheckError,
    fixture::{Fixture, ReceivedRequest},
    mode::Mode,
    reply_reader::{CollectedReply, ReplyReader},
    scenario::Scenario,
    subject::Subject,
};

/// The subject and the mode that a check is run on.
#[derive(Clone, Copy)]
pub(super) struct CheckContext<'a> {
    pub(super) subject: &'a dyn Subject,
    pub(super) mode: Mode,
}

/// A scenario that is set up, with the mode in which its provider is called.
pub(super) struct Setup {
    pub(super) fixture: Box<dyn Fixture>,
    mode: Mode,
}

impl CheckContext<'_> {
    /// Sets a scenario up.
    pub(super) async fn set_up(&self, scenario: &Scenario) -> Result<Setup, CheckError> {
        let fixture = self.subject.set_up(scenario).await?;
        Ok(Setup {
            fixture,
            mode: self.mode,
        })
    }

    /// Sets a scenario up and makes one call.
    pub(super) async fn ask(&self, scenario: &Scenario) -> Result<CollectedReply, CheckError> {
        let setup = self.set_up(scenario).await?;
        setup.ask(setup.call()).await
    }
}

impl Setup {
    pub(super) fn provider(&self) -> &dyn LlmProvider {
        &**self.fixture.provider()
    }

    /// Creates a call with a minimal request.
    pub(super) fn call(&self) -> Call {
        self.call_with(ChatRequest::new([Message::user("Hello")]))
    }

    /// Creates a call with this request.
    pub(super) fn call_with(&self, request: impl Into<Arc<ChatRequest>>) -> Call {
        Call::new(request).with_stream(self.mode.is_streamed())
    }

    /// Opens a call without polling its reply.
    pub(super) fn open(&self, call: Call) -> ReplyReader {
        ReplyReader::new(self.provider().open(call))
    }

    /// Makes a call and reads its reply to the end.
    pub(super) async fn ask(&self, call: Call) -> Result<CollectedReply, CheckError> {
        self.open(call).read_to_end().await
    }

    /// Returns the requests that the server has received, or skips the check if it does not record them.
    pub(super) fn requests(&self) -> Result<Vec<ReceivedRequest>, CheckError> {
        let requests = self.fixture.requests();
        requests.ok_or_else(|| CheckError::skip("the server does not record requests"))
    }

    /// Fails if the server has received a request.
    pub(super) fn ensure_no_requests(&self) -> Result<(), CheckError> {
        match self.fixture.requests() {
            Some(requests) if !requests.is_empty() => Err(CheckError::fail("a request reached the server")),
            _ => Ok(()),
        }
    }
}
