//! The JSON forms of the tokens of users.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::auth::{NewToken, Token};

/// A token to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewTokenBody {
    /// The user on whose behalf requests are made, of 1 to 256 bytes.
    #[schemars(length(min = 1, max = 256))]
    pub(crate) user_id: String,
    /// The line of business of the user, if there is one.
    #[schemars(length(min = 1, max = 256))]
    pub(crate) line: Option<String>,
    /// A note for the list, such as the name of the client, of at most 256 bytes.
    #[schemars(length(max = 256))]
    #[serde(default)]
    pub(crate) label: String,
}

/// A page of the tokens of a tenant.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TokenPage {
    /// The tokens, in the order of their ids.
    pub(crate) tokens: Vec<TokenView>,
    /// The place at which the next page begins; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cursor: Option<String>,
}

/// A token of a user, without its text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TokenView {
    /// The id, by which the token is revoked.
    pub(crate) token_id: String,
    /// The user on whose behalf requests are made.
    pub(crate) user_id: String,
    /// The line of business of the user, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<String>,
    /// The note for the list.
    pub(crate) label: String,
    /// When the token was created, as an RFC 3339 time.
    pub(crate) created_at: String,
}

/// A token that was just created, with the text that clients send. Only the answer that creates it has the text.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TokenWithText {
    /// The token.
    #[serde(flatten)]
    pub(crate) token: TokenView,
    /// The text for the header `Authorization: Bearer`.
    pub(crate) text: String,
}

impl From<&Token> for TokenView {
    fn from(token: &Token) -> Self {
        Self {
            token_id: token.id.clone(),
            user_id: token.actor.user.to_string(),
            line: token.actor.line.as_deref().map(str::to_owned),
            label: token.label.clone(),
            created_at: token.created_at.to_string(),
        }
    }
}

impl From<&NewToken> for TokenWithText {
    fn from(new: &NewToken) -> Self {
        Self {
            token: (&new.token).into(),
            text: new.text().to_owned(),
        }
    }
}
