//! The rows of a catalog: [`Vendor`], [`Endpoint`], [`Key`], [`Model`] and [`Role`].

use std::fmt;

use agcore_chat::Actor;
use agcore_document::Place;

use super::{kind::ModelKind, shape::ShapeRow};
use crate::{currency::Currency, price::model_price::ModelPrice};

/// A vendor of models.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Vendor {
    /// The name, unique in the catalog.
    pub name: String,
    /// The endpoints.
    pub endpoints: Vec<Endpoint>,
    /// The keys.
    pub keys: Vec<Key>,
    /// The models.
    pub models: Vec<Model>,
    /// The place in the document.
    pub place: Place,
}

/// An endpoint of a vendor.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Endpoint {
    /// The name, unique for the vendor.
    pub name: String,
    /// The API and dialect, such as `openai` or `deepseek`.
    pub api: String,
    /// The URL; `None` for that of the vendor.
    pub base_url: Option<String>,
    /// The kinds of models that it serves.
    pub kinds: Vec<ModelKind>,
    /// The currency of the costs that it reports, if replies do not name one.
    pub currency: Option<Currency>,
    /// The place in the document.
    pub place: Place,
}

/// A key of a vendor. The catalog contains only a reference to it.
#[derive(Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Key {
    /// The name, unique for the vendor. It is shown instead of the key.
    pub name: String,
    /// The name under which a resolver finds the key, which the document writes as `${NAME}`; `None` for servers without keys.
    pub reference: Option<String>,
    /// The users to whom the key is granted: `*` for all.
    pub users: Vec<String>,
    /// The lines of business to which the key is granted: `*` for all.
    pub lines: Vec<String>,
    /// The number of requests that may be sent in a minute.
    pub requests_per_minute: Option<u32>,
    /// The number of tokens that may be used in a minute.
    pub tokens_per_minute: Option<u64>,
    /// The place in the document.
    pub place: Place,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key")
            .field("name", &self.name)
            .field("users", &self.users)
            .field("lines", &self.lines)
            .finish_non_exhaustive()
    }
}

impl Key {
    /// Returns whether the key is granted to an actor: to the user, or to the line of business.
    pub fn is_granted_to(&self, actor: &Actor) -> bool {
        let has = |list: &[String], name: &str| list.iter().any(|granted| granted == "*" || granted == name);
        has(&self.users, &actor.user) || actor.line.as_ref().is_some_and(|line| has(&self.lines, line))
    }
}

/// A model of a vendor.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Model {
    /// The name, unique in the catalog.
    pub name: String,
    /// The name that the vendor uses; by default the same.
    pub vendor_name: String,
    /// The kind.
    pub kind: ModelKind,
    /// The name of the endpoint.
    pub endpoint: String,
    /// The version.
    pub version: Option<String>,
    /// The context window, in tokens.
    pub context_window: Option<u64>,
    /// The largest number of tokens in a reply.
    pub max_output_tokens: Option<u64>,
    /// The abilities of the model, such as `tools` or `images`.
    pub capabilities: Vec<String>,
    /// Whether it is used if only its kind is named.
    pub is_default: bool,
    /// The models that are asked if this one fails, in order.
    pub fallbacks: Vec<String>,
    /// The prices.
    pub prices: Vec<ModelPrice>,
    /// The form of requests and replies, for models that do not chat; `None` for that of the endpoint's API.
    pub response_shape: Option<ShapeRow>,
    /// The place in the document.
    pub place: Place,
}

/// A role of an application and the model that fills it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Role {
    /// The name of the role.
    pub name: String,
    /// The name of the model.
    pub model: String,
    /// The place in the document.
    pub place: Place,
}
