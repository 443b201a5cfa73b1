//! Vendor details that the command line needs: variables of API keys and the form of base URLs.

use std::time::Duration;

use agcore::{
    chat::text::visible,
    llm::{ProviderConfig, ProviderType, credential::Secret, transport::http::Timeouts},
};
use url::Url;

/// Returns the environment variable of a provider's API key: the vendor's own, or one derived from the provider's name.
pub fn key_variable(provider: &ProviderType) -> String {
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

/// Returns a variable that contains the API key as well, which the vendor's own libraries read.
pub(crate) fn other_key_variable(provider: &ProviderType) -> Option<&'static str> {
    (provider.key_variable() == Some("GEMINI_API_KEY")).then_some("GOOGLE_API_KEY")
}

/// Returns whether this is another API of a vendor whose key or server stands for a different one.
pub(crate) fn is_variant(provider: &ProviderType) -> bool {
    ["gemini-native", "ollama-native", "openai-responses"].contains(&provider.name())
}

/// Returns a key without the quotation marks around it, if there are any. They get there from files with variables that a shell
/// would have removed them from, and every server rejects them.
pub fn unquoted(key: &Secret) -> Option<Secret> {
    let key = key.expose().trim();
    let bare = |mark: char| key.strip_prefix(mark)?.strip_suffix(mark);
    let bare = bare('"').or_else(|| bare('\''))?.trim();
    (!bare.is_empty()).then(|| Secret::from(bare))
}

/// Returns whether this is one of OpenAI's own APIs, which use the variables `OPENAI_MODEL` and `OPENAI_BASE_URL`.
pub fn is_openai(provider: &ProviderType) -> bool {
    provider.key_variable() == Some("OPENAI_API_KEY")
}

/// Returns the variables that contain the base URL of a provider, the one with precedence first. OpenAI's own variable applies to
/// its APIs only: its value must not be used with another vendor's key.
pub fn base_url_variables(provider: &ProviderType) -> &'static [&'static str] {
    const NAMES: [&str; 2] = ["AGCORE_BASE_URL", "OPENAI_BASE_URL"];
    if is_openai(provider) { &NAMES } else { &NAMES[..1] }
}

/// Returns the base URL with the version that it probably lacks: `http://host/v1` for `http://host`. The default base URL
/// of a provider is complete.
pub fn versioned_url(config: &ProviderConfig) -> Option<String> {
    let url = config.base_url.as_deref()?;
    let is_version = |segment: &str| {
        let digits = segment.strip_prefix('v').unwrap_or_default();
        digits.starts_with(|c: char| c.is_ascii_digit())
    };
    if config.provider_type.is_regional() {
        return None;
    }
    let version = match config.provider_type.name() {
        "ollama-native" => "api",
        "gemini-native" => "v1beta",
        _ => "v1",
    };
    let is_complete = |segment: &str| {
        if version == "api" {
            segment == "api"
        } else {
            is_version(segment)
        }
    };
    let (_, rest) = url.split_once("://")?;
    if url.contains('?') || rest.split('/').skip(1).any(is_complete) {
        return None;
    }
    Some(format!("{}/{version}", redacted_url(url.trim_end_matches('/'))))
}

/// Returns whether the program reads this variable, in the environment or in `.env`.
pub fn is_known_variable(name: &str) -> bool {
    let is_of_vendor = || {
        ProviderType::all()
            .any(|provider| key_variable(&provider) == name || other_key_variable(&provider) == Some(name))
    };
    let is_prefixed = ["AGCORE_", "AWS_"].iter().any(|prefix| name.starts_with(prefix));
    is_prefixed || ["OPENAI_MODEL", "OPENAI_BASE_URL"].contains(&name) || is_of_vendor()
}

/// Returns whether the servers of this provider offer models of several vendors, with names such as `vendor/model`.
pub(crate) fn has_models_of_vendors(provider: &ProviderType) -> bool {
    let names = [
        "compatible",
        "groq",
        "llama.cpp",
        "ollama",
        "ollama-native",
        "openrouter",
        "vllm",
    ];
    names.contains(&provider.name())
}

/// Returns short timeouts, for someone who waits while a server is checked.
pub fn check_timeouts() -> Timeouts {
    let seconds = Duration::from_secs;
    Timeouts::new()
        .with_connect(seconds(5))
        .with_first_byte(seconds(10))
        .with_idle(seconds(10))
        .with_total(seconds(20))
}

/// Returns a model that is worth a try, for messages.
pub fn example_model(provider: &ProviderType) -> Option<&'static str> {
    Some(match provider.name() {
        "openai" | "openai-responses" => "gpt-5-mini",
        "anthropic" => "claude-sonnet-4-5",
        "bedrock" => "us.amazon.nova-lite-v1:0",
        "deepseek" => "deepseek-chat",
        "gemini" | "gemini-native" => "gemini-2.5-flash",
        "groq" => "llama-3.3-70b-versatile",
        "mistral" => "mistral-small-latest",
        "moonshot" => "kimi-k2-0905-preview",
        "ollama" | "ollama-native" => "llama3.2",
        "openrouter" => "openrouter/auto",
        "qwen" => "qwen-plus",
        "xai" => "grok-4",
        "zhipu" => "glm-4.6",
        _ => return None,
    })
}

