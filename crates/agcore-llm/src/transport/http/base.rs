//! [`BaseUrl`]: what stands before the path of every request.

use std::sync::{Arc, OnceLock};

use reqwest::Url;

use agcore_wire::{LlmError, LlmErrorKind};

/// What stands before the path of every request; a query is kept and goes after it.
#[derive(Debug, Clone)]
pub(super) struct BaseUrl {
    /// Without trailing slash.
    prefix: String,
    query: Option<String>,
    origin: Arc<str>,
    url: Url,
    /// The first path that was joined, and its URL: nearly always the only one.
    usual: OnceLock<(String, Url)>,
}

impl BaseUrl {
    /// Reads a base URL.
    ///
    /// # Errors
    /// `InvalidRequest`, which never repeats a text that may hold a password.
    pub(super) fn parse(text: &str) -> Result<Self, LlmError> {
        let url = Url::parse(text.trim()).map_err(|error| {
            invalid(format!(
                "the base URL is no URL: {error}; it looks like https://host/v1"
            ))
            .with_source(error)
        })?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(invalid("the base URL must begin with http:// or https://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid(
                "the base URL holds a user name or password; give a credential or a header instead",
            ));
        }
        if url.fragment().is_some() {
            return Err(invalid(
                "the base URL has a part after `#`, which is never sent; leave it out",
            ));
        }
        let query = url.query().filter(|query| !query.is_empty()).map(str::to_owned);
        let origin = url.origin().ascii_serialization().into();
        let end = url.as_str().find('?').unwrap_or(url.as_str().len());
        let prefix = url.as_str()[..end].trim_end_matches('/').to_owned();
        Ok(Self {
            prefix,
            query,
            origin,
            url,
            usual: OnceLock::new(),
        })
    }

    /// Scheme, host and port, for errors: without path and query, which may hold keys.
    pub(super) fn origin(&self) -> &Arc<str> {
        &self.origin
    }

    /// Whether requests travel encrypted.
    pub(super) fn is_secure(&self) -> bool {
        self.prefix.starts_with("https:")
    }

    /// The URL of a path with a leading slash and maybe a query.
    pub(super) fn join(&self, path: &str) -> Result<Url, LlmError> {
        if let Some((usual, url)) = self.usual.get()
            && usual == path
        {
            return Ok(url.clone());
        }
        let url = self.joined(path)?;
        self.usual.get_or_init(|| (path.to_owned(), url.clone()));
        Ok(url)
    }

    fn joined(&self, path: &str) -> Result<Url, LlmError> {
        let text = match &self.query {
            None => [&self.prefix, path].concat(),
            Some(query) => {
                let separator = if path.contains('?') { "&" } else { "?" };
                [&self.prefix, path, separator, query].concat()
            }
        };
        let url = Url::parse(&text)
            .map_err(|error| invalid("the request's path does not make a URL with the base URL").with_source(error))?;
        if !is_same_origin(&url, &self.url) {
            return Err(invalid("the request's path leads away from the base URL's host"));
        }
        Ok(url)
    }
}

/// Whether both lead to the same server; `Url::origin` would allocate.
fn is_same_origin(a: &Url, b: &Url) -> bool {
    a.scheme() == b.scheme()
        && a.host() == b.host()
        && a.port_or_known_default() == b.port_or_known_default()
        && a.username() == b.username()
}

fn invalid(message: impl Into<std::borrow::Cow<'static, str>>) -> LlmError {
    LlmError::new(LlmErrorKind::InvalidRequest, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_paths() {
        let check = |base: &str, path: &str, expected: &str| {
            assert_eq!(
                BaseUrl::parse(base).unwrap().join(path).unwrap().as_str(),
                expected,
                "{base} {path}"
            );
        };
        check(
            "https://api.example/v1",
            "/chat/completions",
            "https://api.example/v1/chat/completions",
        );
        check(" https://api.example/v1// ", "/models", "https://api.example/v1/models");
        check("http://localhost:11434", "/models", "http://localhost:11434/models");
        check("http://[::1]:80/", "/models?a=1", "http://[::1]/models?a=1");
        check(
            "https://a.example/d?api-version=1",
            "/chat",
            "https://a.example/d/chat?api-version=1",
        );
        check(
            "https://a.example/d/?v=1",
            "/chat?x=2",
            "https://a.example/d/chat?x=2&v=1",
        );
    }

    #[test]
    fn refuses_what_is_no_base_url() {
        let check = |base: &str, part: &str| {
            let error = BaseUrl::parse(base).unwrap_err();
            assert_eq!(error.kind(), &LlmErrorKind::InvalidRequest);
            assert!(error.to_string().contains(part), "{base}: {error}");
            assert!(
                !format!("{error} {error:?} {}", error.chain()).contains("hunter2"),
                "{error:?}"
            );
        };
        check("", "looks like https://");
        check("api.example/v1", "looks like https://");
        check("localhost:8080/v1", "must begin with http");
        check("ftp://a.example", "must begin with http");
        check("https://", "looks like https://");
        check("https://user:hunter2@a.example", "user name or password");
        check("https://a.example:99999/hunter2", "looks like https://");
        check("https://a.example/#x", "after `#`");
    }

    #[test]
    fn a_path_cannot_change_the_host() {
        let base = BaseUrl::parse("http://a.example").unwrap();
        assert!(base.join("@b.example/x").is_err());
        assert!(base.join(":81/x").is_err());
    }
}
