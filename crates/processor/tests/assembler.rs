//! LLVM's tools, where they are installed: a further check only.

use std::io::Write;
use std::process::{Command, Stdio};

/// Gives a tool `input`. Returns what it printed, or nothing if the tool is missing.
fn ask(tool: &str, arguments: &[&str], input: &str) -> Option<String> {
    let started = Command::new(tool)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = started.ok()?;
    child.stdin.take()?.write_all(input.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    assert!(output.status.success(), "{tool} refused:\n{input}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The instruction words of a text.
pub fn words(assembly: &str) -> Option<Vec<u32>> {
    let printed = ask(
        "llvm-mc",
        &["-triple=aarch64", "-mattr=+lse", "--show-encoding"],
        assembly,
    )?;
    let word = |line: &str| {
        let (_, bytes) = line.split_once("encoding: [")?;
        let bytes = bytes.trim_end_matches(']').split(',');
        let byte = |text: &str| u8::from_str_radix(text.trim_start_matches("0x"), 16).ok();
        let bytes: Vec<u8> = bytes.filter_map(byte).collect();
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    Some(printed.lines().filter_map(word).collect())
}

/// Cycles per turn in LLVM's model of a Cortex-A53, over many turns.
pub fn cycles(assembly: &str) -> Option<f64> {
    let of = |turns: u32| {
        let turns = format!("-iterations={turns}");
        let arguments = ["-mtriple=aarch64", "-mcpu=cortex-a53", &turns];
        let printed = ask("llvm-mca", &arguments, assembly)?;
        let line = printed
            .lines()
            .find_map(|line| line.strip_prefix("Total Cycles:"))?;
        line.trim().parse::<f64>().ok()
    };
    Some((of(200)? - of(100)?) / 100.0)
}
