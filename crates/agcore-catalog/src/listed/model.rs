//! [`SnapshotModel`]: a model of a snapshot.

use crate::catalog::spec::Model;

/// A model of a snapshot: a row as in a catalog, and what public sources state besides.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SnapshotModel {
    /// The name, kind, limits, capabilities and prices. The version of each price is the id of the snapshot.
    pub model: Model,
    /// Other names of the same model at the same prices.
    pub aliases: Vec<String>,
    /// The kinds of content in requests: `text`, `image`, `audio`, `video` and `pdf`.
    pub inputs: Vec<String>,
    /// The kinds of content in replies.
    pub outputs: Vec<String>,
    /// The day on which the vendor retires the model, as `YYYY-MM-DD`.
    pub retires: Option<String>,
    /// Whether a price of 0 is meant, and does not stand for one that no source knows.
    pub is_free: bool,
    /// The key of the source in the list of [sources](crate::Snapshot::sources).
    pub source: String,
    /// Whether the list that was read states a price of 0, which is not kept.
    pub(super) states_zero: bool,
}

impl SnapshotModel {
    /// Returns the name by which the vendor calls the model.
    pub fn name(&self) -> &str {
        &self.model.name
    }

    /// Returns all names of the model.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        [self.model.name.as_str()]
            .into_iter()
            .chain(self.aliases.iter().map(String::as_str))
    }
}

/// Returns all names of models, each with its model.
pub(super) fn names(models: &[SnapshotModel]) -> impl Iterator<Item = (&str, &SnapshotModel)> {
    models
        .iter()
        .flat_map(|model| model.names().map(move |name| (name, model)))
}
