//! [`Rounds`]: the questions of a request without a session, which the client repeats with the answers.

use std::{
    collections::{BTreeMap, HashMap},
    future::pending,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rmcp::{
    ErrorData, RoleServer,
    model::{InputRequest, InputRequests, InputRequiredResult, InputResponses},
    service::RequestContext,
};
use serde_json::Value;
use tokio::sync::Notify;

use super::request_state::{Binding, Sealer};
use crate::error::quote;

/// The members of a request that belong to questions.
pub(super) struct Sent {
    pub(super) responses: Option<InputResponses>,
    pub(super) state: Option<String>,
}

/// The questions of a request without a session, and the answers so far.
pub(super) struct Rounds {
    sealer: Arc<Sealer>,
    binding: Binding,
    state: Mutex<State>,
    /// Wakes [`run`] when the request has asked.
    asked: Notify,
}

#[derive(Default)]
struct State {
    /// The answers that the client sent, now and before.
    answers: BTreeMap<String, Value>,
    /// Those that were read by this run, which are kept for the next.
    read: BTreeMap<String, Value>,
    questions: InputRequests,
    /// Why the request cannot be answered at all.
    refusal: Option<ErrorData>,
    /// How often each text was asked.
    counts: HashMap<String, usize>,
}

/// The end of a run.
pub(super) enum Round<T> {
    Done(T),
    Ask(InputRequiredResult),
}

impl Rounds {
    /// Reads what a request contains about questions. Returns `None` if the client has a session.
    pub(super) fn open(
        sealer: &Arc<Sealer>,
        request: &RequestContext<RoleServer>,
        binding: impl FnOnce() -> Binding,
        sent: Sent,
    ) -> Result<Option<Arc<Self>>, ErrorData> {
        let version = request.protocol_version();
        if version.is_none_or(|version| version.has_initialize()) {
            return Ok(None);
        }
        let binding = binding();
        let mut answers = match sent.state {
            Some(state) => sealer.open(&state, &binding)?,
            None => BTreeMap::new(),
        };
        answers.extend(sent.responses.unwrap_or_default());
        let state = State {
            answers,
            ..State::default()
        };
        Ok(Some(Arc::new(Self {
            sealer: Arc::clone(sealer),
            binding,
            state: Mutex::new(state),
            asked: Notify::new(),
        })))
    }

    /// Returns the answer to a question. If there is none yet, or it cannot be read, this run ends.
    pub(super) async fn ask<T>(
        &self,
        key: &str,
        request: InputRequest,
        read: impl FnOnce(Value) -> Result<T, String>,
    ) -> T {
        match self.answer(key, request, read) {
            Some(answer) => answer,
            None => {
                // Others may ask at the same time, in the same task.
                tokio::task::yield_now().await;
                self.asked.notify_one();
                pending().await
            }
        }
    }

    fn answer<T>(&self, key: &str, request: InputRequest, read: impl FnOnce(Value) -> Result<T, String>) -> Option<T> {
        let state = &mut *self.lock();
        let Some(answer) = state.answers.get(key) else {
            if state.questions.insert(key.to_owned(), request).is_some() {
                let message = format!("two questions have the key {key:?}");
                state.refusal.get_or_insert(ErrorData::internal_error(message, None));
            }
            return None;
        };
        match read(answer.clone()) {
            Ok(value) => {
                state.read.insert(key.to_owned(), answer.clone());
                Some(value)
            }
            Err(reason) => {
                let message = format!("the answer to the question {:?} cannot be used: {reason}", quote(key));
                state.refusal.get_or_insert(ErrorData::invalid_params(message, None));
                None
            }
        }
    }

    /// Returns how often a text was asked before.
    pub(super) fn count(&self, text: &str) -> usize {
        let mut state = self.lock();
        let count = state.counts.entry(text.to_owned()).or_default();
        *count += 1;
        *count - 1
    }

    /// Returns the result that asks the client.
    fn questions(&self) -> Result<InputRequiredResult, ErrorData> {
        let state = &mut *self.lock();
        if let Some(refusal) = state.refusal.take() {
            return Err(refusal);
        }
        let sealed = self.sealer.seal(&state.read, &self.binding)?;
        Ok(InputRequiredResult::new(
            Some(std::mem::take(&mut state.questions)),
            sealed,
        ))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs a request until it ends, or asks. With a session, it always ends. Dropping the future drops the request.
pub(super) async fn run<T>(rounds: Option<&Rounds>, work: impl Future<Output = T>) -> Result<Round<T>, ErrorData> {
    let Some(rounds) = rounds else {
        return Ok(Round::Done(work.await));
    };
    tokio::select! {
        biased;
        done = work => Ok(Round::Done(done)),
        () = rounds.asked.notified() => rounds.questions().map(Round::Ask),
    }
}
