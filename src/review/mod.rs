//! People decide: a page in the browser for those who own pages and have no shell.
//!
//! One set of routes, mounted by `wikijs-gate review` on loopback for the operator, and by a server
//! over HTTP for reviewers. Who may come in is the business of [`Doors`]; what a decision does is the
//! way of every write. All but live news and shortcuts works without JavaScript.

mod assets;
mod deciding;
mod decision;
mod deletion;
mod difference;
mod doors;
mod fields;
mod form;
mod markup;
mod narrowing;
mod part;
mod place;
mod queue;
mod record;
mod rendered;
mod reply;
mod routes;
mod rows;
mod session;
mod set_page;
mod sheet;
mod shown;
mod sign_in;
mod standing;
mod under_way;
mod undoing;
mod visit;

pub use doors::{Bench, Doors, Reviewer, SignInId};
pub use place::Place;
pub use record::{Held, NoReport, ReadReport, Report};
pub use routes::router;
pub use visit::Reviews;
