//! The actor on whose behalf calls are made, and the check of whether they may begin.

pub(crate) mod actor;
pub(crate) mod stop_check;
