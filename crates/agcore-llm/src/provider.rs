//! [`LlmProvider`]: the contract for everything that answers chat requests.

mod info;
mod route;

pub use info::{Capabilities, ProviderInfo};
pub use route::ProviderRoute;

use std::{fmt, future::Future, sync::Arc, time::Duration};

use agcore_chat::{Actor, ChatRequest, ChatResponse, StopCheck};
use futures_util::{StreamExt, stream};
use tokio_util::sync::CancellationToken;

use crate::reply::{Notice, ReplyItem, ReplyStream};
use agcore_wire::{LlmError, deltas_from_response};

/// A component that answers chat requests: a wire on a transport, a layer around another provider, a script.
///
/// There is one method to implement and to wrap. The methods that users call are in
/// [`LlmProviderExt`](crate::LlmProviderExt).
///
/// ```
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_llm::{Call, LlmProvider, LlmProviderExt, ProviderInfo, ReplyDelta, ReplyItem, ReplyStream};
///
/// /// Repeats the last message, word by word.
/// #[derive(Debug)]
/// struct Parrot(ProviderInfo);
///
/// impl LlmProvider for Parrot {
///     fn open(&self, call: Call) -> ReplyStream {
///         let text = call.request.messages.last().map(|message| message.text().into_owned()).unwrap_or_default();
///         let words: Vec<String> = text.split_inclusive(' ').map(str::to_owned).collect();
///         let deltas = words.into_iter().map(|word| ReplyDelta::Text { choice: 0, text: word.into() });
///         ReplyStream::from_items(deltas.map(ReplyItem::Delta).chain([ReplyItem::End(Ok(()))]))
///     }
///
///     fn info(&self) -> &ProviderInfo {
///         &self.0
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let parrot = Parrot(ProviderInfo::new("parrot", "grey-1"));
/// let response = parrot.chat(ChatRequest::new([Message::user("Good day to you")])).await?;
/// assert_eq!(response.text(), "Good day to you");
/// assert_eq!(parrot.model(), "grey-1");
/// # Ok::<(), agcore_llm::LlmError>(())
/// # }).unwrap();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a provider of a model",
    label = "this does not implement `LlmProvider`",
    note = "create one with `agcore::model(\"openai:gpt-5-mini\", key)?` (`agcore_llm::model`), or with `ProviderConfig`; for tests, \
            with `provider_fn`"
)]
pub trait LlmProvider: Send + Sync + fmt::Debug {
    /// Starts a call and returns its reply.
    ///
    /// Nothing is sent before the stream is first polled. Dropping the stream closes the connection. If the token of
    /// the call is cancelled, the stream ends with [`LlmErrorKind::Cancelled`](agcore_wire::LlmErrorKind::Cancelled);
    /// [`ReplyStream::with_token`] does that for a provider that does not watch the token itself.
    fn open(&self, call: Call) -> ReplyStream;

    /// Returns the name and the capabilities of the provider. A layer returns those of the provider that it wraps.
    fn info(&self) -> &ProviderInfo {
        ProviderInfo::unknown()
    }

    /// Visits every route that a call with this model may take, in the order in which they are tried. `model` is that
    /// of the request, or empty if the request names none. Nothing is allocated.
    ///
    /// By default this is a single route, to the provider itself. A layer forwards to the provider that it wraps; a
    /// layer with several targets visits the routes of all of them that can receive calls.
    /// [`LlmProviderExt::routes`](crate::LlmProviderExt::routes) collects them.
    fn visit_routes<'a>(&'a self, model: &'a str, visit: &mut dyn FnMut(ProviderRoute<'a>)) {
        visit(ProviderRoute::new(self.info(), model));
    }
}

impl<P: LlmProvider + ?Sized> LlmProvider for Arc<P> {
    fn open(&self, call: Call) -> ReplyStream {
        (**self).open(call)
    }

    fn info(&self) -> &ProviderInfo {
        (**self).info()
    }

    fn visit_routes<'a>(&'a self, model: &'a str, visit: &mut dyn FnMut(ProviderRoute<'a>)) {
        (**self).visit_routes(model, visit);
    }
}

/// The kind of a [`Call`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum CallOperation {
    /// The model continues a conversation.
    #[default]
    Chat,
    /// The model computes embeddings of texts; see [`EmbeddingProvider`](crate::EmbeddingProvider).
    Embeddings,
    /// The model rates the relevance of documents.
    Rerank,
    /// The model makes images.
    ImageGeneration,
    /// The model makes speech.
    Speech,
    /// The model makes text from speech.
    Transcription,
    /// The model makes videos, which takes several calls.
    VideoGeneration,
}

