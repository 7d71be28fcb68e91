//! Makes the compilers' texts readable without changing what they say: indentation, no types in cubecl's form.

pub fn tidy(text: &str, target: &str, kernel: &str) -> Vec<String> {
    let name = kernel.replace('-', "_");
    let text = plain_name(text, &name);
    match target {
        "cubecl-ir" => intermediate(&text),
        "spirv" => text.lines().map(|line| line.replace("  ", " ").trim().to_owned()).collect(),
        _ => c_like(&text),
    }
}

/// cubecl adds a hash of the kernel's settings to its name.
fn plain_name(text: &str, name: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let end = at + name.len();
        out.push_str(&rest[..end]);
        rest = rest[end..].trim_start_matches(|c: char| c == '_' || c.is_ascii_alphanumeric());
    }
    out + rest
}

fn intermediate(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for line in text.lines() {
        let bare = line.trim();
        let skipped = ["builtin.module", "[sym_visibility", "branch.yield", "inv_", "^"];
        if bare.is_empty()
            || skipped.iter().any(|word| bare.starts_with(word)) && !bare.starts_with("^body")
        {
            continue;
        }
        let depth = line.len() - line.trim_start().len();
        let mut bare = bare.to_owned();
        if let Some((head, _)) = bare.split_once(": builtin.function") {
            bare = head.to_owned();
        }
        if let Some(at) = bare.find(" [] [") {
            bare.truncate(at);
        }
        if let Some((head, _)) = bare.split_once(" : ") {
            bare = head.to_owned();
        }
        for (long, short) in [
            ("cube.index ", "index "),
            ("builtin.constant", "constant"),
            ("cube.float ", ""),
            ("cube.f32 :", "f32"),
            ("cube.f32 ;", "f32;"),
        ] {
            bare = bare.replace(long, short);
        }
        let bare = bare.trim_end_matches([';', ' ']).trim_end();
        out.push(format!("{}{bare}", " ".repeat(depth.saturating_sub(4) / 2)));
    }
    // The outer pair of braces is the module's, and an empty `else` says nothing.
    let mut lines: Vec<String> = out;
    lines.remove(0);
    lines.pop();
    while let Some(at) = lines
        .windows(3)
        .position(|w| w[0].trim() == "} else" && w[1].trim() == "{" && w[2].trim() == "}")
    {
        let indent = lines[at].len() - lines[at].trim_start().len();
        lines[at] = format!("{}}}", " ".repeat(indent));
        lines.drain(at + 1..at + 3);
    }
    lines
}

fn c_like(text: &str) -> Vec<String> {
    let mut split = String::new();
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        split.push(c);
        if c == ';' && letters.peek().is_some_and(|next| next.is_ascii_alphabetic() || *next == '*')
        {
            split.push('\n');
        }
    }
    let mut out = Vec::new();
    let mut left_out = 0;
    let mut begun = false;
    let mut depth: usize = 0;
    for line in split.lines() {
        let line = line.trim();
        let begins = ["struct alignas", "struct info_st", "@", "var<workgroup>"];
        begun |= begins.iter().any(|word| line.starts_with(word));
        if line.is_empty() {
            continue;
        }
        if !begun {
            if line.starts_with('#') || line.starts_with("using ") {
                out.push(line.to_owned());
            } else {
                left_out += 1;
            }
            continue;
        }
        if left_out > 0 {
            out.push(format!("// {left_out} lines of type names left out"));
            left_out = 0;
        }
        let closes = line.starts_with('}');
        depth = depth.saturating_sub(usize::from(closes));
        let indent = " ".repeat(2 * depth);
        if line.ends_with(") {")
            && line.len() > 60
            && !line.starts_with("while")
            && !line.starts_with("for")
        {
            signature(line, &mut out);
        } else {
            out.push(format!("{indent}{line}"));
        }
        depth += line.matches('{').count();
        depth = depth.saturating_sub(line.matches('}').count() - usize::from(closes));
    }
    out
}

fn signature(line: &str, out: &mut Vec<String>) {
    let starts = ["(float", "(device", "(@"];
    let name = starts.iter().find_map(|start| line.find(start)).unwrap_or(0);
    let (head, rest) = line.split_at(name + 1);
    out.push(head.trim().to_owned());
    let rest = rest.trim_end_matches(") {");
    let mut argument = String::new();
    let mut level = 0;
    let mut arguments = Vec::new();
    for c in rest.chars() {
        match c {
            '(' | '<' => level += 1,
            ')' | '>' => level -= 1,
            _ => {}
        }
        if c == ',' && level == 0 {
            arguments.push(std::mem::take(&mut argument));
        } else {
            argument.push(c);
        }
    }
    arguments.push(argument);
    let last = arguments.len() - 1;
    for (at, argument) in arguments.iter().enumerate() {
        let end = if at == last { ") {" } else { "," };
        out.push(format!("    {}{end}", argument.trim()));
    }
}

/// Numbers the values above `shared`, which a compiler added, in the order in which they appear.
pub fn renumbered(text: &str, shared: usize) -> String {
    let mut numbers: Vec<&str> = Vec::new();
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('v') {
        let before = rest[..at].chars().next_back();
        let (head, tail) = rest.split_at(at + 1);
        let digits = tail.len() - tail.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, tail) = tail.split_at(digits);
        out.push_str(head);
        let begins = before.is_none_or(|c| c == '_' || !c.is_ascii_alphanumeric());
        if begins && number.parse().is_ok_and(|value: usize| value > shared) {
            let nth = numbers.iter().position(|known| *known == number).unwrap_or_else(|| {
                numbers.push(number);
                numbers.len() - 1
            });
            out.push_str(&(shared + 1 + nth).to_string());
        } else {
            out.push_str(number);
        }
        rest = tail;
    }
    out + rest
}
