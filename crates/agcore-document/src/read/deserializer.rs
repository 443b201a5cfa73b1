//! [`NodeDeserializer`]: a value as a serde [`Deserializer`].

use serde::{
    Deserializer,
    de::{DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess, Visitor, value::StringDeserializer},
};

use crate::{
    error::{DocumentError, ErrorKind, Expected},
    field::{FIELD, PLACED},
    node::{Member, Node, Value},
    number,
    read::{
        absent::AbsentDeserializer,
        choice::Choice,
        failure::Failure,
        key::KeyDeserializer,
        path::Path,
        place::{FieldAccess, PlacedAccess, ShapeAccess},
        scalar,
        session::{Session, address},
    },
    scalar_or::SHAPE,
};

/// A value of a document, to be read as a type.
#[derive(Clone, Copy)]
pub(super) struct NodeDeserializer<'d> {
    node: &'d Node,
    path: Path<'d>,
    session: &'d Session,
}

impl<'d> NodeDeserializer<'d> {
    pub(super) fn new(node: &'d Node, path: Path<'d>, session: &'d Session) -> Self {
        Self { node, path, session }
    }

    /// Sets the place of a failure that is about this value itself.
    fn placed<T>(&self, result: Result<T, Failure>) -> Result<T, Failure> {
        result.map_err(|failure| failure.at(self.node.place, || self.path.owned()))
    }

    fn table<'de, V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Failure> {
        if !matches!(self.node.value, Value::Table(_)) {
            return self.placed(Err(scalar::wrong_type(self.node, Expected::Table)));
        }
        let read = visitor.visit_map(TableAccess {
            table: *self,
            path: &self.path,
            members: self.node.members().iter(),
            next: Next::Nothing,
            given: 0,
        });
        read.map_err(|failure| match failure.kind() {
            ErrorKind::MissingField(_) => failure.at_table(address(self.node), self.node.place, || self.path.owned()),
            _ => failure.at(self.node.place, || self.path.owned()),
        })
    }

    fn list<'de, V: Visitor<'de>>(&self, visitor: V) -> Result<V::Value, Failure> {
        let Value::List(items) = &self.node.value else {
            return self.placed(Err(scalar::wrong_type(self.node, Expected::List)));
        };
        self.placed(visitor.visit_seq(ListAccess {
            items: items.iter().enumerate(),
            path: &self.path,
            session: self.session,
        }))
    }

    fn number<'de, V: Visitor<'de>>(&self, text: &str, visitor: V) -> Result<V::Value, Failure> {
        let digits = number::unsigned(text);
        match (digits.parse::<u64>(), digits.parse::<i64>()) {
            (Ok(whole), _) => visitor.visit_u64(whole),
            (_, Ok(whole)) => visitor.visit_i64(whole),
            _ => visitor.visit_f64(scalar::float(self.node)?),
        }
    }

    fn choice<'de, V: Visitor<'de>>(&self, variants: &'static [&'static str], visitor: V) -> Result<V::Value, Failure> {
        match &self.node.value {
            Value::Text(name) => visitor.visit_enum(Choice::<Self>::new(name, None)),
            Value::Table(members) => match members.as_slice() {
                [Member { name, node, .. }] => {
                    let content = NodeDeserializer::new(node, Path::Member(&self.path, name), self.session);
                    visitor.visit_enum(Choice::new(name, Some(content)))
                }
                _ => Err(scalar::wrong_type(
                    self.node,
                    Expected::Other("a table with one member".to_owned()),
                )),
            },
            _ => {
                let names = variants.iter().map(|&name| name.to_owned()).collect();
                Err(scalar::wrong_type(self.node, Expected::Name(names)))
            }
        }
    }
}

macro_rules! whole {
    ($($method:ident $visit:ident $type:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
            // Larger types are clamped to 64 bits.
            let least = i128::try_from($type::MIN).map_or(i64::MIN, |least| i64::try_from(least).unwrap_or(i64::MIN));
            let most = u64::try_from($type::MAX).unwrap_or(u64::MAX);
            let number = scalar::whole(self.node, least, most);
            self.placed(number.and_then(|number: $type| visitor.$visit(number)))
        }
    )*};
}

