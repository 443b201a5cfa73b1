//! [`Scene`]: one scenario on a stage, ready to be asked in one form.

use std::sync::Arc;

use agcore_chat::{ChatRequest, Message};
use agcore_llm::{Call, LlmProvider};

use super::{
    halt::Halt,
    listening::{Heard, Listening},
    mode::Mode,
    scenario::Scenario,
    stage::{SeenRequest, Stage},
    subject::Subject,
};

/// Who is tested, and in which form.
#[derive(Clone, Copy)]
pub(super) struct Trial<'a> {
    pub(super) subject: &'a dyn Subject,
    pub(super) mode: Mode,
}

/// One scenario on a stage, ready to be asked in one form.
pub(super) struct Scene {
    pub(super) stage: Box<dyn Stage>,
    mode: Mode,
}

impl Trial<'_> {
    /// Sets the scenario up.
    pub(super) async fn scene(&self, scenario: &Scenario) -> Result<Scene, Halt> {
        let stage = self.subject.stage(scenario).await?;
        Ok(Scene { stage, mode: self.mode })
    }

    /// Sets the scenario up and asks once.
    pub(super) async fn hear(&self, scenario: &Scenario) -> Result<Heard, Halt> {
        let scene = self.scene(scenario).await?;
        scene.hear(scene.call()).await
    }
}

impl Scene {
    pub(super) fn provider(&self) -> &dyn LlmProvider {
        &**self.stage.provider()
    }

    /// A call that says hello.
    pub(super) fn call(&self) -> Call {
        self.call_of(ChatRequest::new([Message::user("Hello")]))
    }

    /// A call of this request.
    pub(super) fn call_of(&self, request: impl Into<Arc<ChatRequest>>) -> Call {
        Call::new(request).with_stream(self.mode.is_streamed())
    }

    /// Opens a call.
    pub(super) fn listen(&self, call: Call) -> Listening {
        Listening::new(self.provider().open(call))
    }

    /// Makes a call and hears it to its end.
    pub(super) async fn hear(&self, call: Call) -> Result<Heard, Halt> {
        self.listen(call).rest().await
    }

    /// What the server was asked.
    pub(super) fn requests(&self) -> Result<Vec<SeenRequest>, Halt> {
        let seen = self.stage.requests();
        seen.ok_or_else(|| Halt::skip("the server cannot tell what it was asked"))
    }

    /// Fails when anything was sent.
    pub(super) fn ensure_silence(&self) -> Result<(), Halt> {
        match self.stage.requests() {
            Some(seen) if !seen.is_empty() => Err(Halt::fail("a request reached the server")),
            _ => Ok(()),
        }
    }
}
