//! Theme files, TOML with a colour for every role, and which theme is used: the requested one, else what suits the background.

use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::{fs, io};

use mlsys_lab::nearest::nearest;
use mlsys_lab::value::Value;
use mlsys_lesson::{Code, Diagnostic, Place, Source};
use ratatui::style::Color;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::glyphs::Glyphs;
use crate::theme::color::{Rgb, to_rgb};
use crate::theme::palette::{DARK, LIGHT, Palette, ROLES, Role};
use crate::theme::{Background, ColorDepth, Look, Theme};

/// The built-in themes other than dark and light, by name, as files.
static BUILT_IN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/themes.rs"));

/// Parses a theme; all that is wrong with it is reported at once.
pub fn parse(file: &str, text: &str) -> Result<Palette, Vec<Diagnostic>> {
    /// Errors of the TOML parser that are reported.
    const MOST_ERRORS: usize = 20;
    let source = Source { file: file.to_owned(), text: text.to_owned() };
    let mut reader = Reader { source, errors: Vec::new(), palette: DARK };
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors.iter().take(MOST_ERRORS) {
        let place = error.span().map_or(Place::default(), |span| Place::new(span.start, span.end));
        reader.error(Code::Toml, place, error.message().to_owned(), "write role = \"#rrggbb\"");
    }
    let table = table.get_ref();
    for (key, value) in table {
        let name: &str = key.get_ref();
        match ROLES.iter().find(|role| role.name == name) {
            Some(role) => reader.role(role, value),
            None => {
                let mut names = ROLES.iter().map(|role| role.name);
                let help = match nearest(name, names.clone()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => {
                        format!("the roles are: {}", names.by_ref().collect::<Vec<_>>().join(", "))
                    }
                };
                let message = format!("there is no role `{}`", name.escape_debug());
                reader.error(Code::UnknownKey, place(key), message, &help);
            }
        }
    }
    // The parser goes on after a mistake, and what it lost there would seem to be missing.
    let is_given = |role: &Role| table.iter().any(|(key, _)| key.get_ref() == role.name);
    for role in ROLES.iter().filter(|role| errors.is_empty() && !is_given(role)) {
        let message = format!("the theme has no `{}` ({})", role.name, role.about);
        let end = text.trim_end().len();
        let help = format!("add {}", line(role, &DARK));
        reader.error(Code::MissingKey, Place::new(end, end), message, &help);
    }
    reader.errors.sort_by_key(|error| (error.line, error.column));
    if reader.errors.is_empty() { Ok(reader.palette) } else { Err(reader.errors) }
}

/// A theme as a file that parses to the same palette: the start of a theme of one's own.
pub fn to_toml(palette: &Palette) -> String {
    let lines = ROLES.iter().map(|role| format!("# {}\n{}\n", role.about, line(role, palette)));
    lines.collect()
}

/// The line of a role: `heat = ["#2a6fc4", "#262b36", "#b85a12"]`.
fn line(role: &Role, palette: &Palette) -> String {
    let mut palette = *palette;
    let hex = |color: &Color| {
        let Rgb(r, g, b) = to_rgb(*color);
        Value::from(format!("#{r:02x}{g:02x}{b:02x}"))
    };
    let value = match (role.colors)(&mut palette) {
        [one] => hex(one),
        many => Value::Array(many.iter().map(hex).collect()),
    };
    format!("{} = {}", role.name, value.to_toml())
}

struct Reader {
    source: Source,
    errors: Vec<Diagnostic>,
    palette: Palette,
}

impl Reader {
    fn role(&mut self, role: &Role, value: &Spanned<DeValue<'_>>) {
        let wanted = (role.colors)(&mut self.palette).len();
        let help = format!("write {}", line(role, &DARK));
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
                return self.error(Code::WrongType, place(value), message, &help);
            }
        };
        if given.len() != wanted {
            let message =
                format!("`{}` has {wanted} colours, and {} are given", role.name, given.len());
            self.error(Code::BadValue, place(value), message, &help);
        }
        for (index, item) in given.into_iter().enumerate() {
            let text = item.get_ref().as_str();
            match text.and_then(color) {
                Some(color) => {
                    if let Some(to) = (role.colors)(&mut self.palette).get_mut(index) {
                        *to = color;
                    }
                }
                None => {
                    let what = text.map_or_else(
                        || "this".to_owned(),
                        |text| format!("\"{}\"", text.escape_debug()),
                    );
                    let message = format!("{what} is not a colour");
                    let help = "write #rrggbb: red, green and blue as two hexadecimal digits each, such as \"#7cc4ff\"";
                    self.error(Code::BadValue, place(item), message, help);
                }
            }
        }
    }

    fn error(&mut self, code: Code, place: Place, message: String, help: &str) {
        self.errors.push(self.source.error(code, place, message).help(help));
    }
}