/// One call of a model.
///
/// ```
/// use std::time::Duration;
/// use agcore_chat::{ChatRequest, ChatResponse, Message};
/// use agcore_llm::{Call, LlmErrorKind, LlmProviderExt, provider_fn};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let provider = provider_fn(|call| async move { Ok(ChatResponse::from_text(call.trace.as_deref().unwrap_or("none"))) });
/// let request = ChatRequest::new([Message::user("Hello")]);
///
/// let call = Call::new(request.clone()).with_deadline(Duration::from_secs(30)).with_trace("conversation-7");
/// assert_eq!(provider.chat_call(call).await?.text(), "conversation-7");
///
/// let call = Call::new(request);
/// call.token.cancel();
/// assert_eq!(provider.chat_call(call).await.unwrap_err().kind(), LlmErrorKind::Cancelled);
/// # Ok::<(), agcore_llm::LlmError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
#[must_use]
#[non_exhaustive]
pub struct Call {
    /// The request; shared, so that attempts and layers copy nothing.
    pub request: Arc<ChatRequest>,
    /// Whether the reply is streamed while the model generates it.
    pub stream: bool,
    /// Cancels the call, which then ends with `Cancelled`.
    pub token: CancellationToken,
    /// The time left for the whole call, including waits and retries.
    pub deadline: Option<Duration>,
    /// The kind of call.
    pub operation: CallOperation,
    /// The number of the attempt, from 0.
    pub attempt: u32,
    /// The id by which the caller finds the call in logs and spans.
    pub trace: Option<Arc<str>>,
    /// The actor on whose behalf the call is made; [`Actor::local`] if `None`.
    pub actor: Option<Arc<Actor>>,
    /// Is asked before each attempt whether it may begin.
    pub stop_check: Option<StopCheck>,
}

impl Call {
    /// Creates a call whose reply is not streamed.
    pub fn new(request: impl Into<Arc<ChatRequest>>) -> Self {
        Self::cancellable(request, CancellationToken::new())
    }

    /// Creates a call like [`new`](Self::new) that `token` cancels.
    pub fn cancellable(request: impl Into<Arc<ChatRequest>>, token: CancellationToken) -> Self {
        Self {
            request: request.into(),
            stream: false,
            token,
            deadline: None,
            operation: CallOperation::Chat,
            attempt: 0,
            trace: None,
            actor: None,
            stop_check: None,
        }
    }

    /// Sets whether the reply is streamed.
    pub fn with_stream(mut self, stream: bool) -> Self {
        self.stream = stream;
        self
    }

    /// Sets the token that cancels the call.
    pub fn with_token(mut self, token: CancellationToken) -> Self {
        self.token = token;
        self
    }

    /// Sets the time that the whole call may take.
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Sets the actor on whose behalf the call is made.
    pub fn with_actor(mut self, actor: impl Into<Arc<Actor>>) -> Self {
        self.actor = Some(actor.into());
        self
    }

    /// Sets the check that is asked before each attempt whether it may begin.
    pub fn with_stop_check(mut self, check: StopCheck) -> Self {
        self.stop_check = Some(check);
        self
    }

    /// Returns whether nothing more may be sent: the call was cancelled, or its check requires it.
    pub fn must_stop(&self) -> bool {
        self.token.is_cancelled() || self.stop_check.as_ref().is_some_and(StopCheck::must_stop)
    }

    /// Returns the actor on whose behalf the call is made.
    pub fn actor(&self) -> &Actor {
        const LOCAL: &Actor = &Actor::LOCAL;
        self.actor.as_deref().unwrap_or(LOCAL)
    }

    /// Sets the id for logs and spans.
    pub fn with_trace(mut self, trace: impl Into<Arc<str>>) -> Self {
        self.trace = Some(trace.into());
        self
    }
}

/// Creates a provider from an async function that returns whole responses.
///
/// ```
/// use agcore_chat::{ChatRequest, ChatResponse, Message};
/// use agcore_llm::{provider_fn, LlmProviderExt};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let echo = provider_fn(|call| async move {
///     let last = call.request.messages.last().map(|message| message.text().into_owned()).unwrap_or_default();
///     Ok(ChatResponse::from_text(last))
/// });
/// let response = echo.chat(ChatRequest::new([Message::user("Hello")])).await?;
/// assert_eq!(response.text(), "Hello");
/// # Ok::<(), agcore_llm::LlmError>(())
/// # }).unwrap();
/// ```
pub fn provider_fn<F, R>(function: F) -> FnProvider<F>
where
    F: Fn(Call) -> R + Send + Sync,
    R: Future<Output = Result<ChatResponse, LlmError>> + Send + 'static,
{
    FnProvider(function)
}

/// The provider returned by [`provider_fn`].
#[must_use]
pub struct FnProvider<F>(F);

impl<F> fmt::Debug for FnProvider<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FnProvider")
    }
}

impl<F, R> LlmProvider for FnProvider<F>
where
    F: Fn(Call) -> R + Send + Sync,
    R: Future<Output = Result<ChatResponse, LlmError>> + Send + 'static,
{
    fn open(&self, call: Call) -> ReplyStream {
        let token = call.token.clone();
        let response = (self.0)(call);
        let items = async move {
            let response = tokio::select! {
                biased;
                () = token.cancelled() => Err(LlmError::cancelled()),
                response = response => response,
            };
            match response {
                Ok(mut response) => {
                    let answered_by = response.answered_by.take();
                    let answered_by = answered_by.map(|who| ReplyItem::Notice(Notice::AnsweredBy(who)));
                    let deltas = deltas_from_response(response).into_iter().map(ReplyItem::Delta);
                    let items = answered_by.into_iter().chain(deltas);
                    items.chain([ReplyItem::End(Ok(()))]).collect()
                }
                Err(error) => vec![ReplyItem::End(Err(error))],
            }
        };
        ReplyStream::new(stream::once(items).map(stream::iter).flatten())
    }
}
