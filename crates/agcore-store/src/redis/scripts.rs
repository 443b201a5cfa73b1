//! The scripts that run in the server: each is atomic there.

use std::sync::LazyLock;

use redis::Script;

/// Defines a script that works on items, with what all of them share.
macro_rules! items {
    ($name:ident, $file:literal) => {
        pub(super) static $name: LazyLock<Script> =
            LazyLock::new(|| Script::new(concat!(include_str!("scripts/items.lua"), include_str!($file))));
    };
}

/// Defines a script that works on streams.
macro_rules! stream {
    ($name:ident, $file:literal) => {
        pub(super) static $name: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!($file)));
    };
}

items!(SAVE, "scripts/save.lua");
items!(SELECT, "scripts/select.lua");
items!(DELETE, "scripts/delete.lua");
items!(DELETE_PREFIX, "scripts/delete_prefix.lua");
items!(ERASE, "scripts/erase.lua");
items!(RECALL, "scripts/recall.lua");
items!(EXPIRE, "scripts/expire.lua");
items!(CANDIDATES, "scripts/candidates.lua");
items!(EVICT, "scripts/evict.lua");
stream!(APPEND, "scripts/append.lua");
stream!(READ, "scripts/read.lua");
stream!(TRIM, "scripts/trim.lua");