/// Returns a URL with its credentials and query masked. It is shown as the HTTP client understands it, so that no spelling
/// makes one host look like another.
pub fn redacted_url(text: &str) -> String {
    let Ok(url) = Url::parse(text) else {
        return redacted_text(text);
    };
    let Some(host) = url.host_str() else {
        return redacted_text(text);
    };
    let has_credentials = !url.username().is_empty() || url.password().is_some();
    let credentials = if has_credentials { "***@" } else { "" };
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let path = match url.path() {
        "/" if !text.ends_with('/') => "",
        path => path,
    };
    let query = url.query().map(|_| "?***").unwrap_or_default();
    let fragment = url.fragment().map(|_| "#***").unwrap_or_default();
    format!("{}://{credentials}{host}{port}{path}{query}{fragment}", url.scheme())
}

/// Masks what may be a secret in a text that is not a URL.
fn redacted_text(text: &str) -> String {
    let text = text.split('?').next().unwrap_or_default();
    let (mask, rest) = text.rsplit_once('@').map_or(("", text), |(_, rest)| ("***@", rest));
    format!("{mask}{}", visible(rest))
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
        check("me:secret@host", "***@host");
        check("http://host", "http://host");
        check("http://host/", "http://host/");
    }

    #[test]
    fn shows_the_host_that_is_used() {
        let check = |url: &str, expected: &str| assert_eq!(redacted_url(url), expected);
        check(
            "http://127.0.0.1:1\\@api.openai.com/v1",
            "http://127.0.0.1:1/@api.openai.com/v1",
        );
        check("http://127.0.0.1#@api.openai.com/v1", "http://127.0.0.1#***");
        check("https://\u{430}pi.openai.com/v1", "https://xn--pi-6kc.openai.com/v1");
        check(
            "https://api\u{200b}.openai.com/\u{202e}v1",
            "https://api.openai.com/%E2%80%AEv1",
        );
        check("a\u{202e}b", "a\\u{202e}b");
    }

    #[test]
    fn adds_the_version_that_a_base_url_lacks() {
        let check = |provider: &str, url: &str, expected: Option<&str>| {
            let config = ProviderConfig::new(provider.parse().unwrap(), "m").with_base_url(url);
            assert_eq!(versioned_url(&config).as_deref(), expected, "{url}");
        };
        check("openai", "http://host:18080", Some("http://host:18080/v1"));
        check("vllm", "https://host/llm/", Some("https://host/llm/v1"));
        check("ollama-native", "http://host:11434", Some("http://host:11434/api"));
        check("gemini-native", "http://host", Some("http://host/v1beta"));
        check("gemini-native", "http://host/v1beta", None);
        check("openai", "http://v1", Some("http://v1/v1"));
        check("openai", "https://host/v1/", None);
        check("openai", "https://host/v1beta/openai", None);
        check("openai", "https://host/deployments/m?api-version=1", None);
        check("ollama-native", "http://host:11434/api", None);
        let default = ProviderConfig::new("deepseek".parse().unwrap(), "m");
        assert_eq!(versioned_url(&default), None);
    }

    #[test]
    fn removes_the_quotation_marks_around_a_key() {
        let check = |key: &str, expected: Option<&str>| {
            let bare = unquoted(&Secret::from(key));
            assert_eq!(bare.as_ref().map(Secret::expose), expected, "{key}");
        };
        check("\"sk-1\"", Some("sk-1"));
        check(" 'sk-1'\n", Some("sk-1"));
        for key in ["sk-1", "\"sk-1", "sk-1'", "\"sk-1'", "s\"k", "\"", "\"\"", ""] {
            check(key, None);
        }
    }

    #[test]
    fn every_listed_name_is_that_of_a_provider() {
        let with_example = ProviderType::all().filter(|provider| example_model(provider).is_some());
        assert_eq!(with_example.count(), 16);
        assert_eq!(ProviderType::all().filter(has_models_of_vendors).count(), 7);
    }

    #[test]
    fn knows_the_variables_that_are_read() {
        for name in [
            "AGCORE_ANYTHING",
            "OPENAI_MODEL",
            "ANTHROPIC_API_KEY",
            "VLLM_API_KEY",
            "AWS_REGION",
        ] {
            assert!(is_known_variable(name), "{name}");
        }
        for name in ["", "DATABASE_URL", "agcore_model", "ANTHROPIC_MODEL"] {
            assert!(!is_known_variable(name), "{name}");
        }
    }

    #[test]
    fn names_the_variable_of_each_key() {
        let check = |name: &str, expected: &str| assert_eq!(key_variable(&name.parse().unwrap()), expected);
        check("openai", "OPENAI_API_KEY");
        check("anthropic", "ANTHROPIC_API_KEY");
        check("openai-responses", "OPENAI_API_KEY");
        check("qwen", "DASHSCOPE_API_KEY");
        check("gemini-native", "GEMINI_API_KEY");
        check("bedrock", "AWS_BEARER_TOKEN_BEDROCK");
        check("llama.cpp", "LLAMA_CPP_API_KEY");
    }
}
