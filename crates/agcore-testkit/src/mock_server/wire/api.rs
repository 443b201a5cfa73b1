//! [`Api`]: the APIs of the server, and [`Operation`]: what a request asks for.

use super::{bedrock::BedrockCall, form::Form};
use crate::mock_server::reply::ErrorShape;

/// An API of a model server, with its own wire format.
///
/// ```
/// use agcore_testkit::mock_server::Api;
///
/// assert_eq!(Api::OpenAiChat.path("/v1"), "/v1/chat/completions");
/// assert_eq!(Api::Ollama.path("/v1"), "/api/chat");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Api {
    /// OpenAI Chat Completions and compatible APIs.
    OpenAiChat,
    /// OpenAI Responses.
    OpenAiResponses,
    /// Anthropic Messages.
    Anthropic,
    /// Ollama's native API.
    Ollama,
    /// Gemini's native API.
    Gemini,
    /// The Converse API of Amazon Bedrock.
    Bedrock,
}

/// The path of Gemini's models, which does not depend on a prefix.
const GEMINI_MODELS: &str = "/v1beta/models";

/// The model and the method in a path of Gemini: `/v1beta/models/{model}:{method}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GeminiCall<'a> {
    pub(crate) model: &'a str,
    method: &'a str,
}

impl<'a> GeminiCall<'a> {
    /// Reads a path; `None` for those of other APIs.
    pub(crate) fn of(path: &'a str) -> Option<Self> {
        let rest = path.strip_prefix(GEMINI_MODELS)?.strip_prefix('/')?;
        let (model, method) = rest.rsplit_once(':')?;
        Some(Self { model, method })
    }

    /// Returns whether the reply is streamed.
    pub(crate) fn is_streamed(self) -> bool {
        self.method == "streamGenerateContent"
    }

    fn operation(self) -> Option<Operation> {
        match self.method {
            "generateContent" | "streamGenerateContent" => Some(Operation::Generate),
            "batchEmbedContents" => Some(Operation::Embed),
            _ => None,
        }
    }
}

impl Api {
    /// All APIs.
    pub const ALL: [Self; 6] = [
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::Ollama,
        Self::Gemini,
        Self::Bedrock,
    ];

    /// Returns the path of the endpoint that generates answers, on a server that mounts the OpenAI and Anthropic APIs
    /// under `prefix`. The paths of Ollama, Gemini and Bedrock do not depend on it; the last two contain the model, here `m`.
    pub fn path(self, prefix: &str) -> String {
        match self {
            Self::OpenAiChat => format!("{prefix}/chat/completions"),
            Self::OpenAiResponses => format!("{prefix}/responses"),
            Self::Anthropic => format!("{prefix}/messages"),
            Self::Ollama => "/api/chat".to_owned(),
            Self::Gemini => format!("{GEMINI_MODELS}/m:generateContent"),
            Self::Bedrock => "/model/m/converse".to_owned(),
        }
    }

    /// Returns the name of the response header that carries the request id.
    pub(crate) fn request_id_header(self) -> &'static str {
        match self {
            Self::Anthropic => "request-id",
            Self::Bedrock => "x-amzn-requestid",
            Self::OpenAiChat | Self::OpenAiResponses | Self::Ollama | Self::Gemini => "x-request-id",
        }
    }

    /// Returns the format of the API's errors.
    pub(crate) fn error_shape(self) -> ErrorShape {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => ErrorShape::OpenAi,
            Self::Anthropic => ErrorShape::Anthropic,
            Self::Ollama => ErrorShape::Ollama,
            Self::Gemini => ErrorShape::Gemini,
            Self::Bedrock => ErrorShape::Bedrock,
        }
    }
}

/// The operation that a request asks for, determined by its method and path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation {
    /// Generating an answer: the operation that a [`Behavior`](crate::mock_server::Behavior) replies to.
    Generate,
    /// Counting the tokens of a prompt (Anthropic only).
    CountTokens,
    /// Computing embeddings.
    Embed,
    /// Rating the relevance of documents.
    Rerank,
    /// Making images. With DashScope, the same path is for speech and transcriptions, too.
    GenerateImages,
    /// Making speech.
    Speak,
    /// Making texts from speech.
    Transcribe,
    /// Starting a job that makes a video.
    CreateVideo,
    /// Asking for the state of such a job.
    VideoStatus,
    /// Fetching the file of such a job.
    FetchVideo,
    /// Cancelling such a job.
    CancelVideo,
    /// Listing the server's models.
    ListModels,
    /// A known path with an unsupported method; the only supported one is given.
    WrongMethod(&'static str),
    /// An unknown path.
    Unknown,
}

