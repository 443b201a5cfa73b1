//! Two ways to write a tool: a function with the attribute [`#[tool]`](tool), and a type that implements [`BaseTool`].
//!
//! The function is for the common case: its parameters become the schema, and [`State`] gives it access to the application.
//! `BaseTool` is for tools whose schema is known only at run time.
//!
//! Run it: `cargo run --example custom_tool`, or with a real model, as the [README](README.md) describes.

use std::{collections::BTreeMap, error::Error};

use agcore::{
    chat::{Role, ToolCall},
    tools::{Arguments, BaseTool, Permission, State, ToolContext, ToolError, ToolOutput, tool},
};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use async_trait::async_trait;
use serde::Serialize;
use serde_json::{Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let stock = BTreeMap::from([("A-100", 7), ("B-200", 0)]);
    let handbook = Handbook::new([
        ("opening hours", "Every day from 9 to 18."),
        ("returns", "Goods can be returned within 30 days."),
    ]);
    let session = agcore::agent(agcore_examples::model(offline())?)
        .with_instructions("You help customers of a shop.")
        .with_tool(stock_tool())
        .with_tool(handbook)
        .with_state(Warehouse { stock })
        .session()?;

    let outcome = session.turn("Three of A-100, please. Can I bring them back?").await?;

    // What the model saw. An error is a result like any other, so that the model can correct its call.
    for message in session.messages().await {
        if message.role() == Role::Tool {
            println!("result  {}", message.text());
        }
    }
    println!("answer  {}", outcome.text());
    Ok(())
}

/// The state of the application, shared by all calls.
struct Warehouse {
    stock: BTreeMap<&'static str, u32>,
}

/// A result for the model, as JSON.
#[derive(Serialize)]
struct StockAnswer {
    in_stock: u32,
    enough: bool,
}

fn one() -> u32 {
    1
}

/// Looks up how many of an article are in stock.
// The doc comments are descriptions for the model. It also sees the text of the error.
#[tool(read_only)]
async fn stock(
    /// The number of the article, such as A-100.
    article: String,
    /// The wanted quantity.
    #[serde(default = "one")]
    quantity: u32,
    warehouse: State<Warehouse>,
) -> Result<StockAnswer, String> {
    let Some(&in_stock) = warehouse.stock.get(article.as_str()) else {
        let known: Vec<_> = warehouse.stock.keys().copied().collect();
        let known = known.join(", ");
        return Err(format!("there is no article {article}; the articles are {known}"));
    };
    Ok(StockAnswer {
        in_stock,
        enough: in_stock >= quantity,
    })
}

/// Returns pages that are known only at run time. The schema lists their titles.
struct Handbook {
    pages: BTreeMap<String, String>,
    parameters: Value,
}

impl Handbook {
    fn new<const N: usize>(pages: [(&str, &str); N]) -> Self {
        let pages = BTreeMap::from(pages.map(|(title, page)| (title.to_owned(), page.to_owned())));
        let titles: Vec<_> = pages.keys().collect();
        let parameters = json!({
            "type": "object",
            "properties": { "page": { "type": "string", "enum": titles } },
            "required": ["page"],
        });
        Self { pages, parameters }
    }
}

#[async_trait]
impl BaseTool for Handbook {
    fn name(&self) -> &str {
        "handbook"
    }

    fn description(&self) -> &str {
        "Opens a page of the shop's handbook."
    }

    fn parameters(&self) -> &Value {
        &self.parameters
    }

    fn required_permissions(&self) -> &[Permission] {
        &[Permission::Read]
    }

    async fn execute(&self, arguments: &Arguments, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let title = arguments.get("page").and_then(Value::as_str).unwrap_or_default();
        match self.pages.get(title) {
            Some(page) => Ok(ToolOutput::text(page)),
            None => Err(ToolError::failed(format!("there is no page {title:?}"))),
        }
    }
}

/// The model that is used without `AGCORE_MODEL`. It makes two mistakes before it succeeds.
fn offline() -> ScriptedProvider {
    let step = |id, tool, arguments| ScriptStep::calls([ToolCall::function(id, tool, arguments)]);
    ScriptedProvider::new([
        step("call_1", "stock", r#"{"article": "A-100", "quantity": "three"}"#),
        step("call_2", "stock", r#"{"article": "A-101", "quantity": 3}"#),
        step("call_3", "stock", r#"{"article": "A-100", "quantity": 3}"#),
        step("call_4", "handbook", r#"{"page": "returns"}"#),
        ScriptStep::text("Yes, three are in stock, and you may return them within 30 days."),
    ])
}
