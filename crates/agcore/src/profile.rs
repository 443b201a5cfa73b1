//! Profiles of users: validated preferences, versioned settings, and the system prompt that describes a user.
//!
//! ```
//! use agcore::profile::{ProfileDocument, UserAgentContext, Uuid, build_global_system_prompt};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let profiles = ProfileDocument::from_yaml(
//!     "
//! profiles:
//!   - user_id: 00000000-0000-0000-0000-000000000007
//!     username: Ada
//!     settings:
//!       preferences: {ai_language: en-GB, timezone: Europe/London, country: GB}
//! ",
//! )?;
//! let user = UserAgentContext::load(&profiles, Uuid::from_u128(7)).await?;
//! let prompt = build_global_system_prompt(&user)?;
//! assert!(prompt.ends_with(r#""timezone":"Europe/London","country":"GB"}"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! | to | use |
//! |---|---|
//! | read, upgrade and write settings | [`ProfileSettings`] |
//! | read profiles from a document | [`ProfileDocument`] |
//! | load profiles from a place of your own | [`ProfileSource`] |
//! | describe a user to a model | [`build_global_system_prompt`] |

#[doc(inline)]
pub use agcore_profile::*;
