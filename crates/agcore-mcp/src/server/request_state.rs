//! The state of a request without a session: the answers of earlier rounds, which the client sends back.
//!
//! The state is sealed with a key, so that a client cannot change it, and bound to the request, so that it cannot be used
//! for another. It is not encrypted: the client knows its own answers.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, SystemTime},
};

use agcore_chat::{Clock, RawArguments, Text};
use rmcp::{
    ErrorData,
    model::{RequestStateCodec, SealOptions},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The longest time for a client to answer.
const LIFETIME: Duration = Duration::from_secs(3600);

/// The largest state, in bytes. It travels with every further round.
const MAX_BYTES: usize = 1024 * 1024;

/// The secret that seals states.
#[derive(Clone)]
pub(super) struct StateKey(RequestStateCodec);

impl StateKey {
    pub(super) fn new(key: [u8; 32]) -> Self {
        Self(RequestStateCodec::new_unchecked(key))
    }
}

/// The request that a state belongs to.
pub(super) struct Binding {
    method: &'static str,
    name: Text,
    arguments: RawArguments,
}

impl Binding {
    pub(super) fn new(method: &'static str, name: &str, arguments: impl Into<RawArguments>) -> Self {
        Self {
            method,
            name: name.into(),
            arguments: arguments.into(),
        }
    }

    /// Returns the text that is sealed with the state. Most requests have no state, so it is made only when it is needed.
    fn text(&self) -> String {
        let arguments: Value = serde_json::from_str(&self.arguments).unwrap_or_default();
        let mut request = json!([self.method, &*self.name, arguments]);
        // A client may send the members of an object in another order.
        request.sort_all_objects();
        request.to_string()
    }
}

#[derive(Serialize, Deserialize)]
struct Saved {
    /// When the state expires, in seconds since 1970.
    expires: u64,
    answers: BTreeMap<String, Value>,
}

/// Seals and opens states.
pub(super) struct Sealer {
    /// Without a key, there are no states.
    pub(super) key: Option<StateKey>,
    pub(super) clock: Arc<dyn Clock>,
}

impl Sealer {
    /// Seals answers. Returns `None` if there are none and the server has no key.
    pub(super) fn seal(
        &self,
        answers: &BTreeMap<String, Value>,
        binding: &Binding,
    ) -> Result<Option<String>, ErrorData> {
        let Some(StateKey(codec)) = &self.key else {
            if answers.is_empty() {
                return Ok(None);
            }
            let message = "the server has no key for the state of requests, so it can ask once only; set one with \
                           McpServer::with_state_key";
            return Err(ErrorData::internal_error(message, None));
        };
        let saved = Saved {
            expires: self.seconds() + LIFETIME.as_secs(),
            answers: answers.clone(),
        };
        let binding = binding.text();
        let options = SealOptions::new().associated_data(binding.as_bytes());
        let sealed = codec.seal_json_with(&saved, &options);
        let sealed = sealed.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        if sealed.len() > MAX_BYTES {
            let message = format!("the answers so far need more than {MAX_BYTES} bytes");
            return Err(ErrorData::invalid_params(message, None));
        }
        Ok(Some(sealed))
    }

    /// Opens a state that a client sent.
    pub(super) fn open(&self, sealed: &str, binding: &Binding) -> Result<BTreeMap<String, Value>, ErrorData> {
        let refused = |reason: &str| {
            let message = format!("the state of the request cannot be used: {reason}; send the request without it");
            ErrorData::invalid_params(message, None)
        };
        let Some(StateKey(codec)) = &self.key else {
            return Err(refused("this server has not made one"));
        };
        if sealed.len() > MAX_BYTES {
            return Err(refused("it is too long"));
        }
        // An honest client gains nothing from the reason.
        let saved = codec.open_json_with::<Saved>(sealed, binding.text().as_bytes());
        let saved = saved.map_err(|_| refused("it was changed, or is that of another request"))?;
        if saved.expires < self.seconds() {
            return Err(refused("it has expired"));
        }
        Ok(saved.answers)
    }

    /// Returns the seconds since 1970.
    fn seconds(&self) -> u64 {
        let now = self.clock.now().duration_since(SystemTime::UNIX_EPOCH);
        now.map_or(0, |elapsed| elapsed.as_secs())
    }
}

#[cfg(test)]
mod tests {
    use agcore_chat::SystemClock;

    use super::*;

    fn sealer(key: Option<u8>) -> Sealer {
        Sealer {
            key: key.map(|byte| StateKey::new([byte; 32])),
            clock: Arc::new(SystemClock::new()),
        }
    }

    fn answers() -> BTreeMap<String, Value> {
        BTreeMap::from([("who".to_owned(), json!({"action": "decline"}))])
    }

    #[test]
    fn states_belong_to_one_request_and_key() {
        let binding = Binding::new("tools/call", "a", json!({"x": 1, "y": {"b": 2, "c": 3}}).to_string());
        let sealed = sealer(Some(1)).seal(&answers(), &binding).unwrap().unwrap();
        let reordered = Binding::new("tools/call", "a", json!({"y": {"c": 3, "b": 2}, "x": 1}).to_string());
        assert_eq!(sealer(Some(1)).open(&sealed, &reordered).unwrap(), answers());

        let others = [
            Binding::new("tools/call", "a", json!({"x": 2, "y": {"b": 2, "c": 3}}).to_string()),
            Binding::new("tools/call", "b", json!({"x": 1, "y": {"b": 2, "c": 3}}).to_string()),
            Binding::new("prompts/get", "a", json!({"x": 1, "y": {"b": 2, "c": 3}}).to_string()),
        ];
        for other in others {
            assert!(sealer(Some(1)).open(&sealed, &other).is_err());
        }
        assert!(sealer(Some(2)).open(&sealed, &binding).is_err());
        assert!(sealer(None).open(&sealed, &binding).is_err());
        for changed in [
            format!("{sealed}x"),
            sealed.replacen('.', "", 1),
            sealed[1..].to_owned(),
            String::new(),
        ] {
            let error = sealer(Some(1)).open(&changed, &binding).unwrap_err();
            assert_eq!(error.code, rmcp::model::ErrorCode::INVALID_PARAMS, "{changed}");
        }
    }

    #[test]
    fn without_a_key_there_are_no_states() {
        let binding = Binding::new("tools/call", "a", Value::Null.to_string());
        assert_eq!(sealer(None).seal(&BTreeMap::new(), &binding).unwrap(), None);
        let error = sealer(None).seal(&answers(), &binding).unwrap_err();
        assert!(error.message.contains("with_state_key"), "{error}");
    }

    #[test]
    fn states_have_a_limit() {
        let binding = Binding::new("tools/call", "a", Value::Null.to_string());
        let long = BTreeMap::from([("long".to_owned(), json!("x".repeat(MAX_BYTES)))]);
        assert!(sealer(Some(1)).seal(&long, &binding).is_err());
        assert!(sealer(Some(1)).open(&"x".repeat(MAX_BYTES + 1), &binding).is_err());
    }
}
