//! [`StoreLayer`]: a store that changes what is written to another one.

use std::sync::Arc;

/// A store in front of another one. It reads and removes like the inner one, because every layer is a [`SessionReader`] and a
/// [`SessionRetention`] if the inner store is one; what it changes is how it writes, as a [`SessionWriter`].
///
/// [`Redacted`](crate::Redacted) is one.
///
/// [`SessionReader`]: crate::SessionReader
/// [`SessionRetention`]: crate::SessionRetention
/// [`SessionWriter`]: crate::SessionWriter
pub trait StoreLayer {
    /// The type of the inner store.
    type Inner: ?Sized;

    /// Returns the inner store.
    fn inner(&self) -> &Self::Inner;
}

impl<S: ?Sized> StoreLayer for Arc<S> {
    type Inner = S;

    fn inner(&self) -> &S {
        self
    }
}
