//! People decide: a page in the browser for those who own pages and have no shell.
//!
//! One set of routes, mounted by `wikijs-gate review` on loopback for the operator, and by a server
//! over HTTP for reviewers. Who may come in is the business of [`Authenticator`]; what a decision does is the
//! way of every write. All but live news and shortcuts works without JavaScript.

mod auth;
mod base_url;
mod bin;
mod browser_state;
mod deciding;
mod decision;
mod deletion;
mod difference;
mod fields;
mod form;
mod issuer;
mod markup;
mod narrowing;
mod part;
mod queue;
mod record;
mod rendered;
mod reply;
mod routes;
mod rows;
mod session;
mod set_page;
mod set_view;
mod sign_in;
mod sign_ins;
mod standing;
mod under_way;
mod undoing;
mod visitor;

pub use auth::{
    Authenticator, BegunSignIn, FinishedSignIn, IssuerAnswer, IssuerDoor, IssuerRefusal, Reviewer,
    SignedOut, WikiHandle,
};
pub use base_url::ReviewOrigin;
pub use record::{NoReport, ReadReport, ReportCounts, ReportRequest};
pub use routes::router;
pub(crate) use sign_in::AT_ISSUER;
pub use sign_ins::{LINK_PREFIX, SignInRecord, SignIns};
pub(crate) use sign_ins::{SignInBy, digest, random};
pub use visitor::Reviews;