impl<'de> Deserializer<'de> for NodeDeserializer<'_> {
    type Error = Failure;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match &self.node.value {
            Value::Null => self.placed(visitor.visit_unit()),
            Value::Bool(value) => self.placed(visitor.visit_bool(*value)),
            Value::Number(text) => self.placed(self.number(text, visitor)),
            Value::Text(text) => self.placed(visitor.visit_str(text)),
            Value::List(_) => self.list(visitor),
            Value::Table(_) => self.table(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.placed(match self.node.value {
            Value::Bool(value) => visitor.visit_bool(value),
            _ => Err(scalar::wrong_type(self.node, Expected::Bool)),
        })
    }

    whole! {
        deserialize_i8 visit_i8 i8
        deserialize_i16 visit_i16 i16
        deserialize_i32 visit_i32 i32
        deserialize_i64 visit_i64 i64
        deserialize_i128 visit_i128 i128
        deserialize_u8 visit_u8 u8
        deserialize_u16 visit_u16 u16
        deserialize_u32 visit_u32 u32
        deserialize_u64 visit_u64 u64
        deserialize_u128 visit_u128 u128
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let number = scalar::float(self.node);
        self.placed(number.and_then(|number| visitor.visit_f64(number)))
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_str(visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.placed(scalar::text(self.node).and_then(|text| visitor.visit_str(text)))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_any(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        match self.node.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.placed(match self.node.value {
            Value::Null => visitor.visit_unit(),
            _ => Err(scalar::wrong_type(self.node, Expected::Null)),
        })
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Failure> {
        self.placed(visitor.visit_newtype_struct(self))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.list(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Failure> {
        match &self.node.value {
            Value::List(items) if items.len() != len => {
                let expected = Expected::Other(format!("a list of {len}"));
                self.placed(Err(scalar::out_of_range(self.node, expected)))
            }
            _ => self.list(visitor),
        }
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.deserialize_tuple(len, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.table(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        let place = self.node.place;
        match name {
            PLACED => visitor.visit_map(PlacedAccess::new(place, self)),
            FIELD => visitor.visit_map(FieldAccess::new(place, self, self.session)),
            SHAPE => {
                let is_container = matches!(self.node.value, Value::List(_) | Value::Table(_));
                visitor.visit_map(ShapeAccess::new(is_container, self))
            }
            _ => self.table(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.placed(self.choice(variants, visitor))
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_str(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_unit()
    }
}

/// The items of a list.
struct ListAccess<'d> {
    items: std::iter::Enumerate<std::slice::Iter<'d, Node>>,
    path: &'d Path<'d>,
    session: &'d Session,
}

impl<'de> SeqAccess<'de> for ListAccess<'_> {
    type Error = Failure;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Failure> {
        let Some((index, item)) = self.items.next() else {
            return Ok(None);
        };
        let item = NodeDeserializer::new(item, Path::Item(self.path, index), self.session);
        item.placed(seed.deserialize(item)).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

/// The members of a table, and then those that it is known to lack.
struct TableAccess<'d> {
    table: NodeDeserializer<'d>,
    path: &'d Path<'d>,
    members: std::slice::Iter<'d, Member>,
    next: Next<'d>,
    /// The number of missing members that were given.
    given: usize,
}

/// The member whose value comes next.
enum Next<'d> {
    Member(&'d Member),
    Missing(String),
    Nothing,
}

impl<'d> TableAccess<'d> {
    /// Returns the next member that is not known to be unknown.
    fn next_member(&mut self) -> Option<&'d Member> {
        let NodeDeserializer { node, session, .. } = self.table;
        self.members.find(|member| !session.is_unknown(node, member))
    }

    /// Sets the place of a failure about a name. If it is not known, notes all members that are not.
    fn unknown(&self, member: &Member, failure: Failure) -> Failure {
        let NodeDeserializer { node, session, .. } = self.table;
        let path = || self.path.owned();
        if let ErrorKind::UnknownField { known, .. } = failure.kind()
            && session.is_collecting()
        {
            let others = node.members().iter().filter(|member| !known.contains(&member.name));
            for Member { place, name, .. } in others {
                let (name, known) = (name.clone(), known.clone());
                let kind = ErrorKind::UnknownField { name, known };
                session.note_unknown(DocumentError::new(*place, path(), kind));
            }
        }
        failure.at_table(address(node), member.place, path)
    }
}

impl<'de> MapAccess<'de> for TableAccess<'_> {
    type Error = Failure;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Failure> {
        if let Some(member) = self.next_member() {
            self.next = Next::Member(member);
            let name = seed.deserialize(KeyDeserializer(member));
            return name.map(Some).map_err(|failure| self.unknown(member, failure));
        }
        let Some(name) = self.table.session.missing(self.table.node, self.given) else {
            return Ok(None);
        };
        self.given += 1;
        self.next = Next::Missing(name.clone());
        let name: StringDeserializer<Failure> = name.into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Failure> {
        match std::mem::replace(&mut self.next, Next::Nothing) {
            Next::Member(Member { name, node, .. }) => {
                let value = NodeDeserializer::new(node, Path::Member(self.path, name), self.table.session);
                value.placed(seed.deserialize(value))
            }
            Next::Missing(name) => seed.deserialize(AbsentDeserializer::new(self.table.node.place, name)),
            Next::Nothing => Err(Failure::new(ErrorKind::Refused(
                "a value is read before its name".to_owned(),
            ))),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.members.len())
    }
}
