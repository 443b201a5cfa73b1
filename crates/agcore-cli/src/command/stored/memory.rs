//! `agcore memory`: facts and notes that were remembered.

use agcore::{
    chat::Actor,
    memory::{MemoryFilter, MemoryItem, MemoryStore, Order},
};
use agcore_args::{ForgetArgs, MemoryCommand, MemoryListArgs};
use agcore_terminal::{
    render::{sanitized_line, truncated},
    table::table,
};
use serde_json::json;

use super::database::Database;

use crate::{exit::Failure, stdout::print, trust_dialog::print_notices};

/// The maximum width of a text in the list.
const WIDTH: usize = 100;

/// The command that creates the database.
const CREATE: &str = "agcore store migrate";

/// Runs `agcore memory`.
///
/// # Errors
/// When the database cannot be read or written, or an item does not exist.
pub(crate) async fn run(command: &MemoryCommand) -> Result<(), Failure> {
    match command {
        MemoryCommand::List(args) => list(args).await,
        MemoryCommand::Forget(args) => forget(args).await,
    }
}

async fn list(args: &MemoryListArgs) -> Result<(), Failure> {
    let database = Database::of(&args.database)?;
    let store = database.open(CREATE).await?;
    let mut filter = MemoryFilter::new(Actor::local().tenant)
        .with_prefix(args.prefix.as_deref().unwrap_or_default())
        .with_order(Order::NewestFirst);
    filter.limit = args.limit;
    let items = MemoryStore::list(&store, &filter).await?;
    if database.as_json {
        return print(&format!("{:#}\n", json!({ "items": items })));
    }
    if items.is_empty() {
        return print_notices(&["Nothing is remembered.".to_owned()]);
    }
    print(&table(&items.iter().map(row).collect::<Vec<_>>()))
}

/// Returns a row of the list: id, day of the last change, and the beginning of the text.
fn row(item: &MemoryItem) -> [String; 3] {
    let changed = item.updated_at.to_string();
    let day = changed.split('T').next().unwrap_or_default();
    [
        sanitized_line(&item.id),
        day.to_owned(),
        truncated(&item.content, WIDTH),
    ]
}

async fn forget(args: &ForgetArgs) -> Result<(), Failure> {
    let database = Database::of(&args.database)?;
    let store = database.open(CREATE).await?;
    let tenant = Actor::local().tenant;
    let deleted = match &args.prefix {
        Some(prefix) => store.delete_prefix(&tenant, prefix).await?,
        None => {
            let mut unknown = Vec::new();
            for id in &args.ids {
                if MemoryStore::get(&store, &tenant, id).await?.is_none() {
                    unknown.push(format!("nothing is remembered under `{}`", sanitized_line(id)));
                }
            }
            if !unknown.is_empty() {
                let unknown = unknown.join("\n");
                let advice = "Run `agcore memory list` to see everything.";
                return Err(Failure::usage(format!("{unknown}\n{advice}")));
            }
            let mut deleted = 0;
            for id in &args.ids {
                // Named twice, or deleted meanwhile by another program.
                deleted += u64::from(MemoryStore::delete(&store, &tenant, id).await?);
            }
            deleted
        }
    };
    let text = match deleted {
        1 => "1 item was deleted.".to_owned(),
        number => format!("{number} items were deleted."),
    };
    database.print(json!({ "deleted": deleted }), &text)
}
