//! Instructions for special tasks, in folders, which a model reads when it needs them.

mod file;
mod collection;
mod tool;

pub use self::collection::{Skill, Skills};
pub(crate) use self::tool::USE_SKILL;
