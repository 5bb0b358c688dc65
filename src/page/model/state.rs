//! All that Wiki.js keeps of a page.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::{Attached, Date, Field, Locale, PagePath, SourceFormat, same_css};
use crate::fields::page_fields;

macro_rules! make_state {
    ({ $($always:tt)* } { $($allowed:tt)* }) => {
        make_state! { @ $($always)* $($allowed)* }
    };
    (@ $(
        $(#[$doc:meta])* $field:ident, $member:ident: $type:ty = $name:literal,
        same($same:path), read($read:literal), write($write:literal),
        update($update:ident), shown($shown:ident), versions($versions:literal);
    )*) => {
        /// All that Wiki.js keeps of a page: the thirteen fields that a write must not lose, the id
        /// and the time of the last write.
        ///
        /// Its JSON, members in this order, is what the audit log keeps under its SHA-256.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub struct PageState {
            /// The page's id; none for a page that is yet to be created.
            #[serde(skip_serializing_if = "Option::is_none", default)]
            pub id: Option<i64>,
            $( $(#[$doc])* #[serde(rename = $name)] pub $member: $type, )*
            /// The time at which the wiki last wrote the page; none for a page that is yet to be
            /// written.
            #[serde(skip_serializing_if = "Option::is_none", default)]
            pub updated_at: Option<Date>,
            /// The fields whose values nobody could read: what stands in them here is no value of
            /// theirs. States that were kept before this was said name none.
            #[serde(skip_serializing_if = "Vec::is_empty", default)]
            pub unknown: Vec<Field>,
            /// The comment or asset that it is a state of, where it is not of the page itself.
            #[serde(skip_serializing_if = "Option::is_none", default)]
            pub thing: Option<Attached>,
        }

        impl PageState {
            /// True if one field is the same in both: tags as sets, dates as instants, styles by
            /// what they mean (W24), the rest to the letter.
            pub fn same(&self, other: &Self, field: Field) -> bool {
                match field { $( Field::$field => $same(&self.$member, &other.$member), )* }
            }

            /// True if one field is the same in both to the letter.
            pub fn equals(&self, other: &Self, field: Field) -> bool {
                match field { $( Field::$field => self.$member == other.$member, )* }
            }

            /// The value of one field as JSON, as tools and records show it.
            pub fn value(&self, field: Field) -> Value {
                match field { $( Field::$field => json!(self.$member), )* }
            }

            fn take_value(&mut self, field: Field, from: &Self) {
                match field { $( Field::$field => self.$member.clone_from(&from.$member), )* }
            }
        }
    };
}

page_fields!(make_state);

impl PageState {
    /// The text of a field that may be long; `None` of the others.
    pub fn text(&self, field: Field) -> Option<&str> {
        match field {
            Field::Content => Some(&self.content),
            Field::ScriptCss => Some(&self.script_css),
            Field::ScriptJs => Some(&self.script_js),
            _ => None,
        }
    }

    /// The place of the page.
    pub fn place(&self) -> (Locale, PagePath) {
        (self.locale.clone(), self.path.clone())
    }

    /// The format of its source.
    pub fn format(&self) -> SourceFormat {
        SourceFormat::detect(None, Some(&self.editor))
    }

    /// True if the value of a field is known.
    pub fn knows(&self, field: Field) -> bool {
        !self.unknown.contains(&field)
    }

    /// True if the wiki knows it by an id, as a page or as what belongs to one.
    pub fn is_there(&self) -> bool {
        let of_thing = self.thing.as_ref().and_then(Attached::id);
        self.id.or(of_thing).is_some()
    }

    /// The word for it: a page, or what it is of one.
    pub fn word(&self) -> &'static str {
        self.thing.as_ref().map_or("page", Attached::word)
    }

    /// Takes one field over from another state, known or not.
    pub fn take(&mut self, field: Field, from: &Self) {
        self.unknown.retain(|unknown| *unknown != field);
        if !from.knows(field) {
            self.unknown.push(field);
        }
        self.take_value(field, from);
        if let (Field::Content, Some(own), Some(theirs)) = (field, &mut self.thing, &from.thing) {
            own.take_content(theirs);
        }
    }

    /// The fields that differ, in order; of a thing, those that are its own.
    pub fn difference(&self, other: &Self) -> Vec<Field> {
        self.own_fields()
            .filter(|field| !self.same(other, *field))
            .collect()
    }

    /// The fields that are its own, in order.
    pub fn own_fields(&self) -> impl Iterator<Item = Field> + use<> {
        let mut own: Vec<Field> = Field::ALL.into();
        if let Some(thing) = &self.thing {
            own.retain(|field| thing.has_own(*field));
        }
        own.into_iter()
    }
}

/// True if both have the same tags; the wiki tells them in any order.
pub fn same_tags(ours: &[String], theirs: &[String]) -> bool {
    sorted(ours) == sorted(theirs)
}

fn sorted(tags: &[String]) -> Vec<&str> {
    let mut tags: Vec<&str> = tags.iter().map(String::as_str).collect();
    tags.sort_unstable();
    tags.dedup();
    tags
}
