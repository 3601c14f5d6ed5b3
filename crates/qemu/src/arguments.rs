//! The plugin's arguments on qemu's command line: `key=value`, separated by commas.

use std::path::PathBuf;

use crate::Refusal;

/// The model to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
    /// Events of a host-like core.
    Host,
    /// Virtual time of a target.
    Target,
}

/// The arguments.
#[derive(Debug)]
pub struct Arguments {
    /// The file for the records.
    pub out: PathBuf,
    parameters: Option<String>,
}

const KEYS: &str = "out=FILE and parameters=FILE.toml";

impl Arguments {
    /// Reads the arguments.
    pub fn parse(arguments: &[String]) -> Result<Self, Refusal> {
        let (mut out, mut parameters) = (None, None);
        for argument in arguments {
            let (key, value) = argument.split_once('=').unwrap_or((argument, ""));
            let place = match key {
                "out" => &mut out,
                "parameters" => &mut parameters,
                _ => {
                    let line = format!("unknown argument {argument}: the plugin takes {KEYS}");
                    return Err(Refusal::Argument(line));
                }
            };
            if value.is_empty() {
                return Err(Refusal::Argument(format!("{key}= needs a file")));
            }
            if place.replace(value.to_string()).is_some() {
                return Err(Refusal::Argument(format!("{key}= is given twice")));
            }
        }
        let out = out.ok_or_else(|| {
            Refusal::Argument("out= is missing: add out=FILE, where records go".to_string())
        })?;
        Ok(Self {
            out: out.into(),
            parameters,
        })
    }

    /// The text of the parameters, and a name for them.
    pub fn parameters(&self, kind: ModelKind) -> Result<(String, String), Refusal> {
        let Some(file) = &self.parameters else {
            return Ok((
                "the package's parameters".to_string(),
                kind.text().to_string(),
            ));
        };
        match std::fs::read_to_string(file) {
            Ok(text) => Ok((file.clone(), text)),
            Err(error) => Err(Refusal::File {
                file: file.clone(),
                error,
            }),
        }
    }
}
