//! Vendor details that the command line needs: variables of API keys and the form of base URLs.

use agcore::llm::ProviderType;

/// Returns the environment variable of a provider's API key: the vendor's own, or one derived from the provider's name.
pub(crate) fn key_variable(provider: &ProviderType) -> String {
    if let Some(variable) = provider.key_variable() {
        return variable.to_owned();
    }
    let upper = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    let name: String = provider.name().chars().map(upper).collect();
    format!("{name}_API_KEY")
}

/// Returns whether this is one of OpenAI's own APIs, which use the variables `OPENAI_MODEL` and `OPENAI_BASE_URL`.
pub(crate) fn is_openai(provider: &ProviderType) -> bool {
    provider.key_variable() == Some("OPENAI_API_KEY")
}

/// Returns a URL with its credentials and query masked.
pub(crate) fn redacted_url(url: &str) -> String {
    let (address, query) = url.split_at(url.find('?').unwrap_or(url.len()));
    let (scheme, rest) = address.split_at(address.find("://").map_or(0, |at| at + 3));
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host
        .rsplit_once('@')
        .map_or_else(|| host.to_owned(), |(_, host)| format!("***@{host}"));
    let query = if query.is_empty() { "" } else { "?***" };
    [scheme, &host, path, query].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_secrets_in_urls() {
        let check = |url: &str, expected: &str| assert_eq!(redacted_url(url), expected);
        check("http://localhost:8080/v1", "http://localhost:8080/v1");
        check("https://me:secret@host/v1", "https://***@host/v1");
        check("https://host/v1?key=secret@x", "https://host/v1?***");
        check("host", "host");
    }

    #[test]
    fn names_the_variable_of_each_key() {
        let check = |name: &str, expected: &str| assert_eq!(key_variable(&name.parse().unwrap()), expected);
        check("openai", "OPENAI_API_KEY");
        check("anthropic", "ANTHROPIC_API_KEY");
        check("openai-responses", "OPENAI_API_KEY");
        check("qwen", "DASHSCOPE_API_KEY");
        check("llama.cpp", "LLAMA_CPP_API_KEY");
    }
}
