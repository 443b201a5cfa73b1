//! [`dispatch`]: selects the reply to a request, either from the server itself or from the behavior.

use crate::mock_server::{
    behavior::Behavior,
    reply::{ApiError, Reply},
    request::RecordedRequest,
    server::options::{MockOptions, Route},
    wire::{Operation, embeddings, model_list, validate_tool_results, wire},
};

/// Returns the reply to a request. Custom routes take precedence; then the path, key, body and model are checked, in
/// this order.
pub(crate) fn dispatch(options: &MockOptions, behavior: &dyn Behavior, request: &RecordedRequest) -> Reply {
    let matches = |route: &&Route| route.method == request.method() && route.path == request.path();
    if let Some(route) = options.routes.iter().find(matches) {
        return route.behavior.reply(request);
    }
    serve(options, behavior, request).unwrap_or_else(Reply::error)
}

fn serve(options: &MockOptions, behavior: &dyn Behavior, request: &RecordedRequest) -> Result<Reply, ApiError> {
    check_path(request)?;
    check_key(options, request)?;
    if request.operation() == Operation::ListModels {
        return Ok(Reply::json(200, &model_list(request.api(), &options.listed_models())));
    }
    // The bodies of these are forms or empty.
    if let Operation::Transcribe | Operation::VideoStatus | Operation::FetchVideo | Operation::CancelVideo =
        request.operation()
    {
        return request.generate();
    }
    check_body(request)?;
    check_model(options, request)?;
    match request.operation() {
        Operation::Embed => Ok(Reply::json(200, &embeddings(request.api(), request.json())?)),
        Operation::CountTokens => Ok(Reply::json(
            200,
            &serde_json::json!({ "input_tokens": request.prompt().tokens() }),
        )),
        Operation::Rerank | Operation::GenerateImages | Operation::Speak | Operation::CreateVideo => request.generate(),
        _ => {
            if options.validating {
                wire(request.api()).validate(request.json())?;
                validate_tool_results(&request.prompt())?;
            }
            Ok(behavior.reply(request))
        }
    }
}

fn check_path(request: &RecordedRequest) -> Result<(), ApiError> {
    let target = format!("{} {}", request.method(), request.path());
    match request.operation() {
        Operation::Unknown => Err(ApiError::new(404).with_message(format!("Unknown request URL: {target}."))),
        Operation::WrongMethod(allowed) => Err(ApiError::new(405)
            .with_header("allow", allowed)
            .with_message(format!("Method not allowed: {target}. Use {allowed}."))),
        _ => Ok(()),
    }
}

fn check_key(options: &MockOptions, request: &RecordedRequest) -> Result<(), ApiError> {
    let Some(key) = &options.key else {
        return Ok(());
    };
    let bearer = request
        .header("authorization")
        .and_then(|value| value.strip_prefix("Bearer "));
    let named = ["x-api-key", "api-key", "x-goog-api-key"].map(|name| request.header(name));
    let given: Vec<Option<&str>> = named.into_iter().chain([bearer]).collect();
    if given.contains(&Some(&**key)) {
        Ok(())
    } else if given.iter().all(Option::is_none) {
        Err(ApiError::new(401)
            .without_code()
            .with_message("You didn't provide an API key."))
    } else {
        Err(ApiError::new(401))
    }
}

fn check_body(request: &RecordedRequest) -> Result<(), ApiError> {
    if request.json().is_object() {
        return Ok(());
    }
    Err(ApiError::new(400).with_message("The body of the request is not a JSON object."))
}

fn check_model(options: &MockOptions, request: &RecordedRequest) -> Result<(), ApiError> {
    let model = request.model();
    match &options.models {
        Some(known) if !known.iter().any(|known| *known == model) => Err(ApiError::model_not_found(&model)),
        _ => Ok(()),
    }
}