/// Returns the API and the operation of a request. `has_anthropic_version` states whether it carries Anthropic's
/// version header, the only difference between the two vendors' requests for `/models`.
pub(crate) fn operation_of(
    method: &str,
    path: &str,
    prefixes: &[String],
    has_anthropic_version: bool,
) -> (Api, Operation) {
    let vendor = if has_anthropic_version {
        Api::Anthropic
    } else {
        Api::OpenAiChat
    };
    let known = match path {
        "/api/chat" => Some((Api::Ollama, Operation::Generate, "POST")),
        "/api/embed" => Some((Api::Ollama, Operation::Embed, "POST")),
        "/api/tags" => Some((Api::Ollama, Operation::ListModels, "GET")),
        GEMINI_MODELS => Some((Api::Gemini, Operation::ListModels, "GET")),
        _ if GeminiCall::of(path).is_some() => {
            let operation = GeminiCall::of(path).and_then(GeminiCall::operation);
            operation.map(|operation| (Api::Gemini, operation, "POST"))
        }
        _ if BedrockCall::of(path).is_some() => {
            let is_known = BedrockCall::of(path).is_some_and(|call| call.is_conversation());
            is_known.then_some((Api::Bedrock, Operation::Generate, "POST"))
        }
        _ => {
            let native = Form::below_dashscope(path).and_then(|rest| kind(Form::DashScope, method, rest));
            let native = native.map(|(operation, allowed)| (Api::OpenAiChat, operation, allowed));
            let below = |prefix: &String| prefixed(path.strip_prefix(prefix.as_str())?, method, vendor);
            native.or_else(|| prefixes.iter().find_map(below))
        }
    };
    match known {
        Some((api, operation, allowed)) if method == allowed => (api, operation),
        Some((api, _, allowed)) => (api, Operation::WrongMethod(allowed)),
        None if path.starts_with("/api/") => (Api::Ollama, Operation::Unknown),
        None if path.starts_with("/v1beta/") => (Api::Gemini, Operation::Unknown),
        None if path.starts_with("/model/") => (Api::Bedrock, Operation::Unknown),
        None => (vendor, Operation::Unknown),
    }
}

/// Returns the API, the operation and the expected method of a path below a prefix.
fn prefixed(rest: &str, method: &str, vendor: Api) -> Option<(Api, Operation, &'static str)> {
    Some(match rest {
        "/chat/completions" => (Api::OpenAiChat, Operation::Generate, "POST"),
        "/responses" => (Api::OpenAiResponses, Operation::Generate, "POST"),
        "/messages" => (Api::Anthropic, Operation::Generate, "POST"),
        "/messages/count_tokens" => (Api::Anthropic, Operation::CountTokens, "POST"),
        "/embeddings" => (Api::OpenAiChat, Operation::Embed, "POST"),
        "/models" => (vendor, Operation::ListModels, "GET"),
        _ => {
            let (operation, allowed) = kind(Form::OpenAi, method, rest)?;
            (Api::OpenAiChat, operation, allowed)
        }
    })
}

/// Returns the operation that a path asks for if it is for a model that does not chat, and the expected method. `rest` is
/// the path below the prefix of its API.
fn kind(form: Form, method: &str, rest: &str) -> Option<(Operation, &'static str)> {
    if let Some(job) = job(form, method, rest) {
        return Some(job);
    }
    Some(match (form, rest) {
        (Form::OpenAi, "/rerank") | (Form::DashScope, "services/rerank/text-rerank/text-rerank") => {
            (Operation::Rerank, "POST")
        }
        (Form::OpenAi, "/images/generations") | (Form::DashScope, "services/aigc/multimodal-generation/generation") => {
            (Operation::GenerateImages, "POST")
        }
        (Form::OpenAi, "/videos") | (Form::DashScope, "services/aigc/video-generation/video-synthesis") => {
            (Operation::CreateVideo, "POST")
        }
        (Form::OpenAi, "/audio/speech") => (Operation::Speak, "POST"),
        (Form::OpenAi, "/audio/transcriptions") => (Operation::Transcribe, "POST"),
        _ => return None,
    })
}

/// Returns the operation about a job that makes a video, and the expected method.
fn job(form: Form, method: &str, rest: &str) -> Option<(Operation, &'static str)> {
    let job = match form {
        Form::OpenAi => rest.strip_prefix("/videos/")?,
        Form::DashScope => rest.strip_prefix("tasks/")?,
    };
    let below = job.split_once('/').map(|(_, below)| below);
    Some(match (form, below, method) {
        (Form::OpenAi, None, "DELETE") => (Operation::CancelVideo, "DELETE"),
        (_, None, _) => (Operation::VideoStatus, "GET"),
        (Form::OpenAi, Some("content"), _) => (Operation::FetchVideo, "GET"),
        (Form::DashScope, Some("cancel"), _) => (Operation::CancelVideo, "POST"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_map_to_operations() {
        let prefixes = ["/v1".to_owned(), "/compatible-mode/v1".to_owned()];
        let check = |request: &str, anthropic: bool, expected: (Api, Operation)| {
            let (method, path) = request.split_once(' ').unwrap_or_default();
            assert_eq!(operation_of(method, path, &prefixes, anthropic), expected, "{request}");
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
        check("POST /v1/rerank", false, (Api::OpenAiChat, Operation::Rerank));
        check(
            "GET /v1/rerank",
            false,
            (Api::OpenAiChat, Operation::WrongMethod("POST")),
        );
        check(
            "POST /api/v1/services/rerank/text-rerank/text-rerank",
            false,
            (Api::OpenAiChat, Operation::Rerank),
        );
        check("POST /api/generate", false, (Api::Ollama, Operation::Unknown));
        let gemini = |rest: &str, operation| check(rest, false, (Api::Gemini, operation));
        gemini("POST /v1beta/models/a:streamGenerateContent", Operation::Generate);
        gemini("POST /v1beta/models/a:batchEmbedContents", Operation::Embed);
        gemini("POST /v1beta/models/a:predict", Operation::Unknown);
        gemini("GET /v1beta/models", Operation::ListModels);
        gemini("GET /v1beta/models/a:generateContent", Operation::WrongMethod("POST"));
        gemini("POST /v1beta/files", Operation::Unknown);
        let bedrock = |rest: &str, operation| check(rest, false, (Api::Bedrock, operation));
        bedrock("POST /model/a.b-v1%3A0/converse-stream", Operation::Generate);
        bedrock("GET /model/a/converse", Operation::WrongMethod("POST"));
        bedrock("POST /model/a/invoke", Operation::Unknown);
    }
}
