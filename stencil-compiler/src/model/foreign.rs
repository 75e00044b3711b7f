//! Words that physicists write elsewhere, and their counterparts here: the ways out of messages.

/// Functions that the language lacks, each with its replacement.
const FUNCTIONS: &[(&str, &str)] = &[
    ("acos", "write `atan2(sqrt(1 - a^2), a)`"),
    ("acosh", "write `log(a + sqrt(a^2 - 1))`"),
    ("advect", "write `dot(u, grad(f))`"),
    ("arccos", "write `atan2(sqrt(1 - a^2), a)`"),
    ("arcsin", "write `atan2(a, sqrt(1 - a^2))`"),
    ("arctan", "write `atan2(a, 1)`"),
    ("asin", "write `atan2(a, sqrt(1 - a^2))`"),
    ("asinh", "write `log(a + sqrt(a^2 + 1))`"),
    ("atan", "write `atan2(a, 1)`"),
    ("atanh", "write `log((1 + a)/(1 - a))/2`"),
    ("average", OBSERVE),
    ("biharmonic", "write `lap(lap(f))`"),
    ("conj", COMPLEX),
    ("ceil", "write `-floor(-a)`"),
    ("cot", "write `cos(a)/sin(a)`"),
    ("coth", "write `1/tanh(a)`"),
    ("csch", "write `1/sinh(a)`"),
    ("diff", "write `d[x](f)`"),
    ("erfc", "write `1 - erf(a)`"),
    ("exp10", "write `pow(10, a)`"),
    ("exp2", "write `pow(2, a)`"),
    ("fmod", MOD),
    ("frac", "write `a / b`"),
    ("heaviside", STEP),
    ("ifelse", CHOICE),
    ("imag", COMPLEX),
    ("inner", "write `dot(a, b)`"),
    ("integral", OBSERVE),
    ("integrate", OBSERVE),
    ("log10", "write `log(a)/log(10)`"),
    ("log2", "write `log(a)/log(2)`"),
    ("mean", OBSERVE),
    ("noise", RANDOM),
    ("partial", "write `d[x](f)`"),
    ("rand", RANDOM),
    ("randn", RANDOM),
    ("random", RANDOM),
    ("real", COMPLEX),
    ("rem", MOD),
    ("remainder", MOD),
    ("round", "write `floor(a + 1/2)`"),
    ("rsqrt", "write `1/sqrt(a)`"),
    ("sech", "write `1/cosh(a)`"),
    ("select", CHOICE),
    ("square", "write `a^2`"),
    ("step", STEP),
    ("sum", OBSERVE),
    ("tan", "write `sin(a)/cos(a)`"),
    ("tr", "write `trace(a)`"),
    ("where", CHOICE),
];

const CHOICE: &str = "write `if a > b { c } else { d }`";
const COMPLEX: &str =
    "numbers are real: declare the real and the imaginary part as fields of their own";
const OBSERVE: &str =
    "an equation holds cell by cell; `observe name = mean(..);` watches a number of all cells";
const RANDOM: &str =
    "equations have no random numbers: give noise as initial values, or as the array of a `source`";
const MOD: &str = "write `mod(a, b)`, which has the sign of `b`";
const STEP: &str = "write `if a > 0 { 1 } else { 0 }`";

/// Names of values that are called otherwise here, or are not known to equations.
const NAMES: &[(&str, &str)] = &[
    ("PI", "write `pi`"),
    ("Pi", "write `pi`"),
    ("d", "a derivative is written `d[x](f)`"),
    ("dt", SPACING),
    ("dx", SPACING),
    ("dy", SPACING),
    ("dz", SPACING),
    ("e", "write `exp(a)` for a power of e"),
    ("false", CHOICE),
    ("nabla", NABLA),
    ("time", "the time is `t`"),
    ("true", CHOICE),
    ("π", "write `pi`"),
];

const NABLA: &str = "write `grad(f)`, `div(u)`, `curl(u)` or `lap(f)`";
const SPACING: &str = "equations know no spacing and no step: the scheme makes differences of them";

/// Characters that Rust has no token for.
const CHARACTERS: &[(char, &str)] = &[
    ('∇', "write `grad(f)`, `div(u)` or `curl(u)`"),
    ('∂', "write `d[x](f)`, or `ddt(f)` on the left of an equation"),
    ('Δ', "write `lap(f)`"),
    ('×', "write `cross(u, v)`"),
    ('\'', "a prime is not part of a name"),
    ('²', "write `a^2`"),
    ('³', "write `a^3`"),
    ('½', "write `1/2`"),
    ('√', "write `sqrt(a)`"),
    ('−', "write `-`, the sign of the keyboard"),
    ('–', "write `-`, the sign of the keyboard"),
    ('÷', "write `/`"),
    ('⋅', "write `dot(u, v)` of vectors, `*` of numbers"),
    ('∙', "write `dot(u, v)` of vectors, `*` of numbers"),
    ('≤', "write `<=`"),
    ('≥', "write `>=`"),
    ('≠', "write `!=`"),
    ('→', "write `->`"),
    ('∫', OBSERVE),
    ('∑', "write the sum out"),
];

