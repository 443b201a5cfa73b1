//! `agcore inspect case`.
use crate::{args::CaseArgs, exit::Failure};
pub(crate) fn cases(_: &CaseArgs) -> Result<(), Failure> { Ok(()) }
