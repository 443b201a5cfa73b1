//! The dialect in which a client reads events.

use agcore_agui::{Dialect, Format, Protocol};
use http::{HeaderMap, Uri};
use serde::Deserialize;

use super::query;
use crate::problem::Problem;

#[derive(Deserialize)]
struct DialectQuery {
    dialect: Option<String>,
}

pub(super) fn dialect(uri: &Uri, headers: &HeaderMap) -> Result<Dialect, Problem> {
    let DialectQuery { dialect } = query::parameters(uri)?;
    let header = headers.get("x-agcore-dialect").and_then(|name| name.to_str().ok());
    match dialect.as_deref().or(header) {
        None => Ok(Dialect::default()),
        Some(name) => {
            Dialect::from_name(name).ok_or_else(|| Problem::invalid("the dialect must be `standard` or `superset`"))
        }
    }
}

/// Returns the format for a client that sends no `RunAgentInput`.
pub(super) fn format(dialect: Dialect, protocol: Option<&str>) -> Format {
    // Clients of the routes that are not part of AG-UI understand what it has added.
    let protocol = protocol.map_or(Protocol::V1, |version| Protocol::of_version(Some(version)));
    Format::new(dialect, protocol)
}
