//! From a request to its reply: what the server answers itself, and what it asks the behaviour for.

use super::api::Operation;
use super::api_error::ApiError;
use super::behaviour::Behaviour;
use super::embedding::embeddings;
use super::judge::judge_pairs;
use super::listing::listing;
use super::options::MockOptions;
use super::reply::Reply;
use super::request::RecordedRequest;
use super::wire::wire;

/// The reply to a request, first matter first: a route of the test's own, the path, the key, the body, the model.
pub(crate) fn decide(options: &MockOptions, behaviour: &dyn Behaviour, request: &RecordedRequest) -> Reply {
    let own = |route: &&super::options::Route| route.method == request.method() && route.path == request.path();
    if let Some(route) = options.routes.iter().find(own) {
        return route.behaviour.reply(request);
    }
    served(options, behaviour, request).unwrap_or_else(Reply::error)
}

fn served(options: &MockOptions, behaviour: &dyn Behaviour, request: &RecordedRequest) -> Result<Reply, ApiError> {
    check_path(request)?;
    check_key(options, request)?;
    if request.operation() == Operation::ListModels {
        return Ok(Reply::json(200, &listing(request.api(), &options.listed())));
    }
    check_body(request)?;
    check_model(options, request)?;
    match request.operation() {
        Operation::Embed => Ok(Reply::json(200, &embeddings(request.api(), request.json())?)),
        Operation::CountTokens => Ok(Reply::json(
            200,
            &serde_json::json!({ "input_tokens": request.prompt().tokens() }),
        )),
        _ => {
            if options.judging {
                wire(request.api()).judge(request.json())?;
                judge_pairs(&request.prompt())?;
            }
            Ok(behaviour.reply(request))
        }
    }
}

fn check_path(request: &RecordedRequest) -> Result<(), ApiError> {
    let asked = format!("{} {}", request.method(), request.path());
    match request.operation() {
        Operation::Unknown => Err(ApiError::new(404).with_message(format!("Unknown request URL: {asked}."))),
        Operation::WrongMethod(allowed) => Err(ApiError::new(405)
            .with_header("allow", allowed)
            .with_message(format!("Not allowed: {asked}. Use {allowed}."))),
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
    let given = [bearer, request.header("x-api-key"), request.header("api-key")];
    if given.contains(&Some(key)) {
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
    let model = request.json()["model"].as_str().unwrap_or_default();
    match &options.models {
        Some(known) if !known.iter().any(|known| known == model) => Err(ApiError::model_not_found(model)),
        _ => Ok(()),
    }
}
