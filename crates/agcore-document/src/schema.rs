//! JSON Schemas: a value has the schema that it would have without its place.

use std::{borrow::Cow, collections::BTreeMap};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::{Field, Members, Placed, ScalarOr};

macro_rules! as_its_value {
    ($($name:ident as $value:ty),*) => {$(
        impl<T: JsonSchema> JsonSchema for $name<T> {
            fn inline_schema() -> bool {
                <$value>::inline_schema()
            }

            fn schema_name() -> Cow<'static, str> {
                <$value>::schema_name()
            }

            fn schema_id() -> Cow<'static, str> {
                <$value>::schema_id()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                <$value>::json_schema(generator)
            }
        }
    )*};
}

as_its_value!(Field as T, Placed as T, Members as BTreeMap<String, T>);

impl<S: JsonSchema, T: JsonSchema> JsonSchema for ScalarOr<S, T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{}_or_{}", S::schema_name(), T::schema_name()).into()
    }

    fn schema_id() -> Cow<'static, str> {
        format!("agcore_document::ScalarOr<{}, {}>", S::schema_id(), T::schema_id()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [generator.subschema_for::<S>(), generator.subschema_for::<T>()]})
    }
}
