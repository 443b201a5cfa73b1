//! [`IncomingHook`]: starts runs when another program sends an event. [`Hooks`]: the hooks of a server.

mod data;
mod template;
mod hook;
mod delivery;
mod hooks;

pub use self::hook::IncomingHook;
pub(crate) use self::{delivery::Delivery, hooks::Hooks};
