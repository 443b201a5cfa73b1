//! What the tests of layers share: providers by name, failures by number, calls whose notices are kept.

use std::{sync::Arc, time::Duration};

use agcore_chat::{ChatRequest, ChatResponse, Clock, Message};
use agcore_llm::{
    Call, Fold, LlmError, LlmErrorKind, LlmProvider, Notice, ProviderInfo, Random, ReplyItem, layer::failures::Failures,
};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};
use futures_util::StreamExt;

pub(crate) fn request() -> ChatRequest {
    ChatRequest::new([Message::user("Hello")])
}

pub(crate) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A clock that stands still until it is turned, twice.
pub(crate) fn clocks() -> (Arc<ManualClock>, Arc<dyn Clock>) {
    let clock = Arc::new(ManualClock::new());
    (Arc::clone(&clock), clock)
}

pub(crate) fn always(number: f64) -> Random {
    Arc::new(move || number)
}

pub(crate) fn provider(name: &str, steps: impl IntoIterator<Item = ScriptStep>) -> ScriptedProvider {
    ScriptedProvider::new(steps).with_info(ProviderInfo::new(name, format!("{name}-1")))
}

pub(crate) fn error(kind: LlmErrorKind) -> LlmError {
    LlmError::new(kind, "it went wrong")
}

pub(crate) fn failing(kind: LlmErrorKind) -> ScriptStep {
    ScriptStep::error(error(kind))
}

pub(crate) fn limited(after: u64) -> ScriptStep {
    ScriptStep::error(error(LlmErrorKind::RateLimit).with_retry_after(Some(seconds(after))))
}

pub(crate) const OVERFLOW: LlmErrorKind = LlmErrorKind::ContextLength {
    limit: None,
    requested: None,
};

/// The steps of a script: `ok`, `half` (dies after some text), a status, perhaps with a hint in seconds: `429:20`.
pub(crate) fn steps(script: &str) -> Vec<ScriptStep> {
    script.split_whitespace().map(step).collect()
}

fn step(written: &str) -> ScriptStep {
    let (status, hint) = written.split_once(':').unwrap_or((written, ""));
    let kind = match status {
        "ok" => return ScriptStep::text("Hi."),
        "half" => return ScriptStep::text("half").then_error(error(LlmErrorKind::Connect)),
        "400" => LlmErrorKind::InvalidRequest,
        "401" => LlmErrorKind::Authentication,
        "402" => LlmErrorKind::QuotaExhausted,
        "403" => LlmErrorKind::Permission,
        "404" => LlmErrorKind::NotFound,
        "413" => OVERFLOW,
        "429" => LlmErrorKind::RateLimit,
        "500" => LlmErrorKind::Server,
        "503" => LlmErrorKind::Overloaded,
        other => panic!("no step of a script: {other}"),
    };
    ScriptStep::error(error(kind).with_retry_after(hint.parse().ok().map(seconds)))
}

/// What came of a call.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) answer: Result<ChatResponse, LlmError>,
    pub(crate) notices: Vec<Notice>,
}

impl Told {
    /// Who answered: `provider/key`, without what is not known; or the kind of error.
    pub(crate) fn who(&self) -> String {
        let who = match &self.answer {
            Ok(response) => response.answered_by.as_ref(),
            Err(error) => return format!("{:?}", error.kind()),
        };
        let Some(who) = who else { return "?".to_owned() };
        match &who.key {
            Some(key) => format!("{}/{key}", who.provider),
            None => who.provider.to_string(),
        }
    }

    pub(crate) fn error(&self) -> &LlmError {
        self.answer.as_ref().unwrap_err()
    }

    /// Who failed, and how.
    pub(crate) fn failures(&self) -> Vec<(String, LlmErrorKind)> {
        let failures = Failures::of(self.error()).expect("an error that stands for several");
        let pair =
            |failure: &agcore_llm::layer::failures::Failure| (failure.who.to_string(), failure.error.kind().clone());
        failures.iter().map(pair).collect()
    }

    /// The notices in short: `retry 1 in 0`, `restarted`, `waiting 20`, `by a`.
    pub(crate) fn notices(&self) -> Vec<String> {
        let short = |notice: &Notice| match notice {
            Notice::RetryScheduled { attempt, delay, .. } => format!("retry {attempt} in {}", delay.as_secs()),
            Notice::Restarted { .. } => "restarted".to_owned(),
            Notice::AnsweredBy(who) => format!("by {}", who.provider),
            Notice::Waiting { delay, .. } => format!("waiting {}", delay.as_secs()),
            _ => panic!("{notice:?}"),
        };
        self.notices.iter().map(short).collect()
    }
}

pub(crate) async fn tell(provider: &impl LlmProvider, call: Call) -> Told {
    let mut items = provider.open(call);
    let (mut fold, mut notices, mut answer) = (Fold::new(), Vec::new(), None);
    while let Some(item) = items.next().await {
        assert!(answer.is_none(), "nothing follows the end: {item:?}");
        if let ReplyItem::Notice(notice) = &item {
            notices.push(notice.clone());
        }
        answer = fold.absorb(item);
    }
    Told {
        answer: answer.expect("an end"),
        notices,
    }
}

pub(crate) async fn ask(provider: &impl LlmProvider) -> Told {
    tell(provider, Call::new(request())).await
}