fn color(text: &str) -> Option<Color> {
    let digits = text.strip_prefix('#')?;
    let is_hex = digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    let rgb = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)?;
    Some(Color::from_u32(rgb))
}

fn place<T>(spanned: &Spanned<T>) -> Place {
    let span = spanned.span();
    Place::new(span.start, span.end)
}

/// The look of the workbench from its first frame on.
#[derive(Clone, Debug)]
pub struct Appearance {
    pub look: Look,
    pub decider: Decider,
    /// Why it is not the theme that was requested.
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

#[derive(Debug, thiserror::Error)]
pub enum NoTheme {
    #[error("there is no theme '{}'; {help}", name.escape_debug())]
    Unknown { name: String, help: String },
    #[error("theme {} cannot be read: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("{}", summary(.0))]
    Wrong(Vec<Diagnostic>),
}

fn summary(errors: &[Diagnostic]) -> String {
    let Some(Diagnostic { file, line, column, message, .. }) = errors.first() else {
        return "the theme has mistakes".to_owned();
    };
    let more = match errors.len() {
        1 => String::new(),
        count => format!(" ({} more)", count - 1),
    };
    format!("{file}:{line}:{column}: {message}{more}; `mlsys theme check {file}` shows it")
}

/// The look for a request such as `light`, a theme's name or a file; `auto` or none asks the terminal.
pub fn appearance(
    request: Option<&str>,
    folder: Option<&Path>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Appearance {
    let depth = ColorDepth::detect(variable);
    let guessed = Theme::new(Background::detect(variable), depth);
    let (theme, decider, trouble) = match request {
        None | Some("" | "auto") => (guessed, Decider::Terminal, None),
        Some(name) => match find(name, folder) {
            Ok(palette) => (Theme::with(&palette, depth), Decider::Learner, None),
            Err(error) => (guessed, Decider::Terminal, Some(error.to_string())),
        },
    };
    Appearance { look: Look { theme, glyphs: Glyphs::detect(variable) }, decider, trouble }
}

/// A theme by its name, or the path of its file.
pub fn find(name: &str, folder: Option<&Path>) -> Result<Palette, NoTheme> {
    match name {
        "dark" => return Ok(DARK),
        "light" => return Ok(LIGHT),
        _ => {}
    }
    if let Some((_, text)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
        return parse(&format!("{name}.toml"), text).map_err(NoTheme::Wrong);
    }
    if name.ends_with(".toml") || name.contains(['/', MAIN_SEPARATOR]) {
        return read_file(Path::new(name));
    }
    let own = folder.map(|folder| folder.join(format!("{name}.toml")));
    if let Some(own) = own.filter(|own| own.exists()) {
        return read_file(&own);
    }
    let names = names(folder);
    let help = match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean '{near}'?"),
        None => format!("there are: {}", names.join(", ")),
    };
    Err(NoTheme::Unknown { name: name.to_owned(), help })
}

pub fn read_file(path: &Path) -> Result<Palette, NoTheme> {
    /// Longer files are not themes.
    const LONGEST: u64 = 64 * 1024;
    let unreadable = |error| NoTheme::Unreadable { path: path.to_owned(), error };
    let metadata = fs::metadata(path).map_err(unreadable)?;
    // A pipe may never end.
    if !metadata.is_file() || metadata.len() > LONGEST {
        return Err(unreadable(io::Error::other("it is not a theme file")));
    }
    let text = fs::read_to_string(path).map_err(unreadable)?;
    parse(&path.display().to_string(), &text).map_err(NoTheme::Wrong)
}

/// All themes by name: those in the program, then the learner's own.
pub fn names(folder: Option<&Path>) -> Vec<String> {
    let built_in = ["dark", "light"].into_iter().chain(BUILT_IN.iter().map(|(name, _)| *name));
    let mut names: Vec<String> = built_in.map(str::to_owned).collect();
    let Some(entries) = folder.and_then(|folder| fs::read_dir(folder).ok()) else { return names };
    let own = entries.filter_map(|entry| {
        let path = entry.ok()?.path();
        let is_theme = path.extension().is_some_and(|extension| extension == "toml");
        Some(path.file_stem()?.to_str()?.to_owned()).filter(|_| is_theme)
    });
    let mut own: Vec<String> = own.filter(|name| !names.contains(name)).collect();
    own.sort();
    names.extend(own);
    names
}
