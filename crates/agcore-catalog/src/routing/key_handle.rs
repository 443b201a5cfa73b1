//! [`KeyHandle`]: a key with its limits and meter, and the endpoints that it opens.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use agcore_chat::{Clock, Usage};
use agcore_document::Place;
use agcore_llm::{
    Call, CallOperation, LlmError, LlmErrorKind, LlmProvider, ProviderInfo, ReplyDelta, ReplyItem, ReplyStream,
    layer::rate_limit::{RateLimit, RateLimits},
};
use futures_util::Stream;

use super::meter::Meter;
use crate::catalog::{
    kind::ModelKind,
    shape::ShapeRow,
    spec::{Endpoint, Key, Vendor},
};

/// A key of a vendor, shared by all models that are called with it.
#[derive(Debug)]
pub(super) struct KeyHandle {
    /// The rows of the catalog that it was created from.
    pub(super) row: (Key, Vec<Endpoint>, Vec<ModelRow>),
    pub(super) meter: Arc<Meter>,
    /// `None` if the resolver did not find the key.
    pub(super) provider: Option<Arc<dyn LlmProvider>>,
}

/// A model that can be called: the name that the vendor uses, the endpoint, the kind and the shape.
pub(super) type ModelRow = (String, String, ModelKind, Option<ShapeRow>);

/// Returns the models of a vendor that can be called.
pub(super) fn callable_models(vendor: &Vendor) -> Vec<ModelRow> {
    let models = vendor.models.iter().filter(|model| operation(model.kind).is_some());
    let rows = models.map(|model| {
        let endpoint = vendor.endpoint_of(model).map(|endpoint| endpoint.name.clone());
        let (name, shape) = (model.vendor_name.clone(), model.response_shape.clone());
        (name, endpoint.unwrap_or_default(), model.kind, shape)
    });
    rows.collect()
}

/// Returns the kind of calls that models of a kind take; `None` if they cannot be called.
pub(super) fn operation(kind: ModelKind) -> Option<CallOperation> {
    Some(match kind {
        ModelKind::Text | ModelKind::Reasoning | ModelKind::Multimodal => CallOperation::Chat,
        ModelKind::Embedding => CallOperation::Embeddings,
        ModelKind::Rerank => CallOperation::Rerank,
        ModelKind::TextToImage => CallOperation::ImageGeneration,
        ModelKind::Speech => CallOperation::Speech,
        ModelKind::Transcription => CallOperation::Transcription,
        ModelKind::TextToVideo => CallOperation::VideoGeneration,
    })
}

/// Providers by the kind of call and the name that the vendor gives to the model.
pub(super) type ByModel = HashMap<(CallOperation, String), Arc<dyn LlmProvider>>;

impl KeyHandle {
    /// Returns whether a key would be created anew just as it is. A key that was not found is looked for again.
    pub(super) fn is_same(&self, vendor: &Vendor, key: &Key) -> bool {
        let (old, endpoints, models) = &self.row;
        let without_places = |endpoint: &Endpoint| Endpoint {
            place: Place::default(),
            ..endpoint.clone()
        };
        let same_endpoints = endpoints
            .iter()
            .map(without_places)
            .eq(vendor.endpoints.iter().map(without_places));
        let same_key = Key {
            place: key.place,
            ..old.clone()
        } == *key;
        self.provider.is_some() && same_key && same_endpoints && *models == callable_models(vendor)
    }

    /// Puts the meter and the limits of a key around its endpoints, by the names that the vendor gives to models.
    pub(super) fn limited(
        key: &Key,
        vendor: &str,
        by_model: ByModel,
        meter: &Arc<Meter>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Arc<dyn LlmProvider>, LlmError> {
        let metered = Metered {
            info: ProviderInfo::new(vendor, ""),
            by_model,
            meter: Arc::clone(meter),
        };
        // A call never waits for one key: the pool tries the others, and waits if none is available.
        let mut limits = RateLimits::new().with_max_wait(std::time::Duration::ZERO);
        limits.requests_per_minute = key.requests_per_minute;
        limits.tokens_per_minute = key.tokens_per_minute;
        Ok(Arc::new(RateLimit::new(metered, limits, Arc::clone(clock))?))
    }
}

/// Counts the calls, and chooses the endpoint by the kind of the call and the model of the request.
#[derive(Debug)]
struct Metered {
    info: ProviderInfo,
    by_model: ByModel,
    meter: Arc<Meter>,
}

impl LlmProvider for Metered {
    fn open(&self, call: Call) -> ReplyStream {
        let Some(endpoint) = self.by_model.get(&(call.operation, call.request.model.clone())) else {
            let message = format!(
                "the key has no endpoint for such calls of the model `{}`",
                call.request.model
            );
            return ReplyStream::failed(LlmError::new(LlmErrorKind::NotFound, message));
        };
        ReplyStream::new(MeteredStream {
            inner: endpoint.open(call),
            meter: Arc::clone(&self.meter),
            is_sent: false,
            usage: None,
        })
    }

    fn info(&self) -> &ProviderInfo {
        &self.info
    }
}

/// Counts the request when the reply is first read, because nothing is sent before, and the usage when the reply ends or is
/// dropped.
struct MeteredStream {
    inner: ReplyStream,
    meter: Arc<Meter>,
    is_sent: bool,
    usage: Option<Box<Usage>>,
}

impl Stream for MeteredStream {
    type Item = ReplyItem;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ReplyItem>> {
        if !self.is_sent {
            self.is_sent = true;
            self.meter.sent();
        }
        let item = ready!(Pin::new(&mut self.inner).poll_next(cx));
        if let Some(ReplyItem::Delta(ReplyDelta::Usage(usage))) = &item {
            // A stream may report its usage several times; the last report counts.
            self.usage = Some(usage.clone());
        }
        Poll::Ready(item)
    }
}

impl Drop for MeteredStream {
    fn drop(&mut self) {
        if let Some(usage) = &self.usage {
            self.meter.used(usage);
        }
    }
}
