//! The `wikijs-gate` binary.

fn main() -> std::process::ExitCode {
    wikijs_gate::cli::main()
}
