//! The request's own headers.

use http::{HeaderMap, HeaderName, HeaderValue, header};

/// Headers that belong to the transport.
const OF_TRANSPORT: &[HeaderName] = &[
    header::HOST,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::CONNECTION,
    header::TE,
    header::TRAILER,
    header::UPGRADE,
];

/// Adds headers; one that is there already is replaced, several of one name are all kept.
pub(crate) fn add(headers: &mut HeaderMap, extra: &[(String, String)]) -> Result<(), String> {
    let mut added: Vec<HeaderName> = Vec::new();
    for (name, value) in extra {
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| format!("extra_headers: `{}` is no name of a header", name.escape_debug()))?;
        if OF_TRANSPORT.contains(&name) {
            return Err(format!("extra_headers must not hold `{name}`: the transport sets it"));
        }
        // The value may be a secret, so it is not shown.
        let value = HeaderValue::from_str(value)
            .map_err(|_| format!("extra_headers: the value of `{name}` holds characters that no header may hold"))?;
        if added.contains(&name) {
            headers.append(name, value);
        } else {
            headers.insert(name.clone(), value);
            added.push(name);
        }
    }
    Ok(())
}
