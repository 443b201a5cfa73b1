//! The commands, one module each. Those that a build does not have are in `absent`.

#[cfg(not(feature = "full"))]
mod absent;
pub(crate) mod approvals;
pub(crate) mod catalog;
pub(crate) mod chat;
pub(crate) mod cost;
pub(crate) mod demo;
#[cfg(feature = "eval")]
pub(crate) mod eval;
#[cfg(feature = "flow")]
pub(crate) mod flow;
pub(crate) mod inspect;
pub(crate) mod man;
#[cfg(feature = "mcp")]
pub(crate) mod mcp;
pub(crate) mod models;
pub(crate) mod sessions;
pub(crate) mod setup;
pub(crate) mod new;
pub(crate) mod run;
#[cfg(feature = "serve")]
pub(crate) mod serve;
pub(crate) mod skills;
#[cfg(feature = "store")]
pub(crate) mod stored;
pub(crate) mod tools;

#[cfg(not(feature = "acp"))]
pub(crate) use self::absent::acp;
#[cfg(not(feature = "eval"))]
pub(crate) use self::absent::eval;
#[cfg(not(feature = "flow"))]
pub(crate) use self::absent::flow;
#[cfg(not(feature = "mcp"))]
pub(crate) use self::absent::mcp;
#[cfg(not(feature = "serve"))]
pub(crate) use self::absent::serve;
#[cfg(not(feature = "store"))]
pub(crate) use self::absent::stored;
#[cfg(feature = "acp")]
pub(crate) use self::chat::acp;
