//! Documents in the journal of a store: profiles of users, and the catalog of models.

mod document;
mod profiles;
mod catalog;
mod shared_catalog;
mod user;
mod user_profile;

pub use self::{
    catalog::StoredCatalog,
    profiles::StoredProfiles,
    shared_catalog::SharedCatalog,
    user::{ErasedServerData, erase_server_data, export_server_data},
    user_profile::UserProfile,
};
