//! The prompts and resources of MCP servers in a chat: `/mcp`, `/prompt`, and `@SERVER:URI` in messages.

use std::{collections::BTreeMap, sync::Arc};

use agcore::{
    Message,
    chat::ContentPart,
    mcp::{McpClient, PromptInfo, ResourceBody, ResourceContents},
};
use agcore_terminal::{
    render::{sanitized_line, shown_lines},
    size::{lines, size},
};
use agcore_workbench::mcp::{Server, Servers};

use crate::command::chat::conversation::Conversation;
use crate::exit::Failure;

/// The maximum size of a resource, in bytes.
const MAX_RESOURCE: usize = 256 * 1024;

/// The maximum size of an image, in bytes of base64.
const MAX_IMAGE: usize = 7 * 1024 * 1024;

/// Lists the MCP servers of the chat.
pub(in crate::command::chat) fn listing(conversation: &Conversation) -> String {
    let list: String = conversation.tools.servers.all().iter().map(entry).collect();
    match list.is_empty() {
        true => "No MCP servers. `agcore mcp list --help` shows where to add them.\n".to_owned(),
        false => list,
    }
}

fn entry(server: &Server) -> String {
    let state = match &server.connection {
        Err(error) => format!("failed: {error}"),
        Ok(connected) if connected.client.is_closed() => {
            "disconnected; it is started again for the next call".to_owned()
        }
        Ok(connected) => {
            let peer = connected.peer();
            let about: Vec<String> = [peer.name, peer.version].into_iter().flatten().collect();
            let offers = [
                ("tools", peer.has_tools),
                ("resources", peer.has_resources),
                ("prompts", peer.has_prompts),
            ];
            let offers: Vec<&str> = offers
                .into_iter()
                .filter_map(|(name, has)| has.then_some(name))
                .collect();
            let offers = if offers.is_empty() {
                "nothing".to_owned()
            } else {
                offers.join(", ")
            };
            format!("connected; {} offers {offers}", about.join(" "))
        }
    };
    let settings = &server.settings;
    format!(
        "{}: {state}\n  {}, set in {}\n",
        sanitized_line(&settings.name),
        shown_lines(&settings.describe()).collect::<Vec<_>>().join("\n    │ "),
        settings.origin
    )
}

/// Lists the prompts of all servers, or sends one: `SERVER:NAME KEY=VALUE`.
///
/// # Errors
/// When the terminal was closed.
pub(in crate::command::chat) async fn prompt(conversation: &mut Conversation, argument: &str) -> Result<(), Failure> {
    let screen = conversation.screen;
    if argument.is_empty() {
        let list = prompts(&conversation.tools.servers).await;
        return screen.list(&list);
    }
    let messages = match filled_in(&conversation.tools.servers, argument).await {
        Ok(messages) => messages,
        Err(error) => return screen.error(&error),
    };
    let Some((last, earlier)) = messages.split_last() else {
        return screen.error("the prompt is empty; it was not sent");
    };
    if !matches!(last, Message::User(_)) {
        return screen.error("the prompt does not end with a message of the user; it was not sent");
    }
    if !earlier.is_empty() {
        let mut history = conversation.session.messages().await;
        history.extend(earlier.iter().cloned().map(Arc::new));
        if let Err(error) = conversation.session.set_messages(history).await {
            return screen.error(&error.to_string());
        }
    }
    screen.note(&format!("> {}", agcore_terminal::render::truncated(&last.text(), 200)))?;
    conversation.send_message(last.clone()).await
}

/// Formats the prompts of all servers, with their arguments.
async fn prompts(servers: &Servers) -> String {
    let mut list = String::new();
    for client in servers.clients().filter(|client| client.server().has_prompts) {
        match client.list_prompts().await {
            Ok(prompts) => list.extend(prompts.iter().map(|prompt| described(client.name(), prompt))),
            Err(error) => list += &format!("{}: {error}\n", client.name()),
        }
    }
    match list.is_empty() {
        true => "No MCP server offers prompts.\n".to_owned(),
        false => list,
    }
}

