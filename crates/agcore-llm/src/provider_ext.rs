//! [`LlmProviderExt`]: the methods that users call on a provider.

use std::{pin::pin, sync::Arc};

use agcore_chat::{ChatRequest, ChatResponse, SystemClock};
use async_trait::async_trait;

use crate::{
    layer::retry::{Retry, RetryPolicy},
    provider::{Call, Capabilities, LlmProvider, ProviderRoute},
    random::system_random,
    reply::{ReplyItem, ReplyStream},
};
use agcore_wire::{Fold, LlmError};

/// The methods that users call on a provider.
///
/// ```
/// use agcore_chat::{ChatRequest, ChatResponse, Message};
/// use agcore_llm::{LlmProviderExt, ReplyDelta, ReplyItem, provider_fn};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let provider = provider_fn(|_| async { Ok(ChatResponse::from_text("Paris.")) });
/// let request = ChatRequest::new([Message::user("What is the capital of France?")]);
///
/// // The whole response.
/// assert_eq!(provider.chat(request.clone()).await?.text(), "Paris.");
///
/// // Only the text, while it is generated.
/// let mut text = provider.chat_stream(request.clone()).text_stream();
/// while let Some(piece) = text.next().await {
///     assert_eq!(piece?, "Paris.");
/// }
///
/// // Everything: deltas of the reply, notices about the call, and its end.
/// let mut reply = provider.chat_stream(request);
/// let mut texts = Vec::new();
/// while let Some(item) = reply.next().await {
///     match item {
///         ReplyItem::Delta(ReplyDelta::Text { text, .. }) => texts.push(text),
///         ReplyItem::End(end) => end?,
///         _ => {}
///     }
/// }
/// assert_eq!(texts, ["Paris."]);
/// # Ok::<(), agcore_llm::LlmError>(())
/// # }).unwrap();
/// ```
#[async_trait]
pub trait LlmProviderExt: LlmProvider {
    /// Sends a request and waits for the whole reply.
    ///
    /// Cancel safe: dropping the future closes the connection.
    ///
    /// # Errors
    /// Returns the error of the provider, together with the part of the reply that had arrived.
    async fn chat(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        self.chat_call(Call::new(request)).await
    }

    /// Makes a call and waits for the whole reply, even if it is streamed.
    ///
    /// Cancel safe: dropping the future closes the connection. Cancelling the token of the call ends it, even if the
    /// provider ignores the token.
    ///
    /// # Errors
    /// Returns the error of the provider, together with the part of the reply that had arrived.
    async fn chat_call(&self, call: Call) -> Result<ChatResponse, LlmError> {
        let token = call.token.clone();
        let mut items = self.open(call);
        let mut fold = Fold::new();
        let mut cancelled = pin!(token.cancelled());
        loop {
            let item = tokio::select! {
                // A provider that ends the call itself knows more about it.
                biased;
                item = items.next() => item,
                () = &mut cancelled => Some(ReplyItem::End(Err(LlmError::cancelled()))),
            };
            let item = item.unwrap_or_else(|| ReplyItem::End(Err(LlmError::truncated())));
            if let Some(end) = item.fold_into(&mut fold) {
                return end;
            }
        }
    }

    /// Sends a request and returns the reply as a stream. Nothing is sent before the stream is first polled.
    fn chat_stream(&self, request: ChatRequest) -> ReplyStream {
        self.open(Call::new(request).with_stream(true))
    }

    /// Wraps the provider in a [`Retry`] with the system's clock and randomness.
    ///
    /// ```
    /// use agcore_chat::ChatResponse;
    /// use agcore_llm::{LlmProviderExt, layer::retry::RetryPolicy, provider_fn};
    ///
    /// let provider = provider_fn(|_| async { Ok(ChatResponse::from_text("Hi.")) }).with_retry(RetryPolicy::new());
    /// # let _ = provider;
    /// ```
    fn with_retry(self, policy: RetryPolicy) -> Retry<Self>
    where
        Self: Sized,
    {
        Retry::new(self, policy, Arc::new(SystemClock::new()), system_random())
    }

    /// Returns the model of requests that name none.
    fn model(&self) -> &str {
        &self.info().model
    }

    /// Returns the capabilities of the provider. If there are several providers, these are the capabilities of the
    /// first one.
    fn capabilities(&self) -> &Capabilities {
        &self.info().capabilities
    }

    /// Returns the routes that a call with this model may take, in the order in which they are tried: one, unless a
    /// layer has several targets. `model` is that of the request, or empty if the request names none.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use agcore_chat::ChatResponse;
    /// use agcore_llm::{
    ///     LlmProviderExt, SystemClock,
    ///     layer::{key_pool::PoolKey, router::{Route, Router}},
    ///     provider_fn, system_random,
    /// };
    ///
    /// let provider = || provider_fn(|_| async { Ok(ChatResponse::from_text("Hi.")) });
    /// let main = Route::from_keys("main", [PoolKey::new("team", provider()), PoolKey::new("spare", provider())]);
    /// let router = Router::builder(Arc::new(SystemClock::new()), system_random())
    ///     .with_route(main)
    ///     .with_route(Route::new("backup", provider()).with_model("small-1"))
    ///     .build()?;
    /// let routes: Vec<_> = router.routes("large-2").iter().map(|route| (route.model, route.key)).collect();
    /// assert_eq!(routes, [("large-2", Some("team")), ("large-2", Some("spare")), ("small-1", Some("default"))]);
    /// # Ok::<(), agcore_llm::LlmError>(())
    /// ```
    fn routes<'a>(&'a self, model: &'a str) -> Vec<ProviderRoute<'a>> {
        let mut routes = Vec::new();
        self.visit_routes(model, &mut |route| routes.push(route));
        routes
    }

    /// Returns the capabilities that the provider has on every route. A request that needs no other capability can be
    /// served by each of them. The numbers are the smallest that are known.
    fn common_capabilities(&self) -> Capabilities {
        let mut common: Option<Capabilities> = None;
        self.visit_routes("", &mut |route| {
            common = Some(match common.take() {
                Some(common) => common.intersection(route.capabilities),
                None => route.capabilities.clone(),
            });
        });
        common.unwrap_or_else(|| self.info().capabilities.clone())
    }
}

impl<P: LlmProvider + ?Sized> LlmProviderExt for P {}
