//! OAuth at servers over HTTP.

mod store;
mod settings;
mod http;
mod sign_in;
mod client;

pub(crate) use self::client::AuthorizedClient;
pub use self::{
    settings::{Authorizer, OAuth},
    store::{InMemoryTokenStore, TokenStore},
};
