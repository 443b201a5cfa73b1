//! Advice about an error of a model, in terms of the program's own options.

use std::error::Error;

use agcore::{
    LlmError,
    llm::{LlmErrorKind, ProviderType, transport::http::ProxyError, wire::failure::OutputLimit},
};
use agcore_settings::{
    timeout_advice,
    vendor::{base_url_variables, key_variable},
};
use url::Url;

/// The beginning of the library's message for a missing key.
pub(super) const MISSING_KEY: &str = "the API key is missing";

/// The beginning of the library's message for an invalid base URL, which contains the reason that the parser gives.
pub(super) const INVALID_BASE_URL: &str = "invalid base URL: ";

/// The end of the library's message for a web page, which the advice repeats in more detail.
pub(super) const CHECK_BASE_URL: &str = "; check the base URL";

/// The beginning of the library's message for a web page in place of the reply of an API.
const WEB_PAGE: &str = "the address answered with a web page";

/// Returns whether no key was found, so that nothing was sent.
pub(super) fn is_missing_key(error: &LlmError) -> bool {
    let is_local = error.kind() == LlmErrorKind::Authentication && error.status().is_none();
    is_local && error.message().starts_with(MISSING_KEY)
}

/// Returns whether a web page came in place of the reply of an API.
pub(super) fn is_web_page(error: &LlmError) -> bool {
    error.message().starts_with(WEB_PAGE)
}

/// Suggests a next step in terms of the program's own options, which the error does not know.
pub(super) fn advice(error: &LlmError) -> Option<String> {
    let advice = match error.kind() {
        _ if is_from_proxy(error) => {
            "Check the proxy (--proxy or the variable that sets it), or connect without one (--proxy off)."
        }
        LlmErrorKind::Authentication => return Some(key_advice(error)),
        // The message names the new address.
        LlmErrorKind::NotFound if error.status().is_some_and(|status| status < 400) => return None,
        LlmErrorKind::NotFound if is_web_page(error) => return Some(base_url_advice(error)),
        LlmErrorKind::NotFound => {
            "Check the model name (--model, or /model in a chat; `agcore models` lists the available ones) and the base URL \
             (--base-url), which usually ends in /v1."
        }
        // The server is reachable; only this answer broke off.
        LlmErrorKind::Connect if error.partial().is_some() => return None,
        // The message contains the remedy.
        LlmErrorKind::Connect if !error.is_retryable() => return None,
        LlmErrorKind::Connect if is_ollama(error) => {
            let sources = base_url_sources(error);
            return Some(format!(
                "Start Ollama with `ollama serve`, or check the base URL ({sources})."
            ));
        }
        LlmErrorKind::Connect if is_at_vendor(error) => {
            "Check that this machine is online. Behind a proxy, set HTTPS_PROXY or pass --proxy URL."
        }
        LlmErrorKind::Connect => {
            let sources = base_url_sources(error);
            return Some(format!(
                "Check that the server is running, and the base URL ({sources})."
            ));
        }
        // If part of the reply was read, the server does speak the API.
        LlmErrorKind::Malformed if error.partial().is_none() => return Some(base_url_advice(error)),
        // With a status, it is the server that did not want to wait.
        LlmErrorKind::Timeout(stage) if error.status().is_none() => {
            return Some(timeout_advice(stage, "timeouts", "your agcore.toml"));
        }
        LlmErrorKind::QuotaExhausted => return Some(credit_advice(error)),
        LlmErrorKind::ContextLength { .. } => {
            "The conversation is too long for the model: shorten the message or, in a chat, use /compact or /clear."
        }
        _ => return None,
    };
    Some(advice.to_owned())
}

fn credit_advice(error: &LlmError) -> String {
    let limit = OutputLimit::of(error, None).filter(|limit| limit.is_by_credit);
    match limit.and_then(|limit| limit.at_most) {
        Some(tokens) => format!(
            "The account can pay for at most {tokens} tokens of an answer: pass --option max_tokens={tokens}, or add credit to \
             the account."
        ),
        None => "The account has run out of credit or quota; retrying will not help.".to_owned(),
    }
}

fn base_url_advice(error: &LlmError) -> String {
    let endpoint = provider(error).map_or("/chat/completions", |provider| provider.endpoint());
    let sources = base_url_sources(error);
    format!("Check the base URL ({sources}): {endpoint} is appended to it.")
}

/// Returns what may set the base URL. The error does not know which of them did.
fn base_url_sources(error: &LlmError) -> String {
    let names = provider(error).map_or(&["AGCORE_BASE_URL"][..], |provider| base_url_variables(&provider));
    format!("--base-url, {}, or `base_url` in agcore.toml", names.join(", "))
}

/// Returns whether the proxy failed, and not the server.
pub(super) fn is_from_proxy(error: &LlmError) -> bool {
    let source = error.source();
    source.is_some_and(<dyn Error>::is::<ProxyError>) || error.status() == Some(407)
}

fn is_ollama(error: &LlmError) -> bool {
    error.provider().is_some_and(|name| name.starts_with("ollama"))
}

/// Returns whether the server is the provider's own on the Internet: then the user set no base URL that could be wrong.
fn is_at_vendor(error: &LlmError) -> bool {
    let url = provider(error).and_then(|provider| provider.base_url());
    let url = url
        .filter(|url| url.starts_with("https://"))
        .and_then(|url| Url::parse(url).ok());
    url.is_some_and(|url| {
        let origin = url.origin().ascii_serialization();
        // Not the beginning of a longer name.
        let is_longer = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphanumeric() || ".-:".contains(c));
        error.message().split(&origin).skip(1).any(|rest| !is_longer(rest))
    })
}

/// Returns the provider that the error came from.
fn provider(error: &LlmError) -> Option<ProviderType> {
    error.provider()?.parse().ok()
}

fn key_advice(error: &LlmError) -> String {
    let vendor_name = provider(error).map(|provider| key_variable(&provider));
    let names = vendor_name.map_or_else(
        || "AGCORE_API_KEY".to_owned(),
        |name| format!("{name} or AGCORE_API_KEY"),
    );
    match error.status() {
        Some(_) => {
            format!(
                "The server rejected the API key, or received none: check {names} in the environment or in the .env of a trusted folder, \
                 or the key that `agcore keys` has stored; `agcore config` shows which one is used."
            )
        }
        None => format!("Set {names} in the environment or in the .env of a trusted folder."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_base_url_the_network_is_to_be_checked() {
        let advised = |message: &str| {
            let error = LlmError::new(LlmErrorKind::Connect, message.to_owned()).with_provider("openai");
            advice(&error).unwrap()
        };
        for message in [
            "cannot resolve the host of https://api.openai.com; check the base URL and the network",
            "cannot connect to https://api.openai.com",
            "https://api.openai.com/v1 refused the connection",
        ] {
            assert!(advised(message).contains("online"), "{message}");
        }
        for message in [
            "cannot resolve the host of https://api.openai.com.invalid;",
            "cannot connect to http://127.0.0.1:8080",
        ] {
            assert!(advised(message).contains("--base-url"), "{message}");
        }
    }

    #[test]
    fn what_may_set_the_base_url_is_named() {
        let sources = |provider: &str| {
            let error = LlmError::new(LlmErrorKind::Connect, "refused").with_provider(provider.to_owned());
            base_url_sources(&error)
        };
        assert_eq!(
            sources("openai"),
            "--base-url, AGCORE_BASE_URL, OPENAI_BASE_URL, or `base_url` in agcore.toml"
        );
        assert!(sources("unknown").contains("AGCORE_BASE_URL"));
    }
}
