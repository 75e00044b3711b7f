//! The lexer under the texts of all stages: names, numbers, quoted strings and punctuation, with
//! line numbers for messages.

use std::fmt;

/// An error in a stage's text, with its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// 1-based line.
    pub line: usize,
    /// One line: the token that was expected, or found.
    pub message: String,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for TextError {}

/// One token.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// A name: letters, digits, `_`, `.` and `@`, not starting with a digit.
    Name(String),
    /// An unsigned number, as written.
    Number(String),
    /// A string between double quotes, with the escapes `\"`, `\\` and ` ` resolved.
    Quoted(String),
    /// One punctuation character.
    Punct(char),
    /// End of text.
    End,
}

/// Tokens of a text and a place among them.
pub struct Lexer {
    tokens: Vec<(Token, usize)>,
    at: usize,
}

type Result<T> = std::result::Result<T, TextError>;

impl Lexer {
    /// Splits a text; `#` starts a comment that ends with the line.
    pub fn new(text: &str) -> Result<Self> {
        let mut tokens = Vec::new();
        let chars: Vec<char> = text.chars().collect();
        let (mut i, mut line) = (0, 1);
        while i < chars.len() {
            let c = chars[i];
            let start = i;
            if c == '\n' {
                line += 1;
                i += 1;
            } else if c.is_whitespace() {
                i += 1;
            } else if c == '#' {
                while i < chars.len() && chars[i] != '\n' {
                    i += 1;
                }
            } else if c.is_ascii_alphabetic() || c == '_' || c == '@' {
                while i < chars.len()
                    && (chars[i].is_ascii_alphanumeric() || matches!(chars[i], '_' | '.' | '@'))
                {
                    i += 1;
                }
                tokens.push((Token::Name(chars[start..i].iter().collect()), line));
            } else if c.is_ascii_digit() {
                while i < chars.len() && number_goes_on(&chars, start, i) {
                    i += 1;
                }
                tokens.push((Token::Number(chars[start..i].iter().collect()), line));
            } else if c == '"' {
                let (value, next) = quoted(&chars, i + 1, line)?;
                tokens.push((Token::Quoted(value), line));
                i = next;
            } else {
                tokens.push((Token::Punct(c), line));
                i += 1;
            }
        }
        tokens.push((Token::End, line));
        Ok(Lexer { tokens, at: 0 })
    }

    /// The next token, left in place.
    pub fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    /// The token after the next, left in place.
    pub fn peek_second(&self) -> &Token {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0
    }

    /// Takes the next token.
    pub fn take(&mut self) -> Token {
        let token = self.tokens[self.at].0.clone();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    /// An error at the next token.
    pub fn error<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(TextError { line: self.tokens[self.at].1, message: message.into() })
    }

    /// Is the next token this punctuation?
    pub fn is(&self, punct: char) -> bool {
        *self.peek() == Token::Punct(punct)
    }

    /// Takes this punctuation if it is next.
    pub fn eat(&mut self, punct: char) -> bool {
        let found = self.is(punct);
        if found {
            self.take();
        }
        found
    }

    /// Takes this punctuation or fails.
    pub fn expect(&mut self, punct: char) -> Result<()> {
        if self.eat(punct) {
            Ok(())
        } else {
            self.error(format!("expected `{punct}`, found {:?}", self.peek()))
        }
    }

    /// Is the next token this name?
    pub fn is_name(&self, name: &str) -> bool {
        matches!(self.peek(), Token::Name(n) if n == name)
    }

    /// Takes this name if it is next.
    pub fn eat_name(&mut self, name: &str) -> bool {
        let found = self.is_name(name);
        if found {
            self.take();
        }
        found
    }

    /// Takes this name or fails.
    pub fn keyword(&mut self, name: &str) -> Result<()> {
        if self.eat_name(name) {
            Ok(())
        } else {
            self.error(format!("expected `{name}`, found {:?}", self.peek()))
        }
    }

    /// Takes a name.
    pub fn name(&mut self) -> Result<String> {
        match self.peek().clone() {
            Token::Name(name) => {
                self.take();
                Ok(name)
            }
            other => self.error(format!("expected a name, found {other:?}")),
        }
    }

    /// Takes a quoted string.
    pub fn quoted(&mut self) -> Result<String> {
        match self.peek().clone() {
            Token::Quoted(text) => {
                self.take();
                Ok(text)
            }
            other => self.error(format!("expected a quoted string, found {other:?}")),
        }
    }

    /// Takes an integer with an optional minus sign.
    pub fn integer(&mut self) -> Result<i64> {
        let negative = self.eat('-');
        match self.peek().clone() {
            Token::Number(text) => match text.parse::<i64>() {
                Ok(value) => {
                    self.take();
                    Ok(if negative { -value } else { value })
                }
                Err(_) => self.error(format!("`{text}` is not an integer")),
            },
            other => self.error(format!("expected an integer, found {other:?}")),
        }
    }

    /// Takes an integer that is not negative.
    pub fn count(&mut self) -> Result<usize> {
        let value = self.integer()?;
        usize::try_from(value).or_else(|_| self.error(format!("{value} is negative")))
    }

    /// Takes a real number with an optional minus sign.
    pub fn real(&mut self) -> Result<f64> {
        let negative = self.eat('-');
        match self.peek().clone() {
            Token::Number(text) => match text.parse::<f64>() {
                Ok(value) if value.is_infinite() => {
                    self.error(format!("`{text}` is larger than any number"))
                }
                Ok(value) => {
                    self.take();
                    Ok(if negative { -value } else { value })
                }
                Err(_) => self.error(format!("`{text}` is not a number")),
            },
            other => self.error(format!("expected a number, found {other:?}")),
        }
    }

    /// Takes `[a, b, c]`.
    pub fn offset(&mut self) -> Result<[i32; 3]> {
        let mut out = [0; 3];
        self.expect('[')?;
        for (axis, slot) in out.iter_mut().enumerate() {
            if axis > 0 {
                self.expect(',')?;
            }
            let value = self.integer()?;
            *slot = i32::try_from(value)
                .or_else(|_| self.error(format!("{value} is too large an offset")))?;
        }
        self.expect(']')?;
        Ok(out)
    }
}

fn number_goes_on(chars: &[char], start: usize, i: usize) -> bool {
    let c = chars[i];
    c.is_ascii_digit()
        || c == '.'
        || (matches!(c, 'e' | 'E')
            && chars[start..i].iter().all(|c| c.is_ascii_digit() || *c == '.'))
        || (c == '-' && matches!(chars[i - 1], 'e' | 'E'))
}

fn quoted(chars: &[char], mut i: usize, line: usize) -> Result<(String, usize)> {
    let mut value = String::new();
    while i < chars.len() {
        match chars[i] {
            '"' => return Ok((value, i + 1)),
            '\\' if i + 1 < chars.len() => {
                value.push(if chars[i + 1] == 'n' { '\n' } else { chars[i + 1] });
                i += 1;
            }
            c => value.push(c),
        }
        i += 1;
    }
    Err(TextError { line, message: "a string is not closed".into() })
}

/// A string between double quotes, as [`Lexer`] reads it back.
pub fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
