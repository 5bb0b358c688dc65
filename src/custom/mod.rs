//! Pure: the tools of an operator's own, as files say them.
//!
//! A recipe (`*.toml`) is a call of one of our tools with fixed and templated arguments. A query
//! (`*.graphql`) is one question to the wiki's API, checked against its schema. Nothing here reads
//! a file or speaks to the wiki.

mod argument;
mod check;
mod customs;
mod fault;
mod generate;
mod given;
mod introspection;
mod literal;
mod name;
mod nesting;
mod path_part;
mod query;
mod read;
mod recipe;
mod schema;
mod sdl;
mod secrets;
mod template;
mod variables;

pub use customs::{Customs, SourceFile};
pub use fault::{LineColumn, ToolFileFault};
pub use generate::{GeneratedQuery, generate};
pub use introspection::{QUESTION, of_answer};
pub use name::{MOST_NAME, NAME_FORM, is_custom_name};
pub use query::Query;
pub use recipe::Recipe;
pub use schema::Schema;
pub use sdl::parse as parse_schema;
