//! A page as far as the key can read it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::{Date, Field, InUpdate, Locale, PagePath, PageState, same_css, same_tags};
use crate::fields::page_fields;

macro_rules! make_reading {
    (
        { $(
            $(#[$place_doc:meta])* $place:ident, $own:ident: $own_type:ty = $place_name:literal,
            same($place_same:path), read($place_read:literal), write($place_write:literal),
            update($place_update:ident), shown($place_shown:ident), versions($place_versions:literal);
        )* }
        { $(
            $(#[$doc:meta])* $field:ident, $member:ident: $type:ty = $name:literal,
            same($same:path), read($read:literal), write($write:literal),
            update($update:ident), shown($shown:ident), versions($versions:literal);
        )* }
    ) => {
        /// A page as far as the key can read it: unknown values are absent, never guessed.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct PageReading {
            /// The page's id; `None` if only its place could be read.
            pub id: Option<i64>,
            $( $(#[$place_doc])* pub $own: $own_type, )*
            $( $(#[$doc])* pub $member: Option<$type>, )*
            /// Format of the source (`markdown`, `html`, …); given by the list alone.
            pub content_type: Option<String>,
            /// Its last author.
            pub author_name: Option<String>,
            /// The time at which it was created.
            pub created_at: Option<Date>,
            /// The time at which it was last written.
            pub updated_at: Option<Date>,
            /// True if the wiki keeps the styles whatever an update by this key says of them,
            /// provided that the update names the page's place.
            pub keeps_styles: bool,
        }

        impl From<PageState> for PageReading {
            /// A page as a change leaves it.
            fn from(page: PageState) -> Self {
                Self {
                    $($member: Some(page.$member),)*
                    updated_at: page.updated_at,
                    ..Self::bare(page.id, $(page.$own),*)
                }
            }
        }

        impl PageReading {
            /// A page of which only the place and the title are known.
            pub const fn bare(id: Option<i64>, $($own: $own_type),*) -> Self {
                Self {
                    id,
                    $($own,)*
                    $($member: None,)*
                    content_type: None,
                    author_name: None,
                    created_at: None,
                    updated_at: None,
                    keeps_styles: false,
                }
            }

            /// True if the value of a field is known.
            pub const fn knows(&self, field: Field) -> bool {
                match field {
                    $( Field::$place => true, )*
                    $( Field::$field => self.$member.is_some(), )*
                }
            }

            /// The value of one field as JSON, if it is known.
            pub fn value(&self, field: Field) -> Option<Value> {
                match field {
                    $( Field::$place => Some(json!(self.$own)), )*
                    $( Field::$field => self.$member.as_ref().map(|value| json!(value)), )*
                }
            }

            /// The whole state, if all fields are known; else the reading itself.
            fn into_state(self, unknown: Vec<Field>) -> Result<PageState, Box<Self>> {
                match self {
                    Self { id, $($own,)* $($member: Some($member),)* updated_at, .. } => Ok(PageState {
                        id,
                        $($own,)*
                        $($member,)*
                        updated_at,
                        unknown,
                        thing: None,
                    }),
                    lacking => Err(Box::new(lacking)),
                }
            }

            /// Leaves a field empty, if it is not known.
            fn blank(&mut self, field: Field) {
                match field {
                    $( Field::$place => {} )*
                    $( Field::$field => { self.$member.get_or_insert_default(); } )*
                }
            }

            /// Takes away the value of a field that may be unknown.
            pub fn forget(&mut self, field: Field) {
                match field {
                    $( Field::$place => {} )*
                    $( Field::$field => self.$member = None, )*
                }
            }

            /// The promised state, with everything that could be read replacing it.
            pub fn laid_over(&self, promised: &PageState) -> PageState {
                PageState {
                    id: self.id.or(promised.id),
                    $($own: self.$own.clone(),)*
                    $($member: self.$member.as_ref().unwrap_or(&promised.$member).clone(),)*
                    updated_at: self.updated_at.as_ref().or(promised.updated_at.as_ref()).cloned(),
                    unknown: promised.unknown.clone(),
                    thing: promised.thing.clone(),
                }
            }

            /// The page with nothing in the fields that are not known.
            pub fn or_blank(self) -> PageState {
                PageState {
                    id: self.id,
                    $($own: self.$own,)*
                    $($member: self.$member.unwrap_or_default(),)*
                    updated_at: self.updated_at,
                    unknown: Vec::new(),
                    thing: None,
                }
            }

            /// Compares one field; nothing if it is not known of both.
            fn same(&self, other: &Self, field: Field) -> Option<bool> {
                Some(match field {
                    $( Field::$place => $place_same(&self.$own, &other.$own), )*
                    $( Field::$field => {
                        $same(self.$member.as_ref()?, other.$member.as_ref()?)
                    } )*
                })
            }

            /// The same page, with what only the other reading of it has.
            #[must_use]
            pub fn or(self, other: Self) -> Self {
                Self {
                    id: self.id.or(other.id),
                    $($own: self.$own,)*
                    $($member: self.$member.or(other.$member),)*
                    content_type: self.content_type.or(other.content_type),
                    author_name: self.author_name.or(other.author_name),
                    created_at: self.created_at.or(other.created_at),
                    updated_at: self.updated_at.or(other.updated_at),
                    keeps_styles: self.keeps_styles || other.keeps_styles,
                }
            }
        }
    };
}

page_fields!(make_reading);

impl PageReading {
    /// The fields that this key could not read, each with the right it needs.
    pub fn unreadable(&self) -> BTreeMap<Field, &'static str> {
        Field::ALL
            .into_iter()
            .filter(|field| !self.knows(*field))
            .map(|field| (field, field.right_to_read()))
            .collect()
    }

    /// The whole state of the page, if this key could read all thirteen fields. Styles that it
    /// could not read, but cannot change either, are unknown in it.
    ///
    /// # Errors
    /// The reading itself, if it lacks some.
    pub fn complete(mut self) -> Result<PageState, Box<Self>> {
        if self.id.is_none() {
            return Err(Box::new(self));
        }
        let mut unknown = Vec::new();
        let lacks_styles = self.keeps_styles && self.script_css.is_none();
        if lacks_styles {
            self.blank(Field::ScriptCss);
            unknown.push(Field::ScriptCss);
        }
        self.into_state(unknown).map_err(|mut lacking| {
            if lacks_styles {
                lacking.script_css = None;
            }
            lacking
        })
    }

    /// The state of the page as far as an update can write it, if this key could read all but
    /// these fields, which then are empty and unknown. What an update does not write (W13) may be missing.
    pub fn complete_but_for(&self, lost: &[Field]) -> Option<PageState> {
        let mut this = self.clone();
        for field in Field::ALL {
            let may_be_missing = match field.in_update() {
                InUpdate::Ignores => true,
                InUpdate::Overwrites => lost.contains(&field),
                InUpdate::Moves | InUpdate::Writes => false,
            };
            if may_be_missing {
                this.blank(field);
            }
        }
        let mut state = this.complete().ok()?;
        state.unknown = self.unreadable().into_keys().collect();
        Some(state)
    }

    /// True if no field differs between the two readings; fields that either does not know are
    /// ignored.
    pub fn agrees_with(&self, other: &Self) -> bool {
        let is_same = |field| self.same(other, field).unwrap_or(true);
        Field::ALL.into_iter().all(is_same)
    }
}
