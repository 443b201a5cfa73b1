//! What a program needs to ask its user for a provider and a model: what can be used without asking, and how the answers change the
//! user's settings file.

mod change;
mod current;
mod ollama;
mod found;
mod server;
mod vendors;

pub use self::{
    change::{Change, Wanted},
    current::Current,
    found::{Found, counted},
    server::Server,
    vendors::offered,
};
