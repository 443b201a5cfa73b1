//! [`VideoWire`]: videos from texts, which are made by jobs.

mod decode;

use http::{HeaderValue, Method};
use serde_json::json;

use self::decode::{FileDecoder, JobDecoder, is_id};
use super::parameters::{Parameters, refuse};
use crate::{
    decode::shape::{CheckedShape, Form, PointerSpec, ResponseShape},
    encode::{body::JsonBody, check_extra_body, invalid_request, model},
    error::LlmError,
    operation::{MakeVideo, VideoCall, VideoRequest},
    wire::{Decoder, EncodeOptions, ReplyHead, Wire, WireRequest},
};

/// The pointers of replies. For OpenAI, whose form many gateways share, see
/// <https://platform.openai.com/docs/api-reference/videos>, for DashScope
/// <https://help.aliyun.com/zh/model-studio/text-to-video-api-reference>.
const POINTERS: &[PointerSpec] = &[
    PointerSpec {
        name: "id",
        openai: "/id",
        dashscope: "/output/task_id",
    },
    PointerSpec {
        name: "status",
        openai: "/status",
        dashscope: "/output/task_status",
    },
    PointerSpec {
        name: "url",
        openai: "/url",
        dashscope: "/output/video_url",
    },
    PointerSpec {
        name: "error",
        openai: "/error/message",
        dashscope: "/output/message",
    },
];

/// A wire for models that make videos.
///
/// Its [pointers](ResponseShape::with_pointer) are `id`, `status`, `url` and `error` of a job. With OpenAI's form, the path of a
/// job is that of requests followed by its id, and the file is below it; with DashScope's, jobs are below `/tasks`, and the file
/// has a URL.
#[derive(Debug, Clone)]
pub struct VideoWire(CheckedShape);

impl VideoWire {
    /// Creates a wire with this shape.
    ///
    /// # Errors
    /// Returns `InvalidRequest` for an invalid path or pointer, and for a pointer with another name.
    pub fn new(shape: ResponseShape) -> Result<Self, LlmError> {
        CheckedShape::new(shape, POINTERS).map(Self)
    }

    fn path(&self) -> &str {
        self.0
            .path("/videos", "/services/aigc/video-generation/video-synthesis")
    }

    fn create(&self, request: &VideoRequest, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        check_extra_body(request.extra_body_clash())?;
        if request.prompt.is_empty() {
            return Err(invalid_request("the prompt is empty; describe the video"));
        }
        let mut body = JsonBody::new(model(&request.model, options)?);
        match self.0.form() {
            Form::OpenAi => {
                refuse("negative_prompt", request.negative_prompt.is_some())?;
                refuse("seed", request.seed.is_some())?;
                body.set("prompt", request.prompt.as_str());
                body.set_some("size", request.size.as_deref());
                // OpenAI expects text.
                body.set_some("seconds", request.seconds.map(|seconds| seconds.to_string()));
            }
            Form::DashScope => {
                let mut input = Parameters::default();
                input.set("prompt", Some(request.prompt.as_str()));
                input.set("negative_prompt", request.negative_prompt.as_deref());
                body.set_some("input", input.into_object());
                let mut parameters = Parameters::default();
                parameters.set("size", request.size.as_ref().map(|size| size.replace(['x', 'X'], "*")));
                parameters.set("duration", request.seconds);
                parameters.set("seed", request.seed);
                body.set_some("parameters", parameters.into_object());
            }
        }
        let mut wire = body.post(self.path(), &request.extra_body, &request.extra_headers)?;
        if self.0.form() == Form::DashScope {
            wire.headers
                .insert("x-dashscope-async", HeaderValue::from_static("enable"));
        }
        Ok(wire)
    }

    /// Returns the path of a job.
    fn job_path(&self, id: &str) -> Result<String, LlmError> {
        if !is_id(id) {
            let id = agcore_chat::text::clip(id, 80).escape_debug().to_string();
            return Err(invalid_request(format!("`{id}` is not an id of a job")));
        }
        Ok(match self.0.form() {
            Form::OpenAi => format!("{}/{id}", self.path()),
            Form::DashScope => format!("/tasks/{id}"),
        })
    }
}

impl Wire<MakeVideo> for VideoWire {
    fn encode(&self, call: &VideoCall, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        match (call, self.0.form()) {
            (VideoCall::Create(request), _) => self.create(request, options),
            (VideoCall::Status(id), _) => Ok(WireRequest::get(self.job_path(id)?)),
            (VideoCall::Fetch(id), Form::OpenAi) => Ok(WireRequest::get(format!("{}/content", self.job_path(id)?))),
            (VideoCall::Fetch(_), Form::DashScope) => Err(invalid_request(
                "the server returns a URL of the video instead of its file: download it from there",
            )),
            (VideoCall::Cancel(id), Form::OpenAi) => {
                let mut request = WireRequest::get(self.job_path(id)?);
                request.method = Method::DELETE;
                Ok(request)
            }
            (VideoCall::Cancel(id), Form::DashScope) => {
                let path = format!("{}/cancel", self.job_path(id)?);
                Ok(WireRequest::post(path, json!({}).to_string()))
            }
        }
    }

    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<MakeVideo>> {
        Box::new(JobDecoder::new(self.0.clone(), head, None))
    }

    fn decoder_for(&self, head: &ReplyHead, call: &VideoCall) -> Box<dyn Decoder<MakeVideo>> {
        match call {
            VideoCall::Fetch(_) => Box::new(FileDecoder::new(head)),
            VideoCall::Cancel(id) => Box::new(JobDecoder::new(self.0.clone(), head, Some(id))),
            _ => self.decoder(head),
        }
    }
}
