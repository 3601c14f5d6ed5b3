//! The program for the target, built for aarch64 and run under qemu-user, counts the same as the
//! program for this machine.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

use drivelab_firmware::requests::Request;

use crate::drive::mixed;

/// The program for aarch64; `None` if a tool is missing, which never happens in CI.
fn built() -> Option<PathBuf> {
    const TARGET: &str = "aarch64-unknown-linux-gnu";
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cross");
    let mut build = Command::new(env!("CARGO"));
    build
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args([
            "build",
            "--quiet",
            "--locked",
            "--release",
            "--bin",
            "drivelab-firmware",
        ])
        .args(["--target", TARGET, "--target-dir"])
        .arg(&folder)
        .env(
            "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER",
            "aarch64-linux-gnu-gcc",
        )
        .env(
            "RUSTFLAGS",
            "-C target-cpu=cortex-a53 -C target-feature=+crt-static",
        )
        // Counts are compared, not speed.
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "false");
    let runs = |command: &mut Command| {
        let output = command.output();
        output.is_ok_and(|output| output.status.success())
    };
    let is_ready = runs(Command::new("qemu-aarch64").arg("--version")) && runs(&mut build);
    assert!(
        is_ready || !std::env::var("CI").is_ok_and(|value| !["", "0", "false"].contains(&&*value)),
        "qemu-user, gcc-aarch64-linux-gnu and Rust's {TARGET} are needed: make system-packages"
    );
    is_ready.then(|| folder.join(TARGET).join("release/drivelab-firmware"))
}

/// The records of a run without their times.
fn counts(command: &mut Command, list: &Path, snapshot: &Path) -> Vec<String> {
    let output = command
        .arg("--requests")
        .arg(list)
        .arg("--snapshot")
        .arg(snapshot)
        .args(["--records=-", "--check"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines = lines.lines().map(|line| line.split(",\"wall_ns\"").next());
    lines.map(|line| line.unwrap().to_owned()).collect()
}

#[test]
fn host_and_target_count_the_same() {
    let Some(program) = built() else {
        return;
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (list, snapshot) = (folder.join("cross-list"), folder.join("cross-state"));
    let requests: Vec<u8> = mixed(3_000, 9).iter().flat_map(Request::to_bytes).collect();
    std::fs::write(&list, requests).unwrap();
    let native = || Command::new(env!("CARGO_BIN_EXE_drivelab-firmware"));
    let made = native()
        .args(["snapshot", "--geometry", "2x2x1x64x64", "--out"])
        .arg(&snapshot)
        .output()
        .unwrap();
    assert!(made.status.success());
    let here = counts(&mut native(), &list, &snapshot);
    let there = counts(Command::new("qemu-aarch64").arg(&program), &list, &snapshot);
    assert_eq!(here.len(), 3);
    assert_eq!(here, there);
}
