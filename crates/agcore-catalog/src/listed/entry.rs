//! [`Entry`]: a model as a public price list describes it.

use agcore_document::Place;

use super::{model::SnapshotModel, row::STANDARD};
use crate::{
    catalog::{kind::ModelKind, spec::Model},
    currency::Currency,
    price::{
        model_price::ModelPrice,
        tiers::{Tier, TierTable},
    },
    problem::Problem,
};

/// A model as a public price list describes it.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: String,
    pub(super) kind: ModelKind,
    pub(super) window: Option<u64>,
    pub(super) max: Option<u64>,
    pub(super) capabilities: Vec<String>,
    pub(super) inputs: Vec<String>,
    pub(super) outputs: Vec<String>,
    pub(super) retires: Option<String>,
    /// The tiers of each class that has a price.
    pub(super) prices: Vec<(String, TierTable)>,
    /// Whether the list states a price of 0.
    pub(super) states_zero: bool,
}

/// The entries of a list.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The name of the vendor, and the entry.
    pub(super) entries: Vec<(String, Entry)>,
    /// The values that cannot be expressed.
    pub(super) skipped: Vec<Problem>,
}

impl Entry {
    pub(super) fn new(id: String, kind: ModelKind) -> Self {
        Self {
            id,
            kind,
            window: None,
            max: None,
            capabilities: Vec::new(),
            inputs: vec!["text".to_owned()],
            outputs: vec!["text".to_owned()],
            retires: None,
            prices: Vec::new(),
            states_zero: false,
        }
    }

    /// Removes a price of 0, because lists write 0 for what they do not know as well.
    pub(super) fn forget_zero(&mut self, is_stated: bool) {
        let standard = self.prices.iter().find(|(class, _)| class == STANDARD);
        if standard.is_none_or(|(_, table)| table.tiers().iter().all(Tier::is_free)) {
            self.states_zero = is_stated && standard.is_some();
            self.prices.clear();
        }
    }

    /// Returns the row of a snapshot.
    pub(super) fn into_model(self, currency: Currency, version: &str, source: &str) -> SnapshotModel {
        let price = |(class, table): (String, TierTable)| {
            let mut price = ModelPrice::new(self.id.as_str(), currency, table).with_version(version, None, None);
            price.service_class = (class != STANDARD).then_some(class);
            price
        };
        SnapshotModel {
            model: Model {
                prices: self.prices.into_iter().map(price).collect(),
                vendor_name: self.id.clone(),
                name: self.id,
                kind: self.kind,
                endpoint: String::new(),
                version: None,
                context_window: self.window,
                max_output_tokens: self.max,
                capabilities: self.capabilities,
                is_default: false,
                fallbacks: Vec::new(),
                response_shape: None,
                place: Place::default(),
            },
            aliases: Vec::new(),
            inputs: self.inputs,
            outputs: self.outputs,
            retires: self.retires,
            is_free: false,
            source: source.to_owned(),
            states_zero: self.states_zero,
        }
    }
}
