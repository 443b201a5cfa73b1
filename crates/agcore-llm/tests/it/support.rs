//! Helpers shared by the tests of the layers: providers with scripts, errors, and calls whose notices are collected.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use agcore_chat::{ChatRequest, ChatResponse, Clock, Message};
use agcore_llm::{
    Call, Fold, LlmError, LlmErrorKind, LlmProvider, Notice, ProviderInfo, Random, ReplyItem, ReplyStream,
    layer::failures::{Failure, Failures},
};
use agcore_testkit::{
    clock::ManualClock,
    scripted::{ScriptStep, ScriptedProvider},
};

pub(crate) fn request() -> ChatRequest {
    ChatRequest::new([Message::user("Hello")])
}

pub(crate) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Returns a clock that only moves when it is advanced, and the same clock as a trait object.
pub(crate) fn manual_clock() -> (Arc<ManualClock>, Arc<dyn Clock>) {
    let clock = Arc::new(ManualClock::new());
    (Arc::clone(&clock), clock)
}

/// Returns a source of random numbers that always returns this one.
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

/// A rate limit with a hint in seconds.
pub(crate) fn rate_limited(retry_after: u64) -> ScriptStep {
    ScriptStep::error(error(LlmErrorKind::RateLimit).with_retry_after(Some(seconds(retry_after))))
}

pub(crate) const OVERFLOW: LlmErrorKind = LlmErrorKind::ContextLength {
    limit: None,
    requested: None,
};

/// Parses the steps of a script: `ok`, `half` (fails after some text), or a status, optionally with a hint in seconds as in
/// `429:20`.
pub(crate) fn steps(script: &str) -> Vec<ScriptStep> {
    script.split_whitespace().map(step).collect()
}

fn step(text: &str) -> ScriptStep {
    let (status, hint) = text.split_once(':').unwrap_or((text, ""));
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
        other => panic!("invalid step `{other}`"),
    };
    ScriptStep::error(error(kind).with_retry_after(hint.parse().ok().map(seconds)))
}

/// The result of a call, and the notices before it.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) response: Result<ChatResponse, LlmError>,
    pub(crate) notices: Vec<Notice>,
}

impl Outcome {
    /// Returns who answered as `provider/key`, without unknown parts; or the kind of the error.
    pub(crate) fn answered_by(&self) -> String {
        let answered_by = match &self.response {
            Ok(response) => response.answered_by.as_ref(),
            Err(error) => return format!("{:?}", error.kind()),
        };
        let Some(answered_by) = answered_by else {
            return "?".to_owned();
        };
        match &answered_by.key {
            Some(key) => format!("{}/{key}", answered_by.provider),
            None => answered_by.provider.to_string(),
        }
    }

    pub(crate) fn error(&self) -> &LlmError {
        self.response.as_ref().unwrap_err()
    }

    /// Returns the name and the kind of each failure that the error summarizes.
    pub(crate) fn failures(&self) -> Vec<(String, LlmErrorKind)> {
        let failures = Failures::from_error(self.error()).expect("an error that summarizes several");
        let pair = |failure: &Failure| (failure.name.to_string(), failure.error.kind());
        failures.iter().map(pair).collect()
    }

    /// Returns the notices in short: `retry 1 in 0`, `restarted`, `waiting 20`, `by a`.
    pub(crate) fn notices(&self) -> Vec<String> {
        let short = |notice: &Notice| match notice {
            Notice::RetryScheduled { attempt, delay, .. } => format!("retry {attempt} in {}", delay.as_secs()),
            Notice::Restarted { .. } => "restarted".to_owned(),
            Notice::AnsweredBy(answered_by) => format!("by {}", answered_by.provider),
            Notice::Waiting { delay, .. } => format!("waiting {}", delay.as_secs()),
            _ => panic!("{notice:?}"),
        };
        self.notices.iter().map(short).collect()
    }
}

/// Makes a call and checks that nothing follows its end.
pub(crate) async fn run(provider: &impl LlmProvider, call: Call) -> Outcome {
    let mut items = provider.open(call);
    let (mut fold, mut notices, mut response) = (Fold::new(), Vec::new(), None);
    while let Some(item) = items.next().await {
        assert!(response.is_none(), "an item after the end: {item:?}");
        if let ReplyItem::Notice(notice) = &item {
            notices.push(notice.clone());
        }
        response = item.fold_into(&mut fold);
    }
    Outcome {
        response: response.expect("the stream has an end"),
        notices,
    }
}

/// Makes a call with a short request.
pub(crate) async fn send(provider: &impl LlmProvider) -> Outcome {
    run(provider, Call::new(request())).await
}

/// A provider that returns these items, attempt by attempt, and records the deadline of each attempt.
#[derive(Debug, Clone, Default)]
pub(crate) struct RawProvider {
    attempts: Arc<Mutex<VecDeque<Vec<ReplyItem>>>>,
    deadlines: Arc<Mutex<Vec<Option<Duration>>>>,
}

impl RawProvider {
    pub(crate) fn new(attempts: impl IntoIterator<Item = Vec<ReplyItem>>) -> Self {
        Self {
            attempts: Arc::new(Mutex::new(attempts.into_iter().collect())),
            ..Self::default()
        }
    }

    pub(crate) fn deadlines(&self) -> Vec<Option<Duration>> {
        self.deadlines.lock().unwrap().clone()
    }
}

impl LlmProvider for RawProvider {
    fn open(&self, call: Call) -> ReplyStream {
        self.deadlines.lock().unwrap().push(call.deadline);
        ReplyStream::from_items(self.attempts.lock().unwrap().pop_front().unwrap_or_default())
    }
}
