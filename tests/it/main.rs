//! Integration tests, written from the outside in.

mod audit;
