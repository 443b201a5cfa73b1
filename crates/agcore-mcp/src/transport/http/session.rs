//! Recognizes that a server has forgotten the session.

use http::StatusCode;
use rmcp::model::RequestId;
use serde_json::Value;

/// The words which report that a session is not known, in lower case.
const ENDED: &[&str] = &[
    "expired",
    "not found",
    "no valid",
    "invalid",
    "not valid",
    "unknown",
    "unrecognized",
    "missing",
    "no longer",
    "not exist",
    "doesn't exist",
    "terminated",
    "closed",
    "ended",
    "timed out",
    "stale",
    "not initialized",
    "re-initialize",
    "reinitialize",
    "no active",
    "no such",
    "no transport",
    "bad session",
];

/// Returns whether an answer reports that the session of its request is not known, so that the request was not carried out.
///
/// The status 404 means this by the rules of the protocol. Many servers answer with another one, and with an error that has
/// no id, because the transport refused the request before it was read. An error with the id of the request under the
/// status 200 is that of a tool, whatever its text is: the call has run.
pub(super) fn reports_ended_session(status: StatusCode, body: &[u8], id: Option<&RequestId>) -> bool {
    let text = match serde_json::from_slice::<Value>(body) {
        Ok(answer) => {
            let Some(error) = answer.get("error").filter(|error| !error.is_null()) else {
                return false;
            };
            let own = id.and_then(|id| serde_json::to_value(id).ok());
            let names_request = answer.get("id").is_some_and(|found| Some(found) == own.as_ref());
            if names_request && !status.is_client_error() {
                return false;
            }
            error.to_string()
        }
        Err(_) if status.is_client_error() => String::from_utf8_lossy(body).into_owned(),
        Err(_) => return false,
    };
    let text = text.to_lowercase();
    text.contains("session") && ENDED.iter().any(|words| text.contains(words))
        || text.contains("server not initialized")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(status: u16, body: &str, expected: bool) {
        let status = StatusCode::from_u16(status).unwrap();
        let found = reports_ended_session(status, body.as_bytes(), Some(&RequestId::Number(3)));
        assert_eq!(found, expected, "{status}: {body}");
    }

    #[test]
    fn forgotten_sessions_are_recognized_in_the_forms_of_servers() {
        let error = |id: Value, message: &str| {
            json!({"jsonrpc": "2.0", "error": {"code": -32000, "message": message}, "id": id}).to_string()
        };
        for status in [400, 401, 403, 410, 500, 200] {
            check(
                status,
                &error(json!(null), "Bad Request: No valid session ID provided"),
                true,
            );
            check(status, &error(json!("server-error"), "Session not found"), true);
        }
        check(400, &error(json!(null), "Bad Request: Server not initialized"), true);
        check(400, &error(json!(3), "Session expired"), true);
        check(400, "Invalid session ID", true);
        check(403, "session has been terminated", true);

        // The tool has run.
        check(200, &error(json!(3), "the database session expired"), false);
        check(500, &error(json!(3), "the database session expired"), false);
        check(
            200,
            &json!({"id": 3, "result": {"content": "session not found"}}).to_string(),
            false,
        );
        // Other failures.
        check(500, "session expired", false);
        check(403, "forbidden", false);
        check(400, &error(json!(null), "Parse error"), false);
        check(400, "", false);
    }
}
