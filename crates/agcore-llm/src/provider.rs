//! [`LlmProvider`]: something that answers a chat request.

mod info;

pub use info::{Capabilities, ProviderInfo};

use std::{fmt, future::Future, sync::Arc, time::Duration};

use agcore_chat::{ChatRequest, ChatResponse};
use async_trait::async_trait;
use futures_util::{StreamExt, stream as items};
use tokio_util::sync::CancellationToken;

use crate::{
    delta::deltas_of,
    error::LlmError,
    fold::Fold,
    reply::{Notice, ReplyItem, ReplyStream},
};

/// Something that answers chat requests: a wire on a transport, a layer around another provider, a script.
///
/// One method to implement and to wrap. What users call comes on top, in [`LlmProviderExt`].
pub trait LlmProvider: Send + Sync + fmt::Debug {
    /// Begins to answer. Nothing is sent before the stream is first polled; dropping the stream closes the connection;
    /// the call's token ends it with [`LlmErrorKind::Cancelled`](crate::error::LlmErrorKind::Cancelled).
    fn open(&self, call: Call) -> ReplyStream;

    /// What it is called and what it can do. A layer forwards what it wraps.
    fn info(&self) -> &ProviderInfo {
        ProviderInfo::unknown()
    }
}

impl<P: LlmProvider + ?Sized> LlmProvider for Arc<P> {
    fn open(&self, call: Call) -> ReplyStream {
        (**self).open(call)
    }

    fn info(&self) -> &ProviderInfo {
        (**self).info()
    }
}

/// One call of a model.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Call {
    /// What is asked; shared, so that attempts and layers copy nothing.
    pub request: Arc<ChatRequest>,
    /// Whether the reply shall come as it is made.
    pub stream: bool,
    /// Ends the call with `Cancelled`.
    pub token: CancellationToken,
    /// How much time is left for the whole call, waits and retries included.
    pub deadline: Option<Duration>,
    /// Which attempt this is, from 0.
    pub attempt: u32,
    /// An id under which the caller finds the call in logs and spans.
    pub trace: Option<Arc<str>>,
}

impl Call {
    /// A whole, not streamed, call.
    pub fn new(request: impl Into<Arc<ChatRequest>>) -> Self {
        Self {
            request: request.into(),
            stream: false,
            token: CancellationToken::new(),
            deadline: None,
            attempt: 0,
            trace: None,
        }
    }

    /// Says whether the reply shall come as it is made.
    pub fn with_stream(mut self, stream: bool) -> Self {
        self.stream = stream;
        self
    }

    /// Sets the token that cancels the call.
    pub fn with_token(mut self, token: CancellationToken) -> Self {
        self.token = token;
        self
    }

    /// Sets how much time the whole call may take.
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Sets the id for logs and spans.
    pub fn with_trace(mut self, trace: impl Into<Arc<str>>) -> Self {
        self.trace = Some(trace.into());
        self
    }
}

/// What users call on a provider.
#[async_trait]
pub trait LlmProviderExt: LlmProvider {
    /// Asks and waits for the whole reply. Cancel safe: dropping the future closes the connection.
    ///
    /// # Errors
    /// What the provider says, with what had arrived before the failure.
    async fn chat(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        self.chat_call(Call::new(request)).await
    }

    /// Makes a call and folds its items into the whole reply.
    ///
    /// # Errors
    /// What the provider says, with what had arrived before the failure.
    async fn chat_call(&self, call: Call) -> Result<ChatResponse, LlmError> {
        let mut items = self.open(call);
        let mut fold = Fold::new();
        while let Some(item) = items.next().await {
            if let Some(end) = fold.absorb(item) {
                return end;
            }
        }
        fold.cut()
    }

    /// Asks for a streamed reply.
    fn chat_stream(&self, request: ChatRequest) -> ReplyStream {
        self.open(Call::new(request).with_stream(true))
    }

    /// The model that is asked when a request names none.
    fn model(&self) -> &str {
        &self.info().model
    }

    /// What the provider can do.
    fn capabilities(&self) -> &Capabilities {
        &self.info().capabilities
    }
}

impl<P: LlmProvider + ?Sized> LlmProviderExt for P {}

/// A provider made of a function that gives whole responses.
///
/// ```
/// use agcore_chat::{ChatRequest, ChatResponse, Message};
/// use agcore_llm::{LlmProviderExt, provider_fn};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let echo = provider_fn(|call| async move {
///     let last = call.request.messages.last().map(|message| message.text().into_owned()).unwrap_or_default();
///     Ok(ChatResponse::from_text(last))
/// });
/// let response = echo.chat(ChatRequest::new([Message::user("Hello")])).await.unwrap();
/// assert_eq!(response.text(), "Hello");
/// # });
/// ```
pub fn provider_fn<F, R>(function: F) -> FnProvider<F>
where
    F: Fn(Call) -> R + Send + Sync,
    R: Future<Output = Result<ChatResponse, LlmError>> + Send + 'static,
{
    FnProvider(function)
}

/// See [`provider_fn`].
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
        let answer = (self.0)(call);
        let answer = async move {
            let answer = tokio::select! {
                biased;
                () = token.cancelled() => Err(LlmError::cancelled()),
                answer = answer => answer,
            };
            match answer {
                Ok(mut response) => {
                    let who = response
                        .answered_by
                        .take()
                        .map(|who| ReplyItem::Notice(Notice::AnsweredBy(who)));
                    let deltas = deltas_of(response).into_iter().map(ReplyItem::Delta);
                    who.into_iter().chain(deltas).chain([ReplyItem::End(Ok(()))]).collect()
                }
                Err(error) => vec![ReplyItem::End(Err(error))],
            }
        };
        ReplyStream::new(items::once(answer).map(items::iter).flatten())
    }
}
