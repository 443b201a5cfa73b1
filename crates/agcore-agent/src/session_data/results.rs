//! Results of tools that the model sees in a shorter form, and the tool with which it reads what was left out.

mod settings;
mod view;
mod read;
mod shared;

pub use self::settings::ResultCompression;
pub(crate) use self::{shared::ShortResults, view::SessionResults};
