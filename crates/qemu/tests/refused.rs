//! What is refused, each with one line and exit code 2.

use std::path::Path;
use std::process::Command;

use super::emulated::{Emulated, Emulated::Arm, Emulated::X86, free_file, run};

/// The one line that a refused run prints.
fn refused(emulated: Emulated, arguments: &str, program: &Path, case: &str) -> String {
    let output = run(emulated, arguments, program, case);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    said.trim_end().to_string()
}

#[test]
fn arguments() {
    let Some(program) = X86.program() else {
        return;
    };
    for (arguments, line) in [
        (
            "outt=x",
            "unknown argument outt=x: the plugin takes out=FILE and parameters=FILE.toml",
        ),
        (
            "parameters=x",
            "out= is missing: add out=FILE, where records go",
        ),
        ("out=a,out=b", "out= is given twice"),
        ("out=", "out= needs a file"),
        (
            "out=/nowhere/x",
            "/nowhere/x: No such file or directory (os error 2)",
        ),
        (
            "out=x,parameters=/nowhere",
            "/nowhere: No such file or directory (os error 2)",
        ),
    ] {
        assert_eq!(
            refused(X86, arguments, program, "turns"),
            format!("drivelab: {line}")
        );
    }
}

#[test]
fn a_file_that_is_not_empty() {
    let Some(program) = X86.program() else {
        return;
    };
    let out = free_file();
    std::fs::write(&out, "mine").expect("a file of ours");
    let said = refused(X86, &format!("out={}", out.display()), program, "turns");
    assert!(
        said.ends_with("it exists and is not empty: choose another file with out="),
        "{said}"
    );
    assert_eq!(std::fs::read_to_string(&out).expect("still there"), "mine");
}

#[test]
fn parameters() {
    let Some(program) = Arm.program() else {
        return;
    };
    let file = free_file();
    let text = drivelab_processor::parameters::TARGET.replace("cores = 4 ", "cores = 400 ");
    std::fs::write(&file, text).expect("a file of ours");
    let arguments = format!(
        "out={},parameters={}",
        free_file().display(),
        file.display()
    );
    let said = refused(Arm, &arguments, program, "turns");
    assert!(
        said.ends_with(": cores is 400: it may be 1 to 64"),
        "{said}"
    );
    let host = drivelab_processor::parameters::HOST;
    std::fs::write(&file, host).expect("a file of ours");
    let said = refused(Arm, &arguments, program, "turns");
    assert!(said.ends_with("kind is \"host\": it must be \"target\" for what qemu emulates here"));
}

#[test]
fn a_program_that_marks_nothing() {
    if X86.program().is_none() {
        return;
    }
    let out = free_file();
    let said = refused(
        X86,
        &format!("out={}", out.display()),
        Path::new("/bin/true"),
        "",
    );
    assert_eq!(
        said,
        "drivelab: /bin/true has no function drivelab_mark: build it without stripping its symbols"
    );
}

#[test]
fn a_second_thread() {
    let Some(program) = X86.program() else {
        return;
    };
    let said = refused(
        X86,
        &format!("out={}", free_file().display()),
        program,
        "thread",
    );
    assert_eq!(
        said,
        "drivelab: the program started a second thread: run its workers one after the other in one thread"
    );
}

/// The plugin is loaded by a qemu of another version.
#[test]
fn another_version_of_the_interface() {
    let Some(program) = X86.program() else {
        return;
    };
    // Only a qemu of that version makes this call; a small program stands in for it.
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/another_version.rs");
    let caller = program.with_file_name("another-version");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let built = Command::new(rustc)
        .args(["--edition", "2024"])
        .arg(source)
        .arg("-o")
        .arg(&caller)
        .status()
        .expect("a compiler");
    assert!(built.success());
    for (least, most, line) in [
        (
            "2",
            "4",
            "this qemu offers versions 2 to 4 of its interface for plugins, and version 1 is needed: use qemu-user 7.2",
        ),
        (
            "1",
            "1",
            "this qemu lacks qemu_plugin_register_vcpu_tb_trans_cb: use qemu-user 7.2",
        ),
    ] {
        let output = Command::new(&caller)
            .arg(super::emulated::plugin())
            .args([least, most])
            .output()
            .expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(
            (output.status.code(), said.trim_end()),
            (Some(2), &*format!("drivelab: {line}"))
        );
    }
}
