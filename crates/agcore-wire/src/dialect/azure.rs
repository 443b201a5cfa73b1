//! Azure OpenAI.
//!
//! Source: the reference of its v1 API, whose base URL is `https://RESOURCE.openai.azure.com/openai/v1`.

use super::{
    openai::openai,
    rules::{CredentialHeader, Dialect, Parameters},
};

/// Azure OpenAI: like OpenAI, with the key in a header of its own, a base URL per customer, and no web search.
///
/// ```
/// use agcore_wire::dialect::{self, CredentialHeader};
///
/// let azure = dialect::azure();
/// assert_eq!(azure.credential, CredentialHeader::Named("api-key"));
/// assert_eq!(azure.base_url, None);
/// ```
pub fn azure() -> Dialect {
    Dialect {
        name: "azure".into(),
        aliases: &["azure-openai", "azure-open-ai"],
        base_url: None,
        key_variable: Some("AZURE_OPENAI_API_KEY"),
        credential: CredentialHeader::Named("api-key"),
        parameters: Parameters::AllExcept(&["web_search_options"]),
        ..openai()
    }
}
