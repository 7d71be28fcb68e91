//! `mlsys` and `mlsys open`: the workbench.

use std::env;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::Arc;

use mlsys_lab::Backend;
use mlsys_lesson::Lesson;

use crate::cli::{Machine, Open};
use crate::context::Context;
use mlsys_run::devices::Prober;
use mlsys_run::files;
use mlsys_run::model::{ModelError, ModelFile};
use mlsys_run::process::{Exit, Failure};
use mlsys_run::settings;
use mlsys_run::settings::KnobTurn;
use mlsys_tui::picture::{PictureError, Scene, picture};
use mlsys_tui::state::Instructors;
use mlsys_tui::{Broken, Follow, Leaving, Left, Opening, Prompt, model_page};
use mlsys_view::theme::file::appearance;
use mlsys_view::theme::{self, Background, ColorDepth, Theme};

pub fn course(machine: Machine, context: &mut Context<'_>) -> Result<Exit, Failure> {
    needs_a_terminal("", context)?;
    start(machine, None, None, context)
}

/// Refuses to open the workbench where it cannot be drawn or no key can be read, and names the commands that need no terminal.
fn needs_a_terminal(lesson: &str, context: &Context<'_>) -> Result<(), Failure> {
    let dumb = env::var("TERM").is_ok_and(|kind| kind == "dumb");
    let lacking = match (io::stdin().is_terminal(), io::stdout().is_terminal()) {
        _ if context.display.plain => return Ok(()),
        (true, true) if !dumb => return Ok(()),
        (true, true) => "this one, of type dumb, cannot place text",
        (false, true) => "standard input is not one",
        (true, false) => "standard output is not one",
        (false, false) => "standard input and output are not",
    };
    let (open, (does, run)) = match lesson {
        "" => ("mlsys --plain".to_owned(), ("grades", "mlsys run LESSON".to_owned())),
        lesson => {
            let lesson = lesson.escape_debug();
            let run = match lesson.to_string().strip_prefix("--model ") {
                Some(file) => ("prints", format!("mlsys model show {file}")),
                None => ("grades", format!("mlsys run {lesson}")),
            };
            (format!("mlsys open {lesson} --plain"), run)
        }
    };
    Err(Failure::Usage(format!(
        "the workbench needs a terminal, and {lacking}; `{open}` goes line by line without one, `{run}` {does}"
    )))
}

/// Opens the workbench at a lesson, with its knobs where they are wanted.
pub fn lesson(options: &Open, context: &mut Context<'_>) -> Result<Exit, Failure> {
    context.reader = options.reader.clone();
    let knobs = settings::for_knobs(&options.set)?;
    let Some(Chosen { lesson, source }) = chosen(options, context)? else { return Ok(Exit::Usage) };
    if let Some(file) = &options.svg {
        return draw(lesson, options, &knobs, file, context);
    }
    needs_a_terminal(&words(options), context)?;
    let open = Opening { source, lesson, turns: knobs };
    start(options.machine, Some(open), None, context)
}

/// The words after `mlsys open` that name what is opened.
fn words(options: &Open) -> String {
    match (&options.lesson, &options.model) {
        (Some(lesson), _) => lesson.clone(),
        (None, Some(file)) => format!("--model {}", file.display()),
        (None, None) => String::new(),
    }
}

/// A lesson, or the page of a model.
struct Chosen {
    lesson: Arc<Lesson>,
    /// What it was named by, if not by its id.
    source: Option<String>,
}

/// What is to be opened; none for a lesson with errors, which have been said.
fn chosen(options: &Open, context: &mut Context<'_>) -> Result<Option<Chosen>, Failure> {
    let Some(name) = &options.lesson else {
        let file = options.model.as_deref().unwrap_or(Path::new(""));
        let source = Some(file.display().to_string());
        return Ok(model(file, context)?.map(|lesson| Chosen { lesson, source }));
    };
    let library = context.library()?;
    let Some(lesson) = library.valid([name.as_str()], context.console)?.pop() else {
        return Ok(None);
    };
    let files = library.files_of(&lesson);
    let lesson = context.languages.translate(lesson, files, context.console);
    let source = (lesson.front.id.as_str() != name).then(|| name.clone());
    Ok(Some(Chosen { lesson: Arc::new(lesson), source }))
}

