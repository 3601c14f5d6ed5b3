//! Embeds every preset below `presets/` and every scenario of `scenarios/`, so adding one means
//! adding one file.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    embed("presets")?;
    embed("scenarios")
}

/// Writes a table of the names and texts of all files below a folder, sorted by name.
fn embed(folder: &str) -> Result<(), Box<dyn Error>> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR")?)
        .join("../..")
        .join(folder);
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort_by(|left, right| left.file_stem().cmp(&right.file_stem()));
    let mut table = String::from("&[\n");
    let mut previous = String::new();
    for path in files {
        println!("cargo::rerun-if-changed={}", path.display());
        let name = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .ok_or_else(|| format!("{}: its name must be text", path.display()))?;
        if name == previous {
            return Err(format!("two of {folder} are called {name}: rename one file").into());
        }
        writeln!(table, "({name:?}, {:?}),", fs::read_to_string(&path)?)?;
        name.clone_into(&mut previous);
    }
    table.push_str("]\n");
    let output = PathBuf::from(env::var("OUT_DIR")?).join(format!("{folder}.rs"));
    fs::write(output, table)?;
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            files.push(path);
        }
    }
    Ok(())
}
