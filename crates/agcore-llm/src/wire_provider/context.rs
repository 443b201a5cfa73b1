//! The context of errors: the names of the provider and the model.

use agcore_chat::ChatRequest;

use crate::{credential::SecretGuard, provider::ProviderInfo};
use agcore_wire::LlmError;

/// Adds the names of the provider and the model to an error that has none, and removes keys from it.
pub(super) fn add(error: LlmError, info: &ProviderInfo, request: &ChatRequest, guard: &SecretGuard) -> LlmError {
    let model = if request.model.is_empty() {
        &*info.model
    } else {
        request.model.as_str()
    };
    let error = if error.provider().is_none() {
        error.with_provider(&*info.name)
    } else {
        error
    };
    let error = if error.model().is_none() && !model.is_empty() {
        error.with_model(model)
    } else {
        error
    };
    guard.redact(error)
}
