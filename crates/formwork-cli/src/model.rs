//! `formwork model`: fetches models, and says where they are.

use std::path::{Path, PathBuf};

use formwork::candle::{ModelCache, Source};

use crate::args::{ModelArgs, ModelCommand};
use crate::error::Error;
use crate::output::{self, Status};
use crate::progress::PullBar;

pub(crate) fn run(args: &ModelArgs) -> Result<Status, Error> {
    match &args.command {
        ModelCommand::Pull { id } => {
            print_path(&locate(id)?)?;
            Ok(Status::Good)
        }
        ModelCommand::Path => {
            let cache = ModelCache::from_env().map_err(Error::model)?;
            print_path(&cache.default_path())?;
            if cache.find_default().is_some() {
                return Ok(Status::Good);
            }
            output::complain("the default model is not there yet; `formwork model pull` fetches it");
            Ok(Status::Incomplete)
        }
    }
}

/// A model's file on this machine; fetched first where it isn't there yet.
pub(crate) fn locate(id: &str) -> Result<PathBuf, Error> {
    let source = Source::parse(id).map_err(Error::model)?;
    if let Source::Path(path) = source {
        return Ok(path);
    }
    let cache = ModelCache::from_env().map_err(Error::model)?;
    let mut bar = PullBar::new();
    let located = source.locate(&cache, &mut |progress| bar.show(progress));
    bar.finish();
    located.map_err(Error::model)
}

fn print_path(path: &Path) -> Result<(), Error> {
    let mut line = path.as_os_str().as_encoded_bytes().to_vec();
    line.push(b'\n');
    output::print(&line)
}
