//! Theme files: TOML, a colour for every role.

use std::path::{Path, PathBuf};
use std::{fs, io};

use mlsys_lab::nearest::nearest;
use mlsys_lesson::{Code, Diagnostic, Place, Source};
use ratatui::style::Color;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::glyphs::Glyphs;
use crate::theme::palette::{DARK, LIGHT, Palette, ROLES, Role};
use crate::theme::{Background, ColorDepth, Look, Theme};

/// As many complaints of the TOML parser as are told.
const MOST_ERRORS: usize = 20;

/// Reads a theme; all that is wrong with it is told at once.
pub fn read(file: &str, text: &str) -> Result<Palette, Vec<Diagnostic>> {
    let mut reader = Reader {
        source: Source { file: file.to_owned(), text: text.to_owned() },
        wrong: Vec::new(),
        palette: DARK,
    };
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors.iter().take(MOST_ERRORS) {
        let place = error.span().map_or(Place::default(), |span| Place::new(span.start, span.end));
        let message = error.message().to_owned();
        reader.complain(Code::Toml, place, message, "write role = \"#rrggbb\"");
    }
    reader.table(table.get_ref());
    // The parser goes on after a mistake, and what it lost there would seem to be missing.
    if errors.is_empty() {
        reader.missing(table.get_ref());
    }
    reader.wrong.sort_by_key(|wrong| (wrong.line, wrong.column));
    if reader.wrong.is_empty() { Ok(reader.palette) } else { Err(reader.wrong) }
}

/// A theme as a file that reads as itself: what a theme of one's own begins with.
pub fn written(palette: &Palette) -> String {
    let mut palette = *palette;
    let mut text = String::new();
    for role in ROLES {
        let colors: Vec<String> = (role.colors)(&mut palette)
            .iter()
            .map(|color| {
                let super::Rgb(r, g, b) = super::to_rgb(*color);
                format!("\"#{r:02x}{g:02x}{b:02x}\"")
            })
            .collect();
        let value = match colors.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        text.push_str(&format!("# {}\n{} = {value}\n", role.about, role.name));
    }
    text
}

struct Reader {
    source: Source,
    wrong: Vec<Diagnostic>,
    palette: Palette,
}

impl Reader {
    fn table(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            let name: &str = key.get_ref();
            match ROLES.iter().find(|role| role.name == name) {
                Some(role) => self.role(role, value),
                None => {
                    let names = ROLES.iter().map(|role| role.name);
                    let help = match nearest(name, names.clone()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("the roles are: {}", names.collect::<Vec<_>>().join(", ")),
                    };
                    let message = format!("there is no role `{}`", name.escape_debug());
                    self.complain(Code::UnknownKey, place(key), message, &help);
                }
            }
        }
    }

    fn missing(&mut self, table: &DeTable<'_>) {
        for role in ROLES {
            if !table.iter().any(|(key, _)| key.get_ref() == role.name) {
                let message = format!("the theme has no `{}` ({})", role.name, role.about);
                let help = format!("add {} = {}", role.name, example(role));
                let end = self.source.text.trim_end().len();
                self.complain(Code::MissingKey, Place::new(end, end), message, &help);
            }
        }
    }

    fn role(&mut self, role: &Role, value: &Spanned<DeValue<'_>>) {
        let wanted = (role.colors)(&mut self.palette).len();
        let single = [value];
        let given: Vec<&Spanned<DeValue<'_>>> = match value.get_ref() {
            DeValue::Array(items) if wanted > 1 => items.iter().collect(),
            DeValue::String(_) if wanted == 1 => single.to_vec(),
            DeValue::String(_)
            | DeValue::Array(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Table(_) => {
                let message = match wanted {
                    1 => format!("`{}` is one colour", role.name),
                    _ => format!("`{}` is a list of {wanted} colours", role.name),
                };
                let help = format!("write {} = {}", role.name, example(role));
                return self.complain(Code::WrongType, place(value), message, &help);
            }
        };
        if given.len() != wanted {
            let message =
                format!("`{}` has {wanted} colours, and {} are given", role.name, given.len());
            let help = format!("write {} = {}", role.name, example(role));
            self.complain(Code::BadValue, place(value), message, &help);
        }
        for (index, item) in given.into_iter().enumerate() {
            match color(item.get_ref()) {
                Ok(color) => {
                    if let Some(to) = (role.colors)(&mut self.palette).get_mut(index) {
                        *to = color;
                    }
                }
                Err(what) => self.complain(
                    Code::BadValue,
                    place(item),
                    format!("{what} is not a colour"),
                    "write #rrggbb: red, green and blue as two hexadecimal digits each, such as \"#7cc4ff\"",
                ),
            }
        }
    }

    fn complain(&mut self, code: Code, place: Place, message: String, help: &str) {
        self.wrong.push(self.source.error(code, place, message).help(help));
    }
}

fn color(value: &DeValue<'_>) -> Result<Color, String> {
    let DeValue::String(text) = value else {
        return Err("this".to_owned());
    };
    text.strip_prefix('#')
        .filter(|digits| digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_hexdigit()))
        .and_then(|digits| u32::from_str_radix(digits, 16).ok())
        .map(Color::from_u32)
        .ok_or_else(|| format!("\"{}\"", text.escape_debug()))
}

