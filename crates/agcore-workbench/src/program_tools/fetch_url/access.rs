//! [`WebAccess`]: which URLs may be fetched, and how.

use std::time::Duration;

use agcore::{
    llm::transport::{
        address::{self, Refusal, Route, is_public},
        http::Proxy,
    },
    tools::{ToolError, permission::Glob},
};
use url::Url;

/// The settings for web pages. By default, public pages are fetched after a question, through the proxy of the environment.
#[derive(Debug, Clone, Default)]
pub struct WebAccess {
    /// The URLs that are fetched without a question, also on private addresses.
    pub allowed: Vec<Glob>,
    /// The URLs about which a person is asked.
    pub asked: Vec<Glob>,
    /// The URLs that are never fetched.
    pub denied: Vec<Glob>,
    /// The proxy.
    pub proxy: Proxy,
}

impl WebAccess {
    /// Checks that a page may be fetched.
    ///
    /// # Errors
    /// When a rule denies it.
    pub(super) fn check(&self, url: &Url) -> Result<(), ToolError> {
        match matches(&self.denied, url) {
            true => Err(ToolError::failed(format!(
                "{url} is denied by a rule of [permissions] in agcore.toml"
            ))),
            false => Ok(()),
        }
    }

    /// Checks that a page is not on a private or local address, to the extent that its URL alone shows it.
    ///
    /// # Errors
    /// When it is, and no rule allows that.
    pub(super) fn check_address(&self, url: &Url) -> Result<(), ToolError> {
        let address = url.host_str().and_then(address::literal);
        let is_public = address.is_none_or(is_public);
        match is_public || matches(&self.allowed, url) {
            true => Ok(()),
            false => Err(private(url)),
        }
    }

    /// Checks that a redirect may be followed. On the same host, it may. To another one, it may if a call with that URL would not
    /// be asked about, or if the person who allowed this call was asked about each URL.
    ///
    /// # Errors
    /// When a rule denies it, or a person has to be asked.
    pub(super) fn check_redirect(&self, from: &Url, to: &Url) -> Result<(), ToolError> {
        self.check(to)?;
        let is_allowed = self.allowed.is_empty() || matches(&self.allowed, to);
        if from.host() == to.host() || (is_allowed && !matches(&self.asked, to)) {
            return Ok(());
        }
        Err(ToolError::failed(format!(
            "{from} redirects to {to}, about which the rules of [permissions] ask; call this tool with that URL if you need it"
        )))
    }

    /// Returns how the server of a URL is reached.
    ///
    /// # Errors
    /// When the server is on a private or local address and no rule allows that, or it is not found.
    pub(super) async fn route(&self, url: &Url, limit: Duration) -> Result<Route, ToolError> {
        let origin = url.origin().ascii_serialization();
        let invalid = |error: agcore::LlmError| ToolError::failed(format!("cannot fetch {url}: {}", error.message()));
        let is_proxied = self.proxy.route(&origin).map_err(invalid)?.is_some();
        let is_allowed = matches(&self.allowed, url);
        let host = url.host_str().unwrap_or_default();
        let server = (host, url.port_or_known_default().unwrap_or(443));
        let route = address::route(server, is_allowed, is_proxied, limit).await;
        route.map_err(|refusal| match refusal {
            Refusal::NotFound(error) => ToolError::failed(format!("cannot find the host {host}: {error}")),
            Refusal::NoAnswer => ToolError::failed(format!("the name server did not answer about {host}")),
            _ => private(url),
        })
    }
}

fn matches(globs: &[Glob], url: &Url) -> bool {
    globs.iter().any(|glob| glob.matches(url.as_str()))
}

fn private(url: &Url) -> ToolError {
    ToolError::failed(format!(
        "{url} is on a private or local address, which is not fetched; the user can allow it with `allow = \
         [\"fetch_url({}/*)\"]` in the table [permissions] of agcore.toml",
        url.origin().ascii_serialization()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(allowed: &[&str], asked: &[&str], denied: &[&str]) -> WebAccess {
        let globs = |patterns: &[&str]| patterns.iter().map(|pattern| Glob::new(*pattern)).collect();
        WebAccess {
            allowed: globs(allowed),
            asked: globs(asked),
            denied: globs(denied),
            proxy: Proxy::None,
        }
    }

    #[track_caller]
    fn check(access: &WebAccess, from: &str, to: &str, expected: Result<(), &str>) {
        let (from, to) = (Url::parse(from).unwrap(), Url::parse(to).unwrap());
        match (access.check_redirect(&from, &to), expected) {
            (Ok(()), Ok(())) => {}
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (result, _) => panic!("{from} to {to}: {result:?}"),
        }
    }

    #[test]
    fn a_redirect_follows_the_rules_of_its_target() {
        let (page, deeper) = ("https://docs.example/a", "https://docs.example:8443/b");
        let (other, evil) = ("https://other.example/", "https://evil.example/?data=1");
        // Each URL was asked about, or everything is allowed.
        let all = access(&[], &[], &[]);
        check(&all, page, deeper, Ok(()));
        check(&all, page, other, Ok(()));
        // Only some URLs are fetched without a question: a page of them must not lead elsewhere.
        let some = access(&["https://docs.example/*", "https://other.example/*"], &[], &[]);
        check(&some, page, other, Ok(()));
        check(&some, page, deeper, Ok(()));
        check(&some, page, evil, Err("call this tool with that URL"));
        check(&some, "http://docs.example/a", page, Ok(()));
        let asked = access(&[], &["https://other.example/*"], &["*evil*"]);
        check(&asked, page, other, Err("call this tool with that URL"));
        check(&asked, page, evil, Err("is denied by a rule"));
        // Deny overrides allow.
        check(
            &access(&["*"], &[], &["*evil*"]),
            page,
            evil,
            Err("is denied by a rule"),
        );
        assert!(
            access(&[], &[], &["https://evil.example/*"])
                .check(&Url::parse("HTTPS://EVIL.example/x").unwrap())
                .is_err()
        );
    }

    #[tokio::test]
    async fn servers_behind_a_proxy_are_checked_as_well() {
        let proxied = |allowed: &[&str]| WebAccess {
            proxy: Proxy::parse("http://127.0.0.1:9").unwrap(),
            ..access(allowed, &[], &[])
        };
        let route = async |access: &WebAccess, url: &str| {
            access.route(&Url::parse(url).unwrap(), Duration::from_secs(30)).await
        };
        for private in [
            "http://127.0.0.1/",
            "http://169.254.169.254/latest/meta-data",
            "http://localhost:8080/",
            "http://metadata.google.internal/",
            "http://printer.local/",
            "http://intranet/",
        ] {
            let error = route(&proxied(&[]), private).await.unwrap_err();
            assert!(
                error.to_string().contains("is on a private or local address"),
                "{private}: {error}"
            );
            assert_eq!(
                route(&proxied(&["*"]), private).await.unwrap(),
                Route::Proxy,
                "{private}"
            );
        }
        // Only the proxy knows this name.
        let unknown = "http://no-such-host.invalid/";
        assert_eq!(route(&proxied(&[]), unknown).await.unwrap(), Route::Proxy);
        let error = route(&access(&[], &[], &[]), unknown).await.unwrap_err();
        assert!(
            error.to_string().contains("cannot find the host no-such-host.invalid"),
            "{error}"
        );
        let public = route(&access(&[], &[], &[]), "http://1.1.1.1/").await.unwrap();
        assert_eq!(public, Route::Address("1.1.1.1".parse().unwrap()));
    }
}