/// Words of LaTeX, after the backslash.
const LATEX: &[(&str, &str)] = &[
    ("frac", "write `a / b`"),
    ("nabla", NABLA),
    ("partial", "write `d[x](f)`, or `ddt(f)` on the left of an equation"),
    ("Delta", "write `lap(f)`"),
    ("cdot", "write `dot(u, v)` of vectors, `*` of numbers"),
    ("times", "write `cross(u, v)` of vectors, `*` of numbers"),
    ("sqrt", "write `sqrt(a)`"),
    ("pi", "write `pi`"),
    ("left", "write `(`"),
    ("right", "write `)`"),
];

fn find(table: &[(&str, &'static str)], word: &str) -> Option<&'static str> {
    let found = table.iter().find(|(known, _)| *known == word);
    found.map(|(_, instead)| *instead)
}

/// The way out of a call of an unknown function, if one is known.
pub(super) fn function(name: &str) -> Option<String> {
    let known = find(FUNCTIONS, name).or_else(|| find(FUNCTIONS, &name.to_lowercase()));
    known.map(String::from).or_else(|| derivative(name))
}

/// The derivative that a word of another language, such as `dx`, `ddx`, `dxx`, `d2dx2` or `partial_x`, means.
fn derivative(name: &str) -> Option<String> {
    let rest = name.strip_prefix("partial").or(name.strip_prefix(['d', 'D']))?;
    let is_axis = |c: &char| "xyz".contains(*c);
    let axes: Vec<char> = rest.chars().filter(is_axis).collect();
    let other = |c: char| !is_axis(&c) && c != 'd' && c != '_' && !c.is_ascii_digit();
    let first = *axes.first()?;
    if rest.contains(other) {
        return None;
    }
    let digit = rest.chars().find_map(|c| c.to_digit(10));
    let times = digit.unwrap_or(axes.len() as u32);
    Some(match (axes.iter().all(|axis| *axis == first), times) {
        (true, 1) => format!("write `d[{first}](f)`"),
        (true, times) => format!("write `d{times}[{first}](f)`"),
        (false, _) => {
            let calls: String = axes.iter().map(|axis| format!("d[{axis}](")).collect();
            format!("write `{calls}f{}`", ")".repeat(axes.len()))
        }
    })
}

/// The way out of a name that nothing declares, where one is known.
pub(super) fn name(name: &str) -> Option<&'static str> {
    find(NAMES, name)
}

/// The way out of a line that cannot be split into tokens at this character, of which `before` goes before and `after` behind.
pub(super) fn character(before: &str, found: char, after: &str) -> Option<String> {
    if begins_comment(before) {
        return Some(COMMENT.to_string());
    }
    if found == '\\' {
        let word: String = after.chars().take_while(char::is_ascii_alphabetic).collect();
        let help = find(LATEX, &word).map(String::from);
        return Some(help.unwrap_or_else(|| match word.is_empty() {
            true => "a line ends where its `;` is, and goes on without a sign".to_string(),
            false => format!("names are plain words: write `{word}`"),
        }));
    }
    let help = CHARACTERS.iter().find(|(known, _)| *known == found);
    help.map(|(_, help)| help.to_string())
}

/// The way out of a `#`.
pub(super) const COMMENT: &str = "a comment begins with `//`";

/// Is there a `#` in a line that begins a comment elsewhere?
fn begins_comment(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or("");
    code.split_once('#').is_some_and(|(_, rest)| !rest.starts_with(['[', '!']))
}

/// The way out of a word for the rate of a field, such as `q_t` or `dqdt`.
pub(super) fn rate(word: &str) -> Option<String> {
    let between = |word: &'_ str| {
        let rest = word.strip_prefix('d')?;
        rest.strip_suffix("_dt").or_else(|| rest.strip_suffix("dt")).map(str::to_string)
    };
    let field = word.strip_suffix("_t").map(str::to_string).or_else(|| between(word));
    let field = field.filter(|field| !field.is_empty() && *word != *"ddt")?;
    Some(format!("write `ddt({field}) = ..;`"))
}

/// The way out of an item that is written as an equation but gives no rate. `word` is its first one, `is_named` says whether the
/// `=` comes right behind it.
pub(super) fn equation(word: &str, is_named: bool) -> String {
    match is_named {
        true => format!("write `let {word} = ..;` for a name, `ddt({word}) = ..;` for the rate of a field"),
        false => "an equation gives the rate of a field: `ddt(f) = ..;`. What holds without a rate, as a Poisson equation does, \
            is not solved for; `ddt(f) = lap(f) + w;` comes to rest where `lap(f) = -w`"
            .to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_derivatives_are_read() {
        let cases = [
            ("dx", "write `d[x](f)`"),
            ("ddy", "write `d[y](f)`"),
            ("d_dz", "write `d[z](f)`"),
            ("dxx", "write `d2[x](f)`"),
            ("d2dx2", "write `d2[x](f)`"),
            ("dxy", "write `d[x](d[y](f))`"),
            ("partial_x", "write `d[x](f)`"),
        ];
        for (word, way) in cases {
            assert_eq!(function(word).as_deref(), Some(way), "{word}");
        }
        for word in ["density", "d", "damp", "delta", "dex"] {
            assert_eq!(function(word), None, "{word}");
        }
    }
}
