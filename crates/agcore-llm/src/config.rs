//! Providers from settings: [`ProviderConfig`], [`build`], [`list_models`].

mod provider_type;
mod settings;

mod build;

pub use build::{build, list_models};
pub use provider_type::{ProviderType, UnknownProviderType};
pub use settings::ProviderConfig;
