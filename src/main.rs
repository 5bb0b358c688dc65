//! The `wikijs-mcp` binary.

fn main() {}
