//! The providers of a vendor's models with one key.

use std::{collections::HashMap, sync::Arc};

use agcore_llm::{
    CallOperation, LlmError, LlmErrorKind, LlmProvider, ProviderConfig, ProviderType, UnknownProviderType,
    credential::Secret, wire::ResponseShape,
};

use super::key_handle::{ByModel, operation};
use crate::catalog::{
    shape::ShapeRow,
    spec::{Endpoint, Vendor},
};

/// Creates the providers of all models that can be called. Models of an endpoint share one if their calls and shapes are the
/// same.
pub(super) fn by_model(vendor: &Vendor, secret: Option<&Secret>) -> Result<ByModel, LlmError> {
    let mut by_model = ByModel::new();
    for endpoint in &vendor.endpoints {
        let mut providers: HashMap<(CallOperation, Option<String>), Arc<dyn LlmProvider>> = HashMap::new();
        for model in &vendor.models {
            let Some(calls) = operation(model.kind).filter(|_| vendor.endpoint_of(model) == Some(endpoint)) else {
                continue;
            };
            let id = (calls, model.response_shape.as_ref().map(|shape| format!("{shape:?}")));
            let provider = match providers.get(&id) {
                Some(known) => Arc::clone(known),
                None => {
                    let config = config(vendor, endpoint, model.response_shape.as_ref(), secret)?;
                    let provider = config.build_for(calls)?;
                    providers.insert(id, Arc::clone(&provider));
                    provider
                }
            };
            by_model.insert((calls, model.vendor_name.clone()), provider);
        }
    }
    Ok(by_model)
}

fn config(
    vendor: &Vendor,
    endpoint: &Endpoint,
    shape: Option<&ShapeRow>,
    secret: Option<&Secret>,
) -> Result<ProviderConfig, LlmError> {
    let api: ProviderType = endpoint.api.parse().map_err(|error: UnknownProviderType| {
        let message = format!("vendor `{}`, endpoint `{}`: {error}", vendor.name, endpoint.name);
        LlmError::new(LlmErrorKind::InvalidRequest, message)
    })?;
    let own_shape = api.response_shape();
    let mut config = ProviderConfig::new(api, "").with_name(vendor.name.as_str());
    if let Some(url) = &endpoint.base_url {
        config = config.with_base_url(url.as_str());
    }
    if let Some(secret) = secret {
        config = config.with_api_key(secret.clone());
    }
    if let Some(row) = shape {
        let form = row.form.as_deref().and_then(ResponseShape::named).or(own_shape);
        config = config.with_response_shape(with_row(form.unwrap_or_else(ResponseShape::openai), row));
    }
    Ok(config)
}

fn with_row(mut shape: ResponseShape, row: &ShapeRow) -> ResponseShape {
    if let Some(path) = &row.path {
        shape = shape.with_path(path.as_str());
    }
    let pointers = row.pointers.iter();
    pointers.fold(shape, |shape, (name, pointer)| {
        shape.with_pointer(name.as_str(), pointer.as_str())
    })
}
