//! [`Adapt`]: changes requests for one provider, and leaves out parameters that only tune a reply if the API lacks
//! them.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use agcore_chat::ChatRequest;
use futures_core::Stream;

use crate::{
    provider::{Call, LlmProvider, ProviderInfo, ProviderRoute},
    reply::{ReplyItem, ReplyStream},
};
use agcore_wire::adapt::relax;

/// A function that changes requests.
pub(super) type RequestMap = Arc<dyn Fn(&mut ChatRequest) + Send + Sync>;

/// A provider whose requests are adapted to it.
///
/// Requests are refused if the API lacks one of their parameters, because a value that is ignored silently is hard to
/// notice. If an answer matters more than such a parameter, for example with a spare provider,
/// [`with_relaxed`](Self::with_relaxed) leaves out the parameters that only tune a reply, and replaces values that are
/// out of range by the nearest one; the module [`adapt`](agcore_wire::adapt) lists them. Each change is reported as an
/// event of the crate `tracing`. Anything else, such as other tools for this provider, can be changed with
/// [`with_map`](Self::with_map).
///
/// ```
/// use agcore_chat::{ChatRequest, ChatResponse, Message};
/// use agcore_llm::{
///     LlmError, LlmErrorKind, LlmProviderExt,
///     layer::adapt::Adapt,
///     provider_fn,
///     wire::Unsupported,
/// };
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// // Refuses a seed, like an API that has no such parameter.
/// let provider = provider_fn(|call| async move {
///     match call.request.seed {
///         None => Ok(ChatResponse::from_text("Hi.")),
///         Some(_) => {
///             let error = LlmError::new(LlmErrorKind::InvalidRequest, "the API has no `seed`");
///             Err(error.with_unsupported(Unsupported::new("seed")))
///         }
///     }
/// });
/// let provider = Adapt::new(provider).with_relaxed(true).with_map(|request| request.user = None);
///
/// let mut request = ChatRequest::new([Message::user("Hello")]);
/// request.seed = Some(7);
/// assert_eq!(provider.chat(request).await?.text(), "Hi.");
/// # Ok::<(), LlmError>(())
/// # }).unwrap();
/// ```
#[must_use]
pub struct Adapt<P> {
    inner: Arc<P>,
    map: Option<RequestMap>,
    relaxed: bool,
}

impl<P> Adapt<P> {
    /// Wraps a provider. Without further settings, requests are not changed.
    pub fn new(inner: P) -> Self {
        Self {
            inner: Arc::new(inner),
            map: None,
            relaxed: false,
        }
    }

    /// Sets a function that changes each request before it is encoded. It cannot change the model.
    pub fn with_map(self, map: impl Fn(&mut ChatRequest) + Send + Sync + 'static) -> Self {
        self.with_shared_map(Some(Arc::new(map)))
    }

    /// Sets whether parameters that only tune the reply are left out where the API lacks them. The default is `false`.
    pub fn with_relaxed(mut self, relaxed: bool) -> Self {
        self.relaxed = relaxed;
        self
    }

    pub(super) fn with_shared_map(mut self, map: Option<RequestMap>) -> Self {
        self.map = map;
        self
    }
}

impl<P: fmt::Debug> fmt::Debug for Adapt<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Adapt")
            .field("inner", &self.inner)
            .field("map", &self.map.is_some())
            .field("relaxed", &self.relaxed)
            .finish()
    }
}

impl<P: LlmProvider + 'static> LlmProvider for Adapt<P> {
    fn open(&self, mut call: Call) -> ReplyStream {
        if let Some(map) = &self.map {
            let request = Arc::make_mut(&mut call.request);
            let model = request.model.clone();
            map(request);
            request.model = model;
        }
        if !self.relaxed {
            return self.inner.open(call);
        }
        ReplyStream::new(AdaptedStream {
            reply: self.inner.open(call.clone()),
            inner: Arc::clone(&self.inner),
            call: Some(call),
        })
    }

    fn info(&self) -> &ProviderInfo {
        self.inner.info()
    }

    fn visit_routes<'a>(&'a self, model: &'a str, visit: &mut dyn FnMut(ProviderRoute<'a>)) {
        self.inner.visit_routes(model, visit);
    }
}

/// A reply whose request is relaxed until it is no longer refused. This ends, because each step removes a parameter.
struct AdaptedStream<P> {
    inner: Arc<P>,
    /// The call, until a part of the reply has arrived.
    call: Option<Call>,
    reply: ReplyStream,
}

impl<P: LlmProvider + 'static> Stream for AdaptedStream<P> {
    type Item = ReplyItem;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ReplyItem>> {
        let this = self.get_mut();
        loop {
            let item = ready!(Pin::new(&mut this.reply).poll_next(cx));
            match (&item, &mut this.call) {
                (Some(ReplyItem::End(Err(error))), Some(call)) if error.is_unsupported() => {
                    let Some(relaxed) = relax(Arc::make_mut(&mut call.request), error) else {
                        return Poll::Ready(item);
                    };
                    let (provider, replaced_by) = (&*this.inner.info().name, relaxed.replaced_by.as_deref());
                    tracing::info!(
                        provider,
                        parameter = relaxed.parameter,
                        replaced_by,
                        "the request was adapted"
                    );
                    this.reply = this.inner.open(call.clone());
                }
                (Some(ReplyItem::Delta(_)), call) => {
                    *call = None;
                    return Poll::Ready(item);
                }
                _ => return Poll::Ready(item),
            }
        }
    }
}
