//! The thirteen fields that Wiki.js keeps of a page, and the facts about each.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fields::page_fields;

macro_rules! make_field {
    ({ $($always:tt)* } { $($allowed:tt)* }) => {
        make_field! { @ $($always)* $($allowed)* }
    };
    (@ $(
        $(#[$doc:meta])* $field:ident, $member:ident: $type:ty = $name:literal,
        same($same:path), read($read:literal), write($write:literal),
        update($update:ident), shown($shown:ident), versions($versions:literal);
    )*) => {
        /// A field of a page that a write must not lose (W1, W2).
        ///
        /// The order is that of [`crate::page::PageState`]; every list of fields is in this order.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Field {
            $( $(#[$doc])* #[serde(rename = $name)] $field, )*
        }

        impl Field {
            /// All thirteen, in order.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$field),*];

            /// The field's name in GraphQL, in tool arguments and on record.
            pub const fn name(self) -> &'static str {
                match self { $( Self::$field => $name, )* }
            }

            /// The rights of which one suffices to read this field, as shown to operators (W1, W2).
            pub const fn right_to_read(self) -> &'static str {
                match self { $( Self::$field => $read, )* }
            }

            /// The right needed to change this field, as shown to operators (W24).
            pub const fn right_to_write(self) -> &'static str {
                match self { $( Self::$field => $write, )* }
            }

            /// The effect of an update on this field.
            pub const fn in_update(self) -> InUpdate {
                match self { $( Self::$field => InUpdate::$update, )* }
            }

            /// The style in which a difference of this field is shown.
            pub const fn shown(self) -> DiffStyle {
                match self { $( Self::$field => DiffStyle::$shown, )* }
            }

            /// True if an old version of a page has this field (W10).
            pub const fn is_in_versions(self) -> bool {
                match self { $( Self::$field => $versions, )* }
            }
        }
    };
}

page_fields!(make_field);

/// The effect of an update on a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InUpdate {
    /// It moves the page, in a step of its own (W14).
    Moves,
    /// It writes the field, and a key that may update a page may also read it.
    Writes,
    /// It writes the field, and not every key that may update a page can read what it overwrites:
    /// a caller may accept the loss.
    Overwrites,
    /// It leaves the field as it is (W13).
    Ignores,
}

/// The style in which a difference of a field is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffStyle {
    /// Its values before and after.
    Value,
    /// As the difference of the page.
    Text,
    /// As a difference of its own.
    Code,
}

impl Field {
    /// The names of these fields.
    pub fn names<'a>(fields: impl IntoIterator<Item = &'a Self>) -> Vec<&'static str> {
        fields.into_iter().map(|field| field.name()).collect()
    }

    /// True if it is part of the page's place.
    pub const fn is_place(self) -> bool {
        matches!(self.in_update(), InUpdate::Moves)
    }

    /// True if it is styles or scripts.
    pub const fn is_code(self) -> bool {
        matches!(self.shown(), DiffStyle::Code)
    }

    /// True if an update may lose its old value, if the caller accepts that.
    pub const fn may_be_lost(self) -> bool {
        matches!(self.in_update(), InUpdate::Overwrites)
    }

    /// The fields that an update writes and that old versions have, in order.
    pub fn restorable() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|field| {
            let is_written = matches!(field.in_update(), InUpdate::Writes | InUpdate::Overwrites);
            is_written && field.is_in_versions()
        })
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::Field;

    /// Lists the properties of each field in one table: a new field adds a line here.
    #[test]
    fn all_that_is_known_of_each_field() {
        let table: Vec<String> = Field::ALL
            .into_iter()
            .map(|field| {
                assert_eq!(serde_json::json!(field), field.name());
                format!(
                    "{field}: update {:?}, shown {:?}, {}, read with {}, write with {}\n",
                    field.in_update(),
                    field.shown(),
                    if field.is_in_versions() {
                        "in versions"
                    } else {
                        "not in versions"
                    },
                    field.right_to_read(),
                    field.right_to_write(),
                )
            })
            .collect();
        insta::assert_snapshot!(table.concat(), @r"
        locale: update Moves, shown Value, in versions, read with read:pages, write with manage:pages
        path: update Moves, shown Value, in versions, read with read:pages, write with manage:pages
        title: update Writes, shown Value, in versions, read with read:pages, write with write:pages
        description: update Writes, shown Value, in versions, read with read:pages, write with write:pages
        content: update Writes, shown Text, in versions, read with read:source, write with write:pages
        editor: update Ignores, shown Value, in versions, read with manage:pages with write:pages, write with write:pages
        tags: update Writes, shown Value, not in versions, read with read:pages, write with write:pages
        isPublished: update Writes, shown Value, in versions, read with manage:pages with write:pages, write with write:pages
        isPrivate: update Ignores, shown Value, in versions, read with manage:pages with write:pages, write with write:pages
        publishStartDate: update Overwrites, shown Value, in versions, read with manage:pages with write:pages, write with write:pages
        publishEndDate: update Overwrites, shown Value, in versions, read with manage:pages with write:pages, write with write:pages
        scriptCss: update Overwrites, shown Code, not in versions, read with manage:pages or delete:pages, write with write:styles
        scriptJs: update Overwrites, shown Code, not in versions, read with manage:pages or delete:pages, write with write:scripts
        ");
    }
}
