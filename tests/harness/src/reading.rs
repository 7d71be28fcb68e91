//! Documents read back, as strictly as their formats say.

/// Whether a text is well-formed XML: tags that close, attributes in quotes, no stray character. Returns its texts.
#[track_caller]
pub fn well_formed(text: &str) -> Vec<String> {
    let allowed = |c: char| !c.is_control() || c == '\n';
    assert!(text.chars().all(allowed), "a control character");
    let mut open: Vec<&str> = Vec::new();
    let mut texts = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let between = rest[..start].trim();
        assert!(!between.contains('>'), "a stray > in {between:?}");
        entities(between);
        if !between.is_empty() {
            assert!(!open.is_empty(), "text outside: {between:?}");
            texts.push(between.to_owned());
        }
        let end = rest.find('>').expect("a tag that ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
            continue;
        }
        let empty = tag.ends_with('/');
        let tag = tag.trim_end_matches('/');
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "{name}");
        let mut seen = Vec::new();
        while !attributes.trim().is_empty() {
            let (key, after) = attributes.trim_start().split_once("=\"").expect("an attribute");
            let (value, after) = after.split_once('"').expect("a quote that ends");
            assert!(!seen.contains(&key) && !value.contains('<'), "{tag}");
            entities(value);
            let numeric = ["x", "y", "width", "height"].contains(&key);
            let is_number = |x: &str| x.parse::<f64>().is_ok_and(f64::is_finite);
            assert!(!numeric || value.split(' ').all(is_number), "{tag}");
            assert!(key != "d" || !value.contains("NaN") && !value.contains("inf"), "{tag}");
            seen.push(key);
            attributes = after;
        }
        if !empty {
            open.push(name);
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest}");
    texts
}

#[track_caller]
fn entities(text: &str) {
    for part in text.split('&').skip(1) {
        let (name, _) = part.split_once(';').expect("an entity that ends");
        assert!(["amp", "lt", "gt", "quot", "#10", "#9", "#13"].contains(&name), "{name}");
    }
}

/// Reads comma-separated values as RFC 4180 says.
pub fn parsed(text: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let mut quoted = false;
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        let row = rows.last_mut().unwrap();
        match (c, quoted) {
            ('"', true) if letters.peek() == Some(&'"') => {
                letters.next();
                row.last_mut().unwrap().push('"');
            }
            ('"', _) => quoted = !quoted,
            (',', false) => row.push(String::new()),
            ('\r', false) if letters.peek() == Some(&'\n') => {
                letters.next();
                rows.push(vec![String::new()]);
            }
            (c, _) => row.last_mut().unwrap().push(c),
        }
    }
    assert!(!quoted, "a quote that does not end");
    assert_eq!(rows.pop(), Some(vec![String::new()]), "the last line ends");
    rows
}
