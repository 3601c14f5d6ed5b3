//! What follows the plugin's name on qemu's command line: `key=value`, between commas.

use std::path::PathBuf;

use crate::Refusal;

/// Which model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
    /// Events of a host-like core.
    Host,
    /// Virtual time of a target.
    Target,
}

/// What was asked.
#[derive(Debug)]
pub struct Arguments {
    /// Where records go.
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

    /// The parameters' text, and what to call it.
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
