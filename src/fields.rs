//! The fields of a page, listed once.
//!
//! `page` generates `Field`, `PageState` and `PageReading` from this list, and each function that
//! visits every field: comparing two states, copying a field, showing it, storing a state, filling
//! the gaps of a reading. The demo wiki checks its own types against the list: without a column and
//! a resolver for each field it does not compile.
//!
//! # A 14th field
//! Add its line, with what there is to know of it:
//!
//! - its doc, its variant of `Field`, its member and that member's type (which needs a `Default`
//!   and serde), its name in GraphQL, in arguments and on record;
//! - `same`: the function that tells whether two values mean the same;
//! - `read`, `write`: the right that it takes to read it and to write it, for an operator's eyes;
//! - `update`: what an update does with it, a variant of `InUpdate`;
//! - `shown`: how a difference of it is shown, a variant of `Shown`;
//! - `versions`: whether an old version of a page has it.
//!
//! A field that no reading of a page is without stands in the first braces, all others in the
//! second. Then the compiler stops, each with a pattern or a literal without `..`, where a value of
//! it comes in, goes out or is judged:
//!
//! | where | what is to be said |
//! |---|---|
//! | `wiki/pages/page.rs` (`reading_of`, `conflict_latest`), `wiki/pages/editor_view.rs`, `wiki/pages/list.rs`, `wiki/pages/version.rs` | where the layer has it; the operations in `graphql/` ask for it |
//! | `wiki/operations/mutate.rs` | how a create and an update send it |
//! | `change/edits.rs`, then `tools/create_page.rs` and `tools/update_page.rs` | whether a call may ask for it, and in which words |
//! | `tools/output.rs` | how an answer tells it |
//! | `files/text.rs` | which line or file of a page's files says it |
//! | `write/source/proposal/values.rs` | which values of it a call may ask for |
//! | `demo/store/page.rs`, then whatever makes a row | the demo wiki's own |
//!
//! States that were kept before it came lack it: give it `#[serde(default)]` in its line. The test
//! `the_fields_of_a_page_are_spelled_out_only_where_each_is_thought_of` names the files in which fields
//! stand one by one.

/// Hands the list to a macro: in braces the fields that every reading of a page has, in braces
/// the others. The types and functions that are named are those of the place where it is called.
#[macro_export]
macro_rules! page_fields {
    ($make:ident) => {
        $make! {
            {
                /// The language the page is filed under.
                Locale, locale: Locale = "locale",
                    same(PartialEq::eq), read("read:pages"), write("manage:pages"),
                    update(Moves), shown(Value), versions(true);
                /// The path within the locale.
                Path, path: PagePath = "path",
                    same(PartialEq::eq), read("read:pages"), write("manage:pages"),
                    update(Moves), shown(Value), versions(true);
                /// The title.
                Title, title: String = "title",
                    same(PartialEq::eq), read("read:pages"), write("write:pages"),
                    update(Writes), shown(Value), versions(true);
            }
            {
                /// The one-line description.
                Description, description: String = "description",
                    same(PartialEq::eq), read("read:pages"), write("write:pages"),
                    update(Writes), shown(Value), versions(true);
                /// The source text.
                Content, content: String = "content",
                    same(PartialEq::eq), read("read:source"), write("write:pages"),
                    update(Writes), shown(Text), versions(true);
                /// The editor, which decides how the source is read.
                Editor, editor: String = "editor",
                    same(PartialEq::eq), read("manage:pages with write:pages"), write("write:pages"),
                    update(Ignores), shown(Value), versions(true);
                /// The tags, as a set.
                Tags, tags: Vec<String> = "tags",
                    same(same_tags), read("read:pages"), write("write:pages"),
                    update(Writes), shown(Value), versions(false);
                /// True if readers see the page.
                IsPublished, is_published: bool = "isPublished",
                    same(PartialEq::eq), read("manage:pages with write:pages"), write("write:pages"),
                    update(Writes), shown(Value), versions(true);
                /// True if the page is private; `update` ignores it (W13).
                IsPrivate, is_private: bool = "isPrivate",
                    same(PartialEq::eq), read("manage:pages with write:pages"), write("write:pages"),
                    update(Ignores), shown(Value), versions(true);
                /// The time at which readers begin to see the page.
                PublishStartDate, publish_start_date: Date = "publishStartDate",
                    same(Date::same), read("manage:pages with write:pages"), write("write:pages"),
                    update(Overwrites), shown(Value), versions(true);
                /// The time at which readers cease to see the page.
                PublishEndDate, publish_end_date: Date = "publishEndDate",
                    same(Date::same), read("manage:pages with write:pages"), write("write:pages"),
                    update(Overwrites), shown(Value), versions(true);
                /// Styles of this page alone; minified when stored (W24).
                ScriptCss, script_css: String = "scriptCss",
                    same(same_css), read("manage:pages or delete:pages"), write("write:styles"),
                    update(Overwrites), shown(Code), versions(false);
                /// Scripts of this page alone.
                ScriptJs, script_js: String = "scriptJs",
                    same(PartialEq::eq), read("manage:pages or delete:pages"), write("write:scripts"),
                    update(Overwrites), shown(Code), versions(false);
            }
        }
    };
}

pub use page_fields;