/// The page of a model; on a screen, mistakes in its file are a page as well.
fn model(file: &Path, context: &mut Context<'_>) -> Result<Option<Arc<Lesson>>, Failure> {
    let on_screen = context.display.plain || on_a_terminal();
    let page = match ModelFile::read(file, None) {
        Ok(read) => {
            // The labs read the tables when they are built, so the model comes first.
            read.install()?;
            context.library()?;
            model_page::lesson(&read, context.registry)
        }
        Err(ModelError::Config(problems)) if on_screen => {
            model_page::refused(&file.display().to_string(), &problems, context.registry)
        }
        Err(error) => return Err(error.into()),
    };
    let shown = file.display();
    page.map(Some).ok_or_else(|| {
        Failure::Usage(format!("{shown}: the name cannot stand on a page; rename the file"))
    })
}

/// Draws the screen of a lesson into a file, after its first lab has run.
fn draw(
    lesson: Arc<Lesson>,
    options: &Open,
    turns: &[KnobTurn],
    file: &Path,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    let themes = context.paths.as_ref().ok().map(|paths| paths.themes());
    let theme = match context.display.theme.as_deref() {
        None | Some("" | "auto") => Theme::new(Background::Dark, ColorDepth::TrueColor),
        Some(name) => {
            let palette = theme::file::find(name, themes.as_deref());
            let palette = palette.map_err(|error| Failure::Usage(format!("--theme: {error}")))?;
            Theme::with(&palette, ColorDepth::TrueColor)
        }
    };
    let (keys, size) = (options.keys.as_str(), options.size);
    let scene = Scene { lesson, turns, keys, size, theme };
    let find = |choice| context.devices.choose(choice, &Backend::ALL);
    let picture = picture(scene, context.registry, options.machine.device, find);
    let picture = picture.map_err(|error| match error {
        PictureError::Device(error) => Failure::from(error),
        PictureError::Kind(error) => Failure::Run(error.to_string()),
        PictureError::Knob(error) => Failure::Usage(format!("--set: {error}")),
    })?;
    files::write_output(file, picture.as_bytes())?;
    Ok(Exit::Passed)
}

/// Opens the workbench: at the course, at a lesson, or at a lesson file that it follows.
pub fn start(
    machine: Machine,
    open: Option<Opening>,
    preview: Option<Follow>,
    context: &mut Context<'_>,
) -> Result<Exit, Failure> {
    let course = context.library()?.outline(&context.languages, context.console)?;
    let themes = context.paths.as_ref().ok().map(|paths| paths.themes());
    let options = mlsys_tui::Options {
        appearance: appearance(context.display.theme.as_deref(), themes.as_deref(), &|name| {
            env::var(name).ok()
        }),
        course,
        registry: context.registry,
        choice: machine.device,
        seed: machine.seed,
        workers: context.workers.clone(),
        open,
        instructors: if context.reader.instructor {
            Instructors::Admitted
        } else {
            Instructors::Refused
        },
        preview,
        paths: context.paths.clone().ok(),
        prober: Prober::own_program(),
    };
    let left = if context.display.plain {
        let prompt = if on_a_terminal() { Prompt::Shown } else { Prompt::Silent };
        mlsys_tui::run_plain(options, prompt, context.console)
    } else {
        mlsys_tui::run(options)
    };
    let Leaving { left, unsaid, exit } = left.map_err(|error| match error {
        Broken::Opening(reason) => Failure::Usage(format!("--set: {reason}")),
        Broken::Terminal(error) if error.kind() == io::ErrorKind::BrokenPipe => Failure::Closed,
        Broken::Terminal(_) | Broken::Drafts(_) => Failure::Run(error.to_string()),
    })?;
    for why in unsaid {
        context.console.warn(why);
    }
    Ok(match left {
        Left::ByChoice => exit,
        Left::OnRequest => Exit::Interrupted,
    })
}

pub fn on_a_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}
