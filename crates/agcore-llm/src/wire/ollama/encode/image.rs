//! Pictures, which the API takes as bare base64 text.

/// The base64 text of a picture's `data:` URL.
pub(super) fn base64(url: &str) -> Result<&str, &'static str> {
    let Some(rest) = strip_scheme(url) else {
        return Err("Ollama's API does not take pictures by address: load them, and hand them over as `data:` URLs");
    };
    let is_base64 = |kind: &str| {
        let (_, last) = kind.rsplit_once(';').unwrap_or_default();
        last.trim().eq_ignore_ascii_case("base64")
    };
    match rest.split_once(',') {
        Some((kind, data)) if is_base64(kind) && !data.is_empty() => Ok(data),
        _ => Err("Ollama's API takes pictures as base64: write the `data:` URL as `data:image/png;base64,…`"),
    }
}

fn strip_scheme(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once(':')?;
    scheme.eq_ignore_ascii_case("data").then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_what_follows_the_comma() {
        let check = |url: &str, expected: Option<&str>| assert_eq!(base64(url).ok(), expected, "{url}");
        check("data:image/png;base64,iVBOR", Some("iVBOR"));
        check("DATA:image/png;charset=x;BASE64,iVBOR==", Some("iVBOR=="));
        check("data:;base64,iVBOR", Some("iVBOR"));
        check("data:image/png,iVBOR", None);
        check("data:image/png;base64,", None);
        check("data:image/png;base64", None);
        check("https://a.example/b.png", None);
        check("iVBOR", None);
    }
}
