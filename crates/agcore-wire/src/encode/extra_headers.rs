//! Extra headers of a request.

use http::{HeaderMap, HeaderName, HeaderValue, header};

/// Headers that only the transport may set.
const TRANSPORT_HEADERS: &[HeaderName] = &[
    header::HOST,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::CONNECTION,
    header::TE,
    header::TRAILER,
    header::UPGRADE,
];

/// Adds headers. They replace existing ones of the same name; several of one name in `extra` are all kept.
pub(crate) fn add(headers: &mut HeaderMap, extra: &[(String, String)]) -> Result<(), String> {
    let mut added: Vec<HeaderName> = Vec::new();
    for (name, value) in extra {
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| format!("extra_headers: `{}` is not a valid header name", name.escape_debug()))?;
        if TRANSPORT_HEADERS.contains(&name) {
            return Err(format!(
                "extra_headers must not contain `{name}`: the transport sets it"
            ));
        }
        // The value may be a secret, so the message does not contain it.
        let value = HeaderValue::from_str(value).map_err(|_| {
            format!("extra_headers: the value of `{name}` contains characters that are not allowed in headers")
        })?;
        if added.contains(&name) {
            headers.append(name, value);
        } else {
            headers.insert(name.clone(), value);
            added.push(name);
        }
    }
    Ok(())
}
