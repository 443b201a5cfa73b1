//! The four APIs that the server speaks, and what a path asks for.

use super::error_shape::ErrorShape;

/// An API, thus a wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Api {
    /// OpenAI Chat Completions, and all that is compatible with it.
    OpenAiChat,
    /// OpenAI Responses.
    OpenAiResponses,
    /// Anthropic Messages.
    Anthropic,
    /// Ollama's own.
    Ollama,
}

impl Api {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::OpenAiChat, Self::OpenAiResponses, Self::Anthropic, Self::Ollama];

    /// The path of its generating endpoint under a server whose OpenAI-like APIs stand under `prefix`.
    pub fn path(self, prefix: &str) -> String {
        match self {
            Self::OpenAiChat => format!("{prefix}/chat/completions"),
            Self::OpenAiResponses => format!("{prefix}/responses"),
            Self::Anthropic => format!("{prefix}/messages"),
            Self::Ollama => "/api/chat".to_owned(),
        }
    }

    /// The header in which the vendor puts the id of a request.
    pub(crate) fn request_id_header(self) -> &'static str {
        match self {
            Self::Anthropic => "request-id",
            Self::OpenAiChat | Self::OpenAiResponses | Self::Ollama => "x-request-id",
        }
    }

    /// The shape of its errors.
    pub(crate) fn error_shape(self) -> ErrorShape {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => ErrorShape::OpenAi,
            Self::Anthropic => ErrorShape::Anthropic,
            Self::Ollama => ErrorShape::Ollama,
        }
    }
}

/// What a request asks for, by its method and path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation {
    /// An answer of the model: what behaviours are asked for.
    Generate,
    /// The number of tokens of a prompt (Anthropic).
    CountTokens,
    /// Embeddings.
    Embed,
    /// The models of the server.
    ListModels,
    /// A known path with another method than this one.
    WrongMethod(&'static str),
    /// An unknown path.
    Unknown,
}

/// The API and the operation of a request. `anthropic` tells whether it carries Anthropic's version header, which is
/// all that tells the two vendors' `/models` apart.
pub(crate) fn route(method: &str, path: &str, prefixes: &[String], anthropic: bool) -> (Api, Operation) {
    let vendor = if anthropic { Api::Anthropic } else { Api::OpenAiChat };
    let known = match path {
        "/api/chat" => Some((Api::Ollama, Operation::Generate, "POST")),
        "/api/embed" => Some((Api::Ollama, Operation::Embed, "POST")),
        "/api/tags" => Some((Api::Ollama, Operation::ListModels, "GET")),
        _ => prefixes
            .iter()
            .find_map(|prefix| prefixed(path.strip_prefix(prefix.as_str())?, vendor)),
    };
    match known {
        Some((api, operation, allowed)) if method == allowed => (api, operation),
        Some((api, _, allowed)) => (api, Operation::WrongMethod(allowed)),
        None if path.starts_with("/api/") => (Api::Ollama, Operation::Unknown),
        None => (vendor, Operation::Unknown),
    }
}

/// What stands behind a prefix, with the method it wants.
fn prefixed(rest: &str, vendor: Api) -> Option<(Api, Operation, &'static str)> {
    Some(match rest {
        "/chat/completions" => (Api::OpenAiChat, Operation::Generate, "POST"),
        "/responses" => (Api::OpenAiResponses, Operation::Generate, "POST"),
        "/messages" => (Api::Anthropic, Operation::Generate, "POST"),
        "/messages/count_tokens" => (Api::Anthropic, Operation::CountTokens, "POST"),
        "/embeddings" => (Api::OpenAiChat, Operation::Embed, "POST"),
        "/models" => (vendor, Operation::ListModels, "GET"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_operations() {
        let prefixes = ["/v1".to_owned(), "/compatible-mode/v1".to_owned()];
        let check = |request: &str, anthropic: bool, expected: (Api, Operation)| {
            let (method, path) = request.split_once(' ').unwrap_or_default();
            assert_eq!(route(method, path, &prefixes, anthropic), expected, "{request}");
        };
        for api in Api::ALL {
            check(&format!("POST {}", api.path("/v1")), false, (api, Operation::Generate));
        }
        check(
            "POST /compatible-mode/v1/chat/completions",
            false,
            (Api::OpenAiChat, Operation::Generate),
        );
        check(
            "GET /v1/chat/completions",
            false,
            (Api::OpenAiChat, Operation::WrongMethod("POST")),
        );
        check("GET /v1/models", false, (Api::OpenAiChat, Operation::ListModels));
        check("GET /v1/models", true, (Api::Anthropic, Operation::ListModels));
        check("POST /chat/completions", false, (Api::OpenAiChat, Operation::Unknown));
        check(
            "POST /v1/v1/chat/completions",
            false,
            (Api::OpenAiChat, Operation::Unknown),
        );
        check("POST /api/generate", false, (Api::Ollama, Operation::Unknown));
    }
}
