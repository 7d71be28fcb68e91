use crate::theme::color::contrast as ratio;
use crate::theme::*;

fn environment(pairs: &'static [(&'static str, &'static str)]) -> impl Fn(&str) -> Option<String> {
    move |name| {
        let found = pairs.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| (*value).to_owned())
    }
}

#[test]
fn depth_follows_the_environment() {
    use ColorDepth::{Ansi16, Ansi256, None, TrueColor};
    for (pairs, depth) in [
        (&[("TERM", "xterm-256color")][..], Ansi256),
        (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")], TrueColor),
        (&[("TERM", "xterm-256color"), ("COLORTERM", "24bit"), ("NO_COLOR", "1")], None),
        (&[("TERM", "xterm-256color"), ("NO_COLOR", "")], Ansi256),
        (&[("TERM", "dumb"), ("COLORTERM", "truecolor")], None),
        (&[("TERM", "linux")], Ansi16),
        (&[("TERM", "xterm-direct")], TrueColor),
        (&[("WT_SESSION", "x")], TrueColor),
        (&[], Ansi16),
    ] {
        assert_eq!(ColorDepth::detect(&environment(pairs)), depth, "{pairs:?}");
    }
}

#[test]
fn background_follows_what_the_terminal_announces() {
    for (pairs, background) in [
        (&[("COLORFGBG", "0;15")][..], Background::Light),
        (&[("COLORFGBG", "0;default;7")], Background::Light),
        (&[("COLORFGBG", "15;0")], Background::Dark),
        (&[], Background::Dark),
    ] {
        assert_eq!(Background::detect(&environment(pairs)), background, "{pairs:?}");
    }
}

#[test]
fn every_role_of_every_theme_can_be_seen_at_every_depth() {
    for name in file::names(None) {
        let palette = file::find(&name, None).unwrap();
        assert_eq!(color::low_contrast(&palette), [], "{name}");
        for depth in [ColorDepth::TrueColor, ColorDepth::Ansi256, ColorDepth::Ansi16] {
            let theme = Theme::with(&palette, depth);
            assert_eq!(color::low_contrast_of(&theme), [], "{name} {depth:?}");
        }
    }
}

#[test]
fn every_theme_reads_as_it_is_written() {
    for name in file::names(None) {
        let palette = file::find(&name, None).unwrap();
        let text = file::to_toml(&palette);
        assert_eq!(file::parse("own.toml", &text), Ok(palette), "{name}");
    }
}

#[test]
fn all_theme_errors_are_reported_with_places() {
    let text = "background = \"#0f1218\"\n\
        text = \"grey\"\n\
        dimm = \"#8f96a0\"\n\
        good = 5\n\
        curves = [\"#4fa8ff\", \"#ffg657\"]\n\
        border = [\"#475163\"]\n";
    let wrong = file::parse("own.toml", text).unwrap_err();
    let told: Vec<String> = wrong
        .iter()
        .map(|w| {
            let help = w.help.as_deref().unwrap_or("");
            format!("{}:{} {} | {help}", w.line, w.column, w.message)
        })
        .collect();
    for expected in [
        "2:8 \"grey\" is not a colour | write #rrggbb",
        "3:1 there is no role `dimm` | did you mean `dim`?",
        "4:8 `good` is one colour | write good = \"#7fd88f\"",
        "5:10 `curves` has 6 colours, and 2 are given | write curves = [\"#4fa8ff\",",
        "5:22 \"#ffg657\" is not a colour",
        "6:10 `border` is one colour | write border = \"",
        "the theme has no `dim` (units, remarks, axes) | add dim = \"#8f96a0\"",
        "the theme has no `amount`",
    ] {
        assert!(
            told.iter().any(|line| line.contains(expected)),
            "{expected:?} is not among {told:#?}"
        );
    }
    assert!(file::parse("own.toml", "text = \"#").is_err());
    for (_, line) in file::to_toml(&file::find("dark", None).unwrap()).match_indices('\n') {
        // Whatever is cut off, it is told and nothing else happens.
        let _ = file::parse("own.toml", line);
    }
}

#[test]
fn a_theme_that_is_hard_to_see_is_told_role_by_role() {
    let text = file::to_toml(&file::find("light", None).unwrap());
    let text = text.replace("dim = \"#60666f\"", "dim = \"#c0c0c0\"");
    let palette = file::parse("own.toml", &text).unwrap();
    let faint = color::low_contrast(&palette);
    assert_eq!(faint.len(), 1, "{faint:?}");
    assert!(faint[0].to_string().starts_with("`dim` has a contrast of 1.7"));
}

#[test]
fn an_unknown_theme_falls_back_with_a_notice() {
    let plain = environment(&[("TERM", "xterm-256color")]);
    let wished = |wish| file::appearance(wish, None, &plain);
    let light = wished(Some("light"));
    assert_eq!((light.decider, light.trouble), (file::Decider::Learner, None));
    let none = wished(None);
    assert_eq!((none.decider, none.trouble), (file::Decider::Terminal, None));
    let wrong = wished(Some("ligth"));
    assert_eq!(wrong.decider, file::Decider::Terminal);
    assert_eq!(wrong.trouble.as_deref(), Some("there is no theme 'ligth'; did you mean 'light'?"));
    let missing = wished(Some("no/such.toml")).trouble.unwrap();
    assert!(missing.starts_with("theme no/such.toml cannot be read: "), "{missing}");
}

#[test]
fn ink_can_be_read_on_every_share_of_both_scales() {
    for background in [Background::Dark, Background::Light] {
        for depth in [ColorDepth::TrueColor, ColorDepth::Ansi256, ColorDepth::Ansi16] {
            let theme = Theme::new(background, depth);
            for percent in 0..=100 {
                let share = percent as f32 / 100.0;
                for field in [theme.heat(share), theme.amount(share), theme.grey(percent * 2)] {
                    let style = theme.on(field);
                    let contrast = ratio(to_rgb(style.fg.unwrap()), to_rgb(style.bg.unwrap()));
                    assert!(contrast >= 4.5, "{background:?} {depth:?} {share}: {contrast:.2}");
                }
            }
        }
    }
}

#[test]
fn without_colour_no_style_has_one() {
    let theme = Theme::new(Background::Dark, ColorDepth::None);
    let styles = [
        theme.screen,
        theme.text,
        theme.dim,
        theme.title,
        theme.accent,
        theme.good,
        theme.bad,
        theme.warn,
        theme.key,
        theme.selection,
        theme.code,
        theme.border,
        theme.focus,
        theme.previous,
        theme.on(None),
    ];
    for style in styles.iter().chain(&theme.curves).chain(&theme.faint) {
        assert_eq!((style.fg, style.bg), (None, None), "{style:?}");
    }
    assert_eq!((theme.heat(0.3), theme.amount(0.3), theme.grey(9)), (None, None, None));
}

#[test]
fn a_share_that_is_not_a_number_is_the_middle() {
    let theme = Theme::new(Background::Dark, ColorDepth::TrueColor);
    assert_eq!(theme.heat(f32::NAN), theme.heat(0.5));
    assert_eq!(theme.heat(-3.0), theme.heat(0.0));
}
