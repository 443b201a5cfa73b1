//! [`SnapshotVendor`]: a vendor of a snapshot, and how its server is recognized.

use serde::{Deserialize, Serialize};

use crate::{currency::Currency, problem::Problem};

/// A vendor of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SnapshotVendor {
    /// The name.
    pub name: String,
    /// The hosts of the vendor's servers. `*` stands for one label, or for the beginning of one.
    pub hosts: Vec<String>,
    /// The currency of its prices.
    pub currency: Currency,
    pub(super) line: VendorLine,
}

/// The line of a vendor.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VendorLine {
    pub(super) vendor: String,
    pub(super) hosts: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) currency: Option<String>,
    /// The names of the vendor in LiteLLM's file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) litellm: Vec<String>,
    /// The starts of names of models there, which the vendor itself does not use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) prefixes: Vec<String>,
    /// Whether the vendor's own names of models contain no slash: those with one are of a region or a size.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) flat: bool,
    /// Whether entries without such a start are not models, but sizes of models.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) prefixed: bool,
    /// Whether each request has a fee, by the context of the search that belongs to it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) request_fee: bool,
    /// The name of the vendor in the file of models.dev.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) models_dev: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

impl SnapshotVendor {
    pub(super) fn new(line: VendorLine) -> Result<Self, Problem> {
        if line.vendor.is_empty() {
            return Err(Problem::shown("vendor", "an empty text", "a vendor has a name"));
        }
        let currency = line.currency.as_deref().unwrap_or("USD");
        Ok(Self {
            name: line.vendor.clone(),
            hosts: line.hosts.clone(),
            currency: Currency::parse("currency", currency)?,
            line,
        })
    }

    /// Returns whether a host is one of the vendor's, or below one of them.
    pub(super) fn has_host(&self, host: &str) -> bool {
        self.hosts.iter().any(|pattern| is_below(host, pattern))
    }
}

fn is_below(host: &str, pattern: &str) -> bool {
    let mut labels = host.trim_end_matches('.').rsplit('.');
    pattern.rsplit('.').all(|wanted| {
        let label = labels.next().unwrap_or_default();
        match wanted.strip_prefix('*') {
            Some(end) => label.len() > end.len() && label.to_ascii_lowercase().ends_with(end),
            None => label.eq_ignore_ascii_case(wanted),
        }
    })
}

/// Returns the host of a URL of HTTP; `None` if the text is not such a URL.
pub(super) fn host_of(url: &str) -> Option<&str> {
    let (scheme, rest) = url.trim().split_once("://")?;
    if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return None;
    }
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let authority = &rest[..end];
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    (!host.is_empty() && !host.starts_with('[')).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_compared_by_labels() {
        for (host, pattern, expected) in [
            ("api.openai.com", "api.openai.com", true),
            ("EU.api.openai.com", "api.openai.com", true),
            ("api.openai.com.", "api.openai.com", true),
            ("evil-api.openai.com", "api.openai.com", false),
            ("api.openai.com.evil.example", "api.openai.com", false),
            ("openai.com", "api.openai.com", false),
            ("my.openai.azure.com", "*.openai.azure.com", true),
            ("openai.azure.com", "*.openai.azure.com", false),
            (
                "us-east1-aiplatform.googleapis.com",
                "*-aiplatform.googleapis.com",
                true,
            ),
            ("-aiplatform.googleapis.com", "*-aiplatform.googleapis.com", false),
            ("", "api.openai.com", false),
        ] {
            assert_eq!(is_below(host, pattern), expected, "{host} {pattern}");
        }
    }

    #[test]
    fn the_host_is_not_what_only_looks_like_one() {
        for (url, expected) in [
            ("https://api.openai.com/v1", Some("api.openai.com")),
            (" HTTPS://api.openai.com:443/v1", Some("api.openai.com")),
            ("https://api.openai.com@evil.example/v1", Some("evil.example")),
            ("https://evil.example/@api.openai.com", Some("evil.example")),
            ("https://evil.example?api.openai.com", Some("evil.example")),
            ("http://127.0.0.1:8080/v1", Some("127.0.0.1")),
            ("http://[::1]:8080/v1", None),
            ("file://api.openai.com/v1", None),
            ("api.openai.com", None),
            ("https://", None),
        ] {
            assert_eq!(host_of(url), expected, "{url}");
        }
    }
}
