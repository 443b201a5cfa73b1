//! [`Output`]: the type that is wanted, and its schema.

use std::{fmt, marker::PhantomData};

use serde_json::Value;

use super::options::TypedOptions;

/// The type that is wanted, and its schema.
pub struct Output<T> {
    pub(super) schema: Value,
    pub(super) options: TypedOptions,
    marker: PhantomData<fn() -> T>,
}

impl<T> Output<T> {
    /// A type with a schema of one's own. A [`Value`] fits any schema unless the options have a check.
    pub fn with_schema(schema: Value, options: TypedOptions) -> Self {
        Self {
            schema,
            options,
            marker: PhantomData,
        }
    }
}

#[cfg(feature = "typed")]
impl<T: schemars::JsonSchema> Output<T> {
    /// A type that describes itself; its doc comments are for the model.
    pub fn new(mut options: TypedOptions) -> Self {
        options.name.get_or_insert_with(|| T::schema_name().into_owned());
        Self::with_schema(super::schema::schema_of::<T>(), options)
    }
}

impl<T> fmt::Debug for Output<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output")
            .field("schema", &self.schema)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl<T> Clone for Output<T> {
    fn clone(&self) -> Self {
        Self::with_schema(self.schema.clone(), self.options.clone())
    }
}
