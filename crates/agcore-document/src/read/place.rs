//! The accesses by which [`Placed`](crate::Placed), [`Field`](crate::Field) and [`ScalarOr`](crate::ScalarOr) ask for places and
//! shapes.

use serde::{
    Deserializer,
    de::{DeserializeSeed, IntoDeserializer, MapAccess, value::SeqDeserializer},
};

use crate::{
    document_path::DocumentPath,
    error::ErrorKind,
    place::Place,
    read::{
        failure::Failure,
        session::{Noted, Session},
    },
};

/// Gives a place, and then the value.
pub(super) struct PlacedAccess<D> {
    place: Place,
    value: Option<D>,
}

/// Gives whether a value is a list or a table, and then the value.
pub(super) struct ShapeAccess<D> {
    is_container: bool,
    value: Option<D>,
}

/// Gives a place, and then the value until it is read or will not be read.
pub(super) struct FieldAccess<'d, D> {
    place: Place,
    value: D,
    session: &'d Session,
    /// The number of problems before the value.
    before: usize,
    /// The problem of the last attempt.
    failure: Option<Failure>,
    has_started: bool,
}

impl<D> PlacedAccess<D> {
    pub(super) fn new(place: Place, value: D) -> Self {
        let value = Some(value);
        Self { place, value }
    }
}

impl<D> ShapeAccess<D> {
    pub(super) fn new(is_container: bool, value: D) -> Self {
        let value = Some(value);
        Self { is_container, value }
    }
}

impl<'d, D> FieldAccess<'d, D> {
    pub(super) fn new(place: Place, value: D, session: &'d Session) -> Self {
        Self {
            place,
            value,
            session,
            before: session.len(),
            failure: None,
            has_started: false,
        }
    }
}

fn give_place<'de, K: DeserializeSeed<'de>>(place: Place, seed: K) -> Result<K::Value, Failure> {
    seed.deserialize(SeqDeserializer::new([place.line, place.column].into_iter()))
}

fn nothing_left() -> Failure {
    Failure::new(ErrorKind::Refused("a value is read twice".to_owned()))
}

impl<'de, D: Deserializer<'de, Error = Failure>> MapAccess<'de> for PlacedAccess<D> {
    type Error = Failure;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Failure> {
        give_place(self.place, seed).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Failure> {
        seed.deserialize(self.value.take().ok_or_else(nothing_left)?)
    }
}

impl<'de, D: Deserializer<'de, Error = Failure>> MapAccess<'de> for ShapeAccess<D> {
    type Error = Failure;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Failure> {
        seed.deserialize(self.is_container.into_deserializer()).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Failure> {
        seed.deserialize(self.value.take().ok_or_else(nothing_left)?)
    }
}

impl<'de, D: Deserializer<'de, Error = Failure> + Copy> MapAccess<'de> for FieldAccess<'_, D> {
    type Error = Failure;

    /// Gives the place first. After a failure, returns whether another attempt finds further problems.
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Failure> {
        if !self.has_started {
            self.has_started = true;
            return give_place(self.place, seed).map(Some);
        }
        let failure = self.failure.take().ok_or_else(nothing_left)?;
        if !self.session.is_collecting() {
            return Err(failure);
        }
        match self.session.note(&failure) {
            Noted::Now => {
                self.session.truncate(self.before);
                return seed.deserialize(().into_deserializer()).map(Some);
            }
            Noted::Before => {}
            Noted::No => self.session.add(failure.into_error(self.place, DocumentPath::default)),
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Failure> {
        seed.deserialize(self.value).map_err(|failure| {
            self.failure = Some(failure);
            nothing_left()
        })
    }
}

/// Gives the place of a table, and no value.
pub(super) struct AbsentAccess(Option<Place>);

impl AbsentAccess {
    pub(super) fn new(place: Place) -> Self {
        Self(Some(place))
    }
}

impl<'de> MapAccess<'de> for AbsentAccess {
    type Error = Failure;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Failure> {
        self.0.take().map(|place| give_place(place, seed)).transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, _: S) -> Result<S::Value, Failure> {
        Err(nothing_left())
    }
}
