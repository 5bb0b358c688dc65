//! The demo wiki beyond the recorded contract.
