//! The embedded demo wiki.
