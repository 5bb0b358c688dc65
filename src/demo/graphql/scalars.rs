//! Scalars and enums of the schema.

use async_graphql::{Enum, InputValueError, InputValueResult, Scalar, ScalarType, Value};

use crate::demo::store::{Direction, OrderBy};

/// A date: whatever text was sent, unchecked (W16).
#[derive(Debug, Clone, Default)]
pub(super) struct Date(pub(super) String);

#[Scalar]
impl ScalarType for Date {
    fn parse(value: Value) -> InputValueResult<Self> {
        match value {
            Value::String(text) => Ok(Self(text)),
            other => Err(InputValueError::expected_type(other)),
        }
    }

    fn to_value(&self) -> Value {
        Value::String(self.0.clone())
    }
}

impl From<&String> for Date {
    fn from(text: &String) -> Self {
        Self(text.clone())
    }
}

/// The field by which a list is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
pub(super) enum PageOrderBy {
    Created,
    Id,
    Path,
    Title,
    Updated,
}

impl From<PageOrderBy> for OrderBy {
    fn from(order: PageOrderBy) -> Self {
        match order {
            PageOrderBy::Created => Self::Created,
            PageOrderBy::Id => Self::Id,
            PageOrderBy::Path => Self::Path,
            PageOrderBy::Title => Self::Title,
            PageOrderBy::Updated => Self::Updated,
        }
    }
}

/// The direction in which a list is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
pub(super) enum PageOrderByDirection {
    Asc,
    Desc,
}

impl From<PageOrderByDirection> for Direction {
    fn from(direction: PageOrderByDirection) -> Self {
        match direction {
            PageOrderByDirection::Asc => Self::Asc,
            PageOrderByDirection::Desc => Self::Desc,
        }
    }
}

/// The nodes of the tree that are requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
pub(super) enum PageTreeMode {
    Folders,
    Pages,
    All,
}
