//! [`ListModels`]: which models a server offers.

use agcore_chat::Extra;

use super::Operation;

/// Asks a server for its models.
#[derive(Debug, Clone, Copy)]
pub struct ListModels;

impl Operation for ListModels {
    type Request = ();
    type Item = ModelEntry;
}

/// One model of a server's list.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelEntry {
    /// The name by which it is asked.
    pub id: String,
    /// Its name for people, where the server tells one.
    pub name: Option<String>,
    /// Who owns it, as the server says.
    pub owned_by: Option<String>,
    /// When it was made, seconds since 1970.
    pub created: Option<u64>,
    /// Its window in tokens, where the server tells it.
    pub context_window: Option<u64>,
    /// Whatever else the server says of it.
    pub extra: Extra,
}