/// What the dark theme has there, as it would be written.
fn example(role: &Role) -> String {
    let name = format!("{} = ", role.name);
    written(&DARK)
        .lines()
        .find_map(|line| line.strip_prefix(&name).map(str::to_owned))
        .unwrap_or_default()
}

fn place<T>(spanned: &Spanned<T>) -> Place {
    let span = spanned.span();
    Place::new(span.start, span.end)
}

/// The built-in themes besides dark and light, by name, as files.
static BUILT_IN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/themes.rs"));

/// Longer files are not themes.
const LONGEST_FILE: u64 = 64 * 1024;

/// How the workbench looks from its first frame on.
#[derive(Clone, Debug)]
pub struct Appearance {
    pub look: Look,
    /// Who decides between light and dark.
    pub decider: Decider,
    /// Why it is not the theme that was asked for.
    pub trouble: Option<String>,
}

/// Who decides between light and dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decider {
    /// The terminal, which can be asked what colour is behind its text.
    Terminal,
    /// The learner has.
    Learner,
}

/// Why a theme cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum NoTheme {
    /// There is none of this name.
    #[error("there is no theme '{}'; {help}", name.escape_debug())]
    Unknown {
        name: String,
        /// What there is.
        help: String,
    },
    #[error("theme {} cannot be read: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("{}", summary(.0))]
    Wrong(Vec<Diagnostic>),
}

/// The first mistake in a line, and how to see the others.
fn summary(wrong: &[Diagnostic]) -> String {
    let Some(first) = wrong.first() else {
        return "the theme has mistakes".to_owned();
    };
    let more = match wrong.len() {
        1 => String::new(),
        count => format!(" ({} more)", count - 1),
    };
    format!(
        "{}:{}:{}: {}{more}; `mlsys theme check {}` shows it",
        first.file, first.line, first.column, first.message, first.file
    )
}

/// The look for a wish such as `light`, a theme's name or a file; `auto` or none asks the terminal.
pub fn appearance(
    wish: Option<&str>,
    folder: Option<&Path>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Appearance {
    let depth = ColorDepth::detect(variable);
    let guessed = Theme::new(Background::detect(variable), depth);
    let (theme, decider, trouble) = match wish {
        None | Some("" | "auto") => (guessed, Decider::Terminal, None),
        Some(name) => match find(name, folder) {
            Ok(palette) => (Theme::with(&palette, depth), Decider::Learner, None),
            Err(why) => (guessed, Decider::Terminal, Some(why.to_string())),
        },
    };
    Appearance { look: Look { theme, glyphs: Glyphs::detect(variable) }, decider, trouble }
}

/// A theme by its name, or the path of its file.
pub fn find(name: &str, folder: Option<&Path>) -> Result<Palette, NoTheme> {
    if let Some((_, palette)) =
        [("dark", DARK), ("light", LIGHT)].into_iter().find(|(known, _)| *known == name)
    {
        return Ok(palette);
    }
    if let Some((_, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
        return read(&format!("{name}.toml"), text).map_err(NoTheme::Wrong);
    }
    let is_path = name.ends_with(".toml") || name.contains(['/', std::path::MAIN_SEPARATOR]);
    if is_path {
        return read_file(Path::new(name));
    }
    let own = folder.map(|folder| folder.join(format!("{name}.toml")));
    if let Some(own) = own.filter(|own| own.exists()) {
        return read_file(&own);
    }
    let names = names(folder);
    let near = nearest(name, names.iter().map(String::as_str));
    Err(NoTheme::Unknown {
        name: name.to_owned(),
        help: match near {
            Some(near) => format!("did you mean '{near}'?"),
            None => format!("there are: {}", names.join(", ")),
        },
    })
}

pub fn read_file(path: &Path) -> Result<Palette, NoTheme> {
    let unreadable = |error| NoTheme::Unreadable { path: path.to_owned(), error };
    let about = fs::metadata(path).map_err(unreadable)?;
    // A pipe may never end, and no theme is that long.
    if !about.is_file() || about.len() > LONGEST_FILE {
        return Err(unreadable(io::Error::other("it is not a theme file")));
    }
    let text = fs::read_to_string(path).map_err(unreadable)?;
    read(&path.display().to_string(), &text).map_err(NoTheme::Wrong)
}

/// All themes by name: those in the program, then the learner's own.
pub fn names(folder: Option<&Path>) -> Vec<String> {
    let mut names = vec!["dark".to_owned(), "light".to_owned()];
    names.extend(BUILT_IN.iter().map(|(name, _)| (*name).to_owned()));
    let own = folder.and_then(|folder| fs::read_dir(folder).ok());
    let mut own: Vec<String> = own
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let is_theme = path.extension().is_some_and(|extension| extension == "toml");
            let name = path.file_stem()?.to_str()?.to_owned();
            (is_theme && !names.contains(&name)).then_some(name)
        })
        .collect();
    own.sort();
    names.extend(own);
    names
}
