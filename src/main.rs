//! The `wikijs-mcp` binary.

fn main() -> std::process::ExitCode {
    wikijs_mcp::cli::main()
}
