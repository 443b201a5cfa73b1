//! [`ProviderConfig`]: providers created from settings.

mod native;
mod provider_type;
mod settings;
mod build;

pub use provider_type::{ProviderType, UnknownProviderType};
pub use settings::ProviderConfig;
