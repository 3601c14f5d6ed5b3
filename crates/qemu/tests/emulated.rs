//! Builds the program, runs it under qemu with the plugin, and reads the records.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

/// The processor that qemu emulates.
#[derive(Clone, Copy, Debug)]
pub enum Emulated {
    X86,
    Arm,
}

use Emulated::{Arm, X86};

impl Emulated {
    fn name(self) -> &'static str {
        match self {
            X86 => "x86_64",
            Arm => "aarch64",
        }
    }

    pub fn qemu(self) -> Command {
        // Addresses on the stack depend on the environment.
        let mut qemu = Command::new(format!("qemu-{}", self.name()));
        qemu.env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default());
        qemu
    }

    /// The program, or nothing if a tool is missing.
    pub fn program(self) -> Option<&'static Path> {
        static BUILT: [OnceLock<Option<PathBuf>>; 2] = [const { OnceLock::new() }; 2];
        BUILT[self as usize].get_or_init(|| self.build()).as_deref()
    }

    fn build(self) -> Option<PathBuf> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let program =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("marked-{}", self.name()));
        let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        rustc
            .args(["--edition", "2024", "-O", "-C", "relocation-model=static"])
            .args(["-C", "target-feature=+crt-static"])
            .arg(format!("--target={}-unknown-linux-gnu", self.name()))
            .arg(here.join("programs/marked.rs"))
            .arg("-o")
            .arg(&program);
        if let Arm = self {
            rustc.args(["-C", "linker=aarch64-linux-gnu-gcc"]);
        }
        let there =
            |command: &mut Command| command.output().is_ok_and(|made| made.status.success());
        let ready = there(self.qemu().arg("--version")) && there(&mut rustc);
        let needed =
            "qemu-user, gcc-aarch64-linux-gnu and Rust's aarch64-unknown-linux-gnu are needed";
        assert!(
            ready || !std::env::var("CI").is_ok_and(|value| !["", "0", "false"].contains(&&*value)),
            "{needed}"
        );
        if !ready {
            eprintln!("left out: {needed}");
        }
        ready.then_some(program)
    }
}

/// The plugin, in the folder of the tests.
pub fn plugin() -> PathBuf {
    let tests = std::env::current_exe().expect("a path of its own");
    let folder = tests.parent().expect("a folder").to_path_buf();
    let plugin = folder.join("libdrivelab_qemu.so");
    assert!(plugin.exists(), "{} is not built", plugin.display());
    plugin
}

/// The path of a new file.
pub fn free_file() -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("records-{}-{number}.jsonl", std::process::id());
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&file);
    file
}

/// Runs a program with the plugin's arguments and its own.
pub fn run(emulated: Emulated, arguments: &str, program: &Path, case: &str) -> Output {
    let plugin = format!("{},{arguments}", plugin().display());
    let mut qemu = emulated.qemu();
    qemu.args(["-plugin", &plugin]).arg(program).arg(case);
    qemu.output().expect("qemu is there")
}

/// What the plugin wrote for a case.
pub struct Records {
    pub text: String,
    pub head: Value,
    pub end: Value,
    records: Vec<Vec<u64>>,
}

impl Records {
    /// A number of a record.
    pub fn of(&self, record: usize, name: &str) -> u64 {
        let columns = self.head["columns"].as_array().expect("columns");
        let place = columns.iter().position(|column| column["name"] == name);
        self.records[record][1 + place.expect("a column of this name")]
    }

    pub fn count(&self) -> usize {
        self.records.len()
    }
}

/// Runs a case of the program; nothing if a tool is missing.
pub fn records(emulated: Emulated, case: &str) -> Option<Records> {
    let program = emulated.program()?;
    let out = free_file();
    let output = run(emulated, &format!("out={}", out.display()), program, case);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.is_empty(), "{case}: {said}");
    let text = std::fs::read_to_string(&out).expect("records");
    std::fs::remove_file(&out).expect("a file of ours");
    let mut lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let end = lines.pop().expect("an end");
    let head = lines.remove(0);
    let numbers = |line: Value| serde_json::from_value(line).expect("numbers");
    let records: Vec<Vec<u64>> = lines.into_iter().map(numbers).collect();
    assert_eq!(end["records"], records.len());
    for (number, record) in records.iter().enumerate() {
        assert_eq!(record[0], number as u64);
    }
    Some(Records {
        text,
        head,
        end,
        records,
    })
}

/// True if `number` is `expected`, or up to `more` above it: a record's own code adds a little.
pub fn nearly(number: u64, expected: u64, more: u64) -> bool {
    (expected..=expected + more).contains(&number)
}
