//! [`CallId`] and [`ResponseId`]: ids that contain the thread, so that a client that comes back needs nothing else.

use agcore_chat::id;
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};

/// The longest text of an id that is read, in bytes.
const MAX_BYTES: usize = 2048;

macro_rules! ids {
    ($(#[doc = $doc:literal])+ $name:ident, $prefix:literal, $second:ident, $what:literal) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub struct $name {
            /// The id of the thread.
            pub thread: String,
            #[doc = $what]
            pub $second: String,
        }

        impl $name {
            /// Creates an id.
            pub fn new(thread: impl Into<String>, $second: impl Into<String>) -> Self {
                Self {
                    thread: thread.into(),
                    $second: $second.into(),
                }
            }

            /// Returns the id as clients see it: letters, digits, `_` and `-`.
            pub fn encode(&self) -> String {
                format!("{}{}", $prefix, BASE64.encode(id::join([&self.thread, &self.$second])))
            }

            /// Reads what [`encode`](Self::encode) has returned; `None` for every other text.
            pub fn decode(text: &str) -> Option<Self> {
                let [thread, $second] = decode($prefix, text)?;
                let id = Self { thread, $second };
                (id.encode() == text).then_some(id)
            }
        }
    };
}

ids!(
    /// The id of a call of a client's tool. Its result may arrive at another process, after a restart.
    ///
    /// It proves nothing: check that the thread belongs to the user.
    ///
    /// ```
    /// use agcore_openai::CallId;
    ///
    /// let id = CallId::new("thread/1", "call_7");
    /// assert!(id.encode().starts_with("call_"));
    /// assert_eq!(CallId::decode(&id.encode()), Some(id));
    /// assert_eq!(CallId::decode("call_abc"), None);
    /// ```
    CallId, "call_", call, "The id by which the thread knows the call."
);

ids!(
    /// The id of a response: a run of a thread.
    ///
    /// It proves nothing: check that the thread belongs to the user.
    ///
    /// ```
    /// use agcore_openai::ResponseId;
    ///
    /// let id = ResponseId::new("thread_1", "run_1");
    /// assert_eq!(ResponseId::decode(&id.encode()), Some(id));
    /// ```
    ResponseId, "resp_", run, "The id of the run."
);

fn decode(prefix: &str, text: &str) -> Option<[String; 2]> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let bytes = BASE64.decode(text.strip_prefix(prefix)?).ok()?;
    let parts = id::split(std::str::from_utf8(&bytes).ok()?)?;
    parts.try_into().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_id_is_read_back(thread in ".{0,40}", call in ".{0,40}") {
            let id = CallId::new(thread, call);
            prop_assert_eq!(CallId::decode(&id.encode()), Some(id));
        }

        #[test]
        fn foreign_ids_are_none_or_their_own_form(text in "(call_)?[A-Za-z0-9_-]{0,40}") {
            if let Some(id) = CallId::decode(&text) {
                prop_assert_eq!(id.encode(), text);
            }
        }
    }

    #[test]
    fn the_kinds_of_ids_are_not_exchanged() {
        let id = ResponseId::new("t", "r").encode();
        assert_eq!(CallId::decode(&id.replace("resp_", "call_")).unwrap().call, "r");
        assert_eq!(CallId::decode(&id), None);
        assert_eq!(ResponseId::decode(&format!("resp_{}", "A".repeat(4096))), None);
    }
}
