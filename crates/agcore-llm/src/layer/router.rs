//! [`Router`]: all layers in one provider.

mod route;
mod handle;
#[cfg(all(feature = "http", feature = "_api"))]
mod config;

#[cfg(all(feature = "http", feature = "_api"))]
pub use config::{KeyConfig, RouteConfig, RouterConfig};
pub use handle::{Router, RouterBuilder, RouterState};
pub use route::Route;