fn described(server: &str, prompt: &PromptInfo) -> String {
    let argument = |argument: &agcore::mcp::PromptArgument| match argument.is_required {
        true => format!(" {}=…", argument.name),
        false => format!(" [{}=…]", argument.name),
    };
    let arguments: String = prompt.arguments.iter().map(argument).collect();
    let description = prompt.description.iter().map(|text| format!(": {text}"));
    format!(
        "{server}:{}{arguments}{}\n",
        prompt.name,
        description.collect::<String>()
    )
}

/// Requests a prompt from its server.
async fn filled_in(servers: &Servers, argument: &str) -> Result<Vec<Message>, String> {
    let usage = "type /prompt to list the prompts, and /prompt SERVER:NAME KEY=VALUE to send one";
    let mut words = argument.split_whitespace();
    let name = words.next().unwrap_or_default();
    let (server, prompt) = name.split_once(':').ok_or(usage)?;
    let client = servers
        .client(server)
        .ok_or_else(|| format!("no MCP server named {server} is connected; {usage}"))?;
    let mut arguments = BTreeMap::new();
    for word in words {
        let (key, value) = word.split_once('=').ok_or(usage)?;
        arguments.insert(key.to_owned(), value.to_owned());
    }
    let prompt = client.get_prompt(prompt, &arguments).await;
    prompt.map(|prompt| prompt.messages).map_err(|error| error.to_string())
}

/// A resource that a message mentions.
pub(in crate::command::chat) enum Resource {
    /// A block of text, and what it is.
    Text(String, String),
    /// An image, and what it is.
    Image(ContentPart, String),
}

/// Finds the server of a mention: `SERVER:URI`.
pub(in crate::command::chat) fn mentioned<'m>(servers: &Servers, mention: &'m str) -> Option<(McpClient, &'m str)> {
    let (server, uri) = mention.split_once(':').filter(|(_, uri)| !uri.is_empty())?;
    Some((servers.client(server)?.clone(), uri))
}

/// Reads a resource.
///
/// # Errors
/// Why it cannot be attached.
pub(in crate::command::chat) async fn read(client: McpClient, uri: &str) -> Result<Vec<Resource>, String> {
    let contents = client.read_resource(uri).await.map_err(|error| error.to_string())?;
    contents.into_iter().map(resource).collect()
}

fn resource(contents: ResourceContents) -> Result<Resource, String> {
    let limit = |length: usize, limit: usize| match length > limit {
        true => Err(format!("it is larger than {}", size(to_u64(limit)))),
        false => Ok(()),
    };
    let uri = &contents.uri;
    match contents.body {
        ResourceBody::Text(text) => {
            limit(text.len(), MAX_RESOURCE)?;
            let note = format!("{}, {}", lines(&text), size(to_u64(text.len())));
            let end = if text.ends_with('\n') { "" } else { "\n" };
            let uri = sanitized_line(uri).replace(['"', '<', '>'], "_");
            Ok(Resource::Text(
                format!("\n\n<resource uri=\"{uri}\">\n{text}{end}</resource>"),
                note,
            ))
        }
        ResourceBody::Base64(data) => {
            let media = contents.mime_type.unwrap_or_default();
            if !["image/png", "image/jpeg", "image/gif", "image/webp"].contains(&media.as_str()) {
                return Err("it is neither text nor a PNG, JPEG, GIF or WebP image".to_owned());
            }
            limit(data.len(), MAX_IMAGE)?;
            let note = format!("{media}, {}", size(to_u64(data.len() / 4 * 3)));
            Ok(Resource::Image(
                ContentPart::image_url(format!("data:{media};base64,{data}")),
                note,
            ))
        }
        _ => Err("this version cannot read it".to_owned()),
    }
}

fn to_u64(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_text_or_images_of_limited_size() {
        let text = |text: &str| resource(ResourceContents::text("a:\"b\"", text));
        let Ok(Resource::Text(block, note)) = text("one\ntwo") else {
            panic!()
        };
        assert_eq!(block, "\n\n<resource uri=\"a:_b_\">\none\ntwo\n</resource>");
        assert_eq!(note, "2 lines, 7 B");
        assert_eq!(text(&"x".repeat(300_000)).err().unwrap(), "it is larger than 256.0 KB");
        let base64 = |media: &str| resource(ResourceContents::base64("a:b", media, "AAAA"));
        assert!(matches!(base64("image/png"), Ok(Resource::Image(..))));
        assert!(base64("audio/wav").err().unwrap().contains("neither text nor"));
    }
}
