use super::rgb::contrast;
use super::*;

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
        (
            &[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")],
            TrueColor,
        ),
        (
            &[
                ("TERM", "xterm-256color"),
                ("COLORTERM", "24bit"),
                ("NO_COLOR", "1"),
            ],
            None,
        ),
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
        assert_eq!(
            Background::detect(&environment(pairs)),
            background,
            "{pairs:?}"
        );
    }
}

#[test]
fn every_text_role_can_be_read_on_its_background() {
    for background in [Background::Dark, Background::Light] {
        for depth in [
            ColorDepth::TrueColor,
            ColorDepth::Ansi256,
            ColorDepth::Ansi16,
        ] {
            let theme = Theme::new(background, depth);
            let (_, behind) = theme.defaults();
            let roles = [
                theme.text,
                theme.dim,
                theme.title,
                theme.accent,
                theme.good,
                theme.bad,
                theme.warn,
                theme.key,
                theme.code,
            ];
            for style in roles.iter().chain(&theme.curves) {
                let ink = to_rgb(style.fg.unwrap());
                let contrast = contrast(ink, behind);
                assert!(
                    contrast >= 4.5,
                    "{background:?} {depth:?} {style:?}: {contrast:.2}"
                );
            }
            let (ink, field) = (theme.selection.fg.unwrap(), theme.selection.bg.unwrap());
            assert!(
                contrast(to_rgb(ink), to_rgb(field)) >= 4.5,
                "{background:?} {depth:?}"
            );
        }
    }
}

#[test]
fn ink_can_be_read_on_every_share_of_both_scales() {
    for background in [Background::Dark, Background::Light] {
        for depth in [
            ColorDepth::TrueColor,
            ColorDepth::Ansi256,
            ColorDepth::Ansi16,
        ] {
            let theme = Theme::new(background, depth);
            for percent in 0..=100 {
                let share = percent as f32 / 100.0;
                for field in [
                    theme.heat(share),
                    theme.amount(share),
                    theme.grey(percent * 2),
                ] {
                    let style = theme.on(field);
                    let contrast = contrast(to_rgb(style.fg.unwrap()), to_rgb(style.bg.unwrap()));
                    assert!(
                        contrast >= 4.5,
                        "{background:?} {depth:?} {share}: {contrast:.2}"
                    );
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
    assert_eq!(
        (theme.heat(0.3), theme.amount(0.3), theme.grey(9)),
        (None, None, None)
    );
}

#[test]
fn a_share_that_is_not_a_number_is_the_middle() {
    let theme = Theme::new(Background::Dark, ColorDepth::TrueColor);
    assert_eq!(theme.heat(f32::NAN), theme.heat(0.5));
    assert_eq!(theme.heat(-3.0), theme.heat(0.0));
}
