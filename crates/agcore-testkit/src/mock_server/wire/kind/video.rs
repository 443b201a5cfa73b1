//! [`video`]: jobs that make videos. The server keeps no jobs: the id of a job contains its fate, which a word of the prompt
//! decides.

use serde_json::{Value, json};

use crate::mock_server::{
    reply::{ApiError, Reply},
    wire::{api::Operation, form::Form},
};

/// The words of prompts that decide about the fate of a job; any other job is done at once.
const FATES: [&str; 2] = ["fail", "slow"];

/// The head of an MP4 file.
const MP4: &[u8] = b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom";

/// Computes the reply to a request about a job. `rest` is the path below the prefix of the API.
pub(super) fn video(form: Form, operation: Operation, path: &str, body: &Value) -> Result<Reply, ApiError> {
    if operation == Operation::CreateVideo {
        return create(form, body);
    }
    let mut segments = path
        .rsplit('/')
        .filter(|segment| !matches!(*segment, "content" | "cancel"));
    let id = segments.next().unwrap_or_default();
    let Some(fate) = id.strip_prefix("video-") else {
        return Err(ApiError::new(404).with_message(format!("Video not found: {id}.")));
    };
    match operation {
        Operation::CancelVideo => {
            let reply = json!({ "id": id, "object": "video.deleted", "deleted": true, "request_id": "mock" });
            Ok(Reply::json(200, &reply))
        }
        Operation::FetchVideo if fate == "done" => {
            let file = [MP4, &[0; 4096]].concat();
            Ok(Reply::raw(200, [("content-type", "video/mp4")], file))
        }
        Operation::FetchVideo => Err(ApiError::new(404).with_message("The video is not ready.")),
        _ => Ok(Reply::json(200, &status(form, id, fate))),
    }
}

fn create(form: Form, body: &Value) -> Result<Reply, ApiError> {
    let prompt = match form {
        Form::OpenAi => &body["prompt"],
        Form::DashScope => &body["input"]["prompt"],
    };
    let Some(prompt) = prompt.as_str().filter(|prompt| !prompt.is_empty()) else {
        let message = "'prompt' must be a non-empty string";
        return Err(ApiError::new(400).with_param("prompt").with_message(message));
    };
    let fate = FATES
        .iter()
        .find(|fate| prompt.split_whitespace().any(|word| word == **fate));
    let id = format!("video-{}", fate.unwrap_or(&"done"));
    let reply = match form {
        Form::OpenAi => {
            json!({ "id": id, "object": "video", "status": "queued", "progress": 0, "model": body["model"] })
        }
        Form::DashScope => json!({ "output": { "task_id": id, "task_status": "PENDING" }, "request_id": "mock" }),
    };
    Ok(Reply::json(200, &reply))
}

fn status(form: Form, id: &str, fate: &str) -> Value {
    let [word, native] = match fate {
        "fail" => ["failed", "FAILED"],
        "slow" => ["in_progress", "RUNNING"],
        _ => ["completed", "SUCCEEDED"],
    };
    let reason = "The prompt was refused.";
    match form {
        Form::OpenAi => {
            let error = if fate == "fail" {
                json!({ "code": "moderation", "message": reason })
            } else {
                Value::Null
            };
            json!({ "id": id, "object": "video", "status": word, "error": error })
        }
        Form::DashScope => {
            let mut output = json!({ "task_id": id, "task_status": native });
            match fate {
                "fail" => output["message"] = reason.into(),
                "slow" => {}
                _ => output["video_url"] = "https://videos.example/1.mp4?signature=mock".into(),
            }
            json!({ "output": output, "usage": { "video_duration": 5, "video_count": 1 }, "request_id": "mock" })
        }
    }
}
