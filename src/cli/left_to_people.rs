//! Says why a command's write was left to people, and how they decide.

use super::exit::Exit;
use crate::server::App;

/// One sentence about a write that was kept as a proposal.
pub(super) fn sentence(app: &App, proposal: &str) -> String {
    let policy = app.desk.narrowed_policy(None, false);
    let why = if policy.writes().can_be_confirmed() {
        "a rule leaves this to people".to_owned()
    } else {
        let level = policy.writes().as_str();
        let line = policy.set_by().for_operator();
        format!("the level is {level}, set by {line}")
    };
    format!("nothing was written: {why}; `wikijs-mcp proposals apply {proposal}` writes it")
}

/// The end of a command that was to write and could only propose.
pub(super) fn refused(app: &App, proposal: &str) -> (Exit, String) {
    (Exit::Refused, sentence(app, proposal))
}
