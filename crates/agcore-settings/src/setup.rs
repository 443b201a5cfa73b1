//! Helps a program to ask its user for a provider and a model: finds what can be used without asking, and changes the user's
//! settings file.

mod change;
mod rules;
mod current;
mod ollama;
mod found;
mod server;
mod vendors;

pub use self::{
    change::{Change, Wanted},
    current::Current,
    found::{Found, counted},
    rules::{RuleChange, change_rules},
    server::Server,
    vendors::offered,
};
