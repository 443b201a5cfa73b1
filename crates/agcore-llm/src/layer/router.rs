//! [`Router`]: the layers put together.

mod state;
mod route;
mod handle;
#[cfg(all(feature = "http", feature = "openai-chat"))]
mod config;

#[cfg(all(feature = "http", feature = "openai-chat"))]
pub use config::{KeyConfig, RouteConfig, RouterConfig};
pub use handle::{Router, RouterBuilder};
pub use route::Route;
pub use state::RouterState;
