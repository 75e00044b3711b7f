//! Names that may be declared.
//!
//! Names go into generated C, device and Rust source unchanged, so words that these languages use or reserve cannot be
//! names.

/// Longest name, in characters.
const LONGEST: usize = 60;

/// Longest number behind a name, with its underscore.
const LONGEST_SUFFIX: usize = 8;

/// Words of this language that a local name of a function may not be either.
const KEYWORDS: &str = "system scheme field param source let ddt where and in for fn mut if else \
    observe cfl real scalar vector tensor d d2 d3 d4 d5 d6 d7 d8 t dt dx dy dz pi epsilon I";

/// Words of this language that a local name may be: functions do not see the coordinates.
const COORDINATES: &str = "x y z";

/// Keywords of C, C++ and device languages, and the names that kernels rely on.
const C: &str = "alignas alignof and_eq asm atomic_cancel atomic_commit atomic_noexcept auto bitand \
    bitor bool break case catch char char8_t char16_t char32_t class co_await co_return co_yield \
    compl concept const const_cast consteval constexpr constinit continue decltype default delete \
    do double dynamic_cast else enum explicit export extern false final float friend goto if \
    import inline int long module mutable namespace new noexcept not not_eq nullptr operator or \
    or_eq override private protected public register reinterpret_cast requires restrict return \
    short signed sizeof static static_assert static_cast struct switch synchronized template this \
    thread_local throw true try typedef typeid typename typeof union unsigned using virtual void \
    volatile wchar_t while xor xor_eq \
    NULL NAN INFINITY assert blockDim blockIdx gridDim threadIdx warpSize dim3 half main size_t \
    ptrdiff_t std nv cooperative_groups \
    fabs fabsf fma fmaf fmax fmaxf fmin fminf pow powf rsqrt rsqrtf sqrtf";

/// Keywords of Rust that are not above, and its primitive types.
const RUST: &str = "Self abstract as async await become box core crate dyn f16 f32 f64 f128 fn gen i8 i16 \
    i32 i64 i128 impl isize loop macro match mod move mut priv pub ref self str super trait type u8 u16 \
    u32 u64 u128 unsafe unsized use usize yield";

/// The way out of an error about a name.
pub(in crate::model) const WAY_OUT: &str =
    "choose another name: ASCII letters, digits and single underscores, no word of Rust or C";

/// The reason why `name` cannot name a field, parameter, `let` or system.
pub(in crate::model) fn problem(name: &str) -> Option<String> {
    let is_in = |words: &str| words.split_whitespace().any(|word| word == name);
    if let Some(problem) = function_problem(name) {
        return Some(problem);
    }
    if is_in(C) {
        return Some(format!("`{name}` has a meaning in C, C++ or a device language"));
    }
    if is_in(RUST) {
        return Some(format!("`{name}` has a meaning in Rust"));
    }
    None
}

/// The reason why `name` cannot be a local name of a function, which no generated source shows.
pub(in crate::model) fn local_problem(name: &str) -> Option<String> {
    shape_problem(name).or_else(|| word_problem(name))
}

/// The reason why `name` cannot name a function, which no generated source shows.
pub(in crate::model) fn function_problem(name: &str) -> Option<String> {
    let coordinate = COORDINATES.split_whitespace().any(|word| word == name);
    let word = coordinate.then(|| format!("`{name}` is a word of the language"));
    word.or_else(|| local_problem(name))
}

/// Is `name` a word or a function of the language?
fn word_problem(name: &str) -> Option<String> {
    let word = KEYWORDS.split_whitespace().any(|word| word == name);
    let function = crate::catalogue::Function::find(name).is_some()
        || super::calls::WRITTEN_OUT.contains(&name);
    (word || function).then(|| format!("`{name}` is a word of the language"))
}

/// The part of a name that stays when a number is appended: with any number from 1 on this is a plain identifier,
/// whatever `name` is.
pub(super) fn stem(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let mut stem = words.join("_");
    stem.truncate(LONGEST - LONGEST_SUFFIX);
    match stem.starts_with(|c: char| c.is_ascii_alphabetic()) {
        true => stem.trim_end_matches('_').to_string(),
        false => "value".to_string(),
    }
}

/// The reason why `name` is not a plain identifier of all the languages concerned.
pub(in crate::model) fn shape_problem(name: &str) -> Option<String> {
    if name.starts_with("r#") {
        return Some("names are plain words, without `r#`".to_string());
    }
    if !name.is_ascii() {
        return Some(format!("`{name}` is not ASCII: spell it out, such as `mu`"));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(plain) || name.starts_with(|c: char| c.is_ascii_digit())
    {
        return Some(format!("`{name}` is no identifier"));
    }
    if name.starts_with('_') {
        return Some(format!("`{name}` starts with an underscore"));
    }
    if name.contains("__") {
        return Some(format!("`{name}` contains a double underscore"));
    }
    if name.len() > LONGEST {
        return Some(format!("the name is longer than {LONGEST} characters"));
    }
    None
}
