//! Clients that another client makes for a task.

pub(in crate::server) mod delegate;
pub(in crate::server) mod delegations;
pub(in crate::server) mod ends;
pub(in crate::server) mod faults;
pub(in crate::server) mod kept;
pub(in crate::server) mod live;
pub(in crate::server) mod request;
pub(in crate::server) mod serving;
