//! Stored sessions, for tools: idempotency keys, and values that are kept.

use std::fmt::Write as _;

use agcore_chat::Text;
use sha2::{Digest, Sha256};

use super::{ToolContext, ToolContextBuilder};
use crate::session::ToolSession;

/// The number of bytes of a key, which is written in hexadecimal digits.
const BYTES: usize = 16;

impl ToolContext {
    /// Returns a key for the effect of this call: 32 hexadecimal digits that are the same when the call is repeated, after a crash
    /// or by another process, and different for every other call. Pass it on to a service that recognizes requests which it has
    /// seen, for example in the header `Idempotency-Key`, or make it a unique column: then a repeated call has no second effect.
    ///
    /// `None` if no stored session guarantees that, and outside of a call.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use agcore_chat::ToolCall;
    /// use agcore_tools::{NoArguments, SystemClock, ToolContext, ToolError, ToolRegistry, typed};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), ToolError> {
    /// let tools = ToolRegistry::new();
    /// tools.register(typed("pay", "Pays a bill.", |_: NoArguments, context: ToolContext| async move {
    ///     Ok::<_, ToolError>(context.idempotency_key().unwrap_or_default())
    /// }))?;
    ///
    /// // Sessions in a store do this.
    /// let context = ToolContext::builder(Arc::new(SystemClock::new())).with_key_scope("session 7, turn 3").build();
    /// let first = tools.invoke(ToolCall::function("call_1", "pay", "{}"), &context).await.result?;
    /// let again = tools.invoke(ToolCall::function("call_1", "pay", "{}"), &context).await.result?;
    /// let other = tools.invoke(ToolCall::function("call_2", "pay", "{}"), &context).await.result?;
    /// assert_eq!(first.as_value(), again.as_value());
    /// assert_ne!(first.as_value(), other.as_value());
    /// # Ok(())
    /// # }
    /// ```
    pub fn idempotency_key(&self) -> Option<String> {
        let (scope, call) = (self.run.key_scope.as_ref()?, self.call.as_ref()?);
        Some(of_call(scope, &call.id))
    }

    /// Returns the state that the calls of the session share, in which a tool can keep values. It is stored with the session.
    /// `None` outside of a call.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use agcore_chat::ToolCall;
    /// use agcore_tools::{NoArguments, SystemClock, ToolContext, ToolError, ToolRegistry, ToolSession, typed};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), ToolError> {
    /// let tools = ToolRegistry::new();
    /// tools.register(typed("count", "Counts its calls.", |_: NoArguments, context: ToolContext| async move {
    ///     let session = context.tool_session().ok_or_else(|| ToolError::failed("there is no session"))?;
    ///     let count = session.value("count").and_then(|count| count.as_u64()).unwrap_or(0) + 1;
    ///     session.set_value("count", Some(count.into()));
    ///     Ok::<_, ToolError>(count.to_string())
    /// }))?;
    ///
    /// let session = ToolSession::new();
    /// let context = ToolContext::builder(Arc::new(SystemClock::new())).build();
    /// let executor = tools.executor(context).with_session(session.clone()).build()?;
    /// for id in ["call_1", "call_2"] {
    ///     executor.settle(agcore_chat::ToolWork::new(ToolCall::function(id, "count", "{}"))).await;
    /// }
    /// assert_eq!(session.value("count"), Some(2.into()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn tool_session(&self) -> Option<&ToolSession> {
        self.call.as_ref().map(|call| &call.session)
    }
}

impl ToolContextBuilder {
    /// Sets a text that names the turn whose calls these are, and no other turn of any session: without it, calls have no
    /// [idempotency keys](ToolContext::idempotency_key). A turn that continues after a crash must have the same text.
    pub fn with_key_scope(mut self, scope: impl Into<Text>) -> Self {
        self.key_scope = Some(scope.into());
        self
    }
}

/// Returns the key of a call. Ids of calls come from models, so they are not used as they are.
fn of_call(scope: &str, call: &str) -> String {
    let mut hash = Sha256::new();
    // The length of the scope decides where the id begins.
    hash.update((scope.len() as u64).to_be_bytes());
    hash.update(scope);
    hash.update(call);
    let mut key = String::with_capacity(2 * BYTES);
    for byte in hash.finalize().iter().take(BYTES) {
        // Writing to a string does not fail.
        let _ = write!(key, "{byte:02x}");
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_of_each_scope_has_a_key_of_its_own() {
        let key = of_call("session/1", "call_1");
        assert_eq!((key.len(), &*key), (32, &*of_call("session/1", "call_1")));
        for (scope, call) in [
            ("session/1", "call_2"),
            ("session/2", "call_1"),
            ("session/", "1call_1"),
            ("", "session/1call_1"),
            ("session/1call_1", ""),
        ] {
            assert_ne!(key, of_call(scope, call), "{scope} {call}");
        }
        assert!(of_call("\0", "\u{202e}").chars().all(|digit| digit.is_ascii_hexdigit()));
    }
}
