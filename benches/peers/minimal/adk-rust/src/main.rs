//! An agent with one tool, on adk-rust.

use std::{env, error::Error, sync::Arc};

use adk_rust::{
    AdkError, Content, Part, SessionId, UserId,
    agent::LlmAgentBuilder,
    futures::StreamExt as _,
    model::openai::{OpenAIClient, OpenAIConfig},
    runner::Runner,
    session::{CreateRequest, InMemorySessionService, SessionService},
    tool::FunctionTool,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, Serialize, JsonSchema)]
struct Place {
    /// The city.
    city: String,
}

async fn temperature(place: Place) -> Result<f64, AdkError> {
    match &*place.city {
        "Paris" => Ok(21.5),
        other => Err(AdkError::tool(format!("no temperature of {other} is known"))),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let model = OpenAIClient::new(OpenAIConfig::new(env::var("OPENAI_API_KEY")?, "gpt-4.1"))?;
    let tool = FunctionTool::new(
        "temperature",
        "Returns the current temperature.",
        |_, arguments| async {
            let place = serde_json::from_value(arguments).map_err(|error| AdkError::tool(error.to_string()))?;
            Ok(temperature(place).await?.into())
        },
    );
    let agent = LlmAgentBuilder::new("agent")
        .instruction("You are a helpful assistant.")
        .model(Arc::new(model))
        .tool(Arc::new(tool.with_parameters_schema::<Place>()))
        .build()?;
    let sessions = Arc::new(InMemorySessionService::new());
    let session = sessions
        .create(CreateRequest {
            app_name: "minimal".to_owned(),
            user_id: "user".to_owned(),
            session_id: None,
            state: Default::default(),
        })
        .await?;
    let runner = Runner::builder()
        .app_name("minimal")
        .agent(Arc::new(agent))
        .session_service(sessions)
        .build()?;
    let content = Content::new("user").with_text("How warm is it in Paris?");
    let mut events = runner
        .run(UserId::new("user")?, SessionId::new(session.id())?, content)
        .await?;
    while let Some(event) = events.next().await {
        let event = event?;
        if event.is_final_response() {
            let parts = event.content().into_iter().flat_map(|content| &content.parts);
            println!("{}", parts.filter_map(Part::text).collect::<String>());
        }
    }
    Ok(())
}
