//! Parsing of the header of a kernel: its declarations.

use std::collections::BTreeMap;

use crate::expr::{self, text::Operations};
use crate::kernel::{
    BarrierArray, Buffer, BufferId, CellVar, Extreme, IntVar, Kernel, Launch, Mode, Reg,
    SharedArray, SharedId,
};
use crate::plan::Place;
use crate::schedule::LaunchKind;
use crate::syntax::{Lexer, TextError, Token};

pub(super) type Result<T> = std::result::Result<T, TextError>;

/// Depth of nesting that the parser follows before it gives up.
const DEEPEST: usize = 200;

/// Parses the text of a kernel.
///
/// # Errors
/// If the text is not a kernel, or uses a name that is not declared.
pub fn parse(text: &str) -> Result<Kernel> {
    let mut lexer = Lexer::new(text)?;
    lexer.keyword("kernel")?;
    let operations = Operations::new();
    let mut parser = Parser {
        kernel: empty(lexer.name()?),
        registers: BTreeMap::new(),
        operations,
        lexer,
        depth: 0,
    };
    parser.lexer.expect('{')?;
    while !parser.lexer.eat_name("code") {
        parser.declaration()?;
    }
    parser.kernel.body = parser.block()?;
    parser.lexer.expect('}')?;
    match parser.lexer.peek() {
        Token::End => Ok(parser.kernel),
        other => parser.lexer.error(format!("expected the end of the text, found {other:?}")),
    }
}

fn empty(name: String) -> Kernel {
    Kernel {
        name,
        notes: Vec::new(),
        dimension: 3,
        value_bytes: 4,
        launch: Launch {
            kind: LaunchKind::Blocks,
            threads: [1; 3],
            tile: [1; 3],
            runs: false,
            extend: [0; 3],
            blocks_per_unit: 1,
        },
        buffers: Vec::new(),
        uniforms: Vec::new(),
        shared: Vec::new(),
        barriers: Vec::new(),
        registers: Vec::new(),
        origins: BTreeMap::new(),
        queues: Vec::new(),
        ints: Vec::new(),
        cells: Vec::new(),
        body: Vec::new(),
    }
}

/// The lexer, and the kernel as far as it is read.
pub(super) struct Parser {
    pub(super) lexer: Lexer,
    pub(super) kernel: Kernel,
    /// The registers by name: there may be many thousands.
    registers: BTreeMap<String, Reg>,
    pub(super) operations: Operations,
    depth: usize,
}

impl Parser {
    fn declaration(&mut self) -> Result<()> {
        let word = self.lexer.name()?;
        match word.as_str() {
            "note" => {
                let note = self.lexer.quoted()?;
                self.kernel.notes.push(note);
            }
            "dimension" => self.kernel.dimension = self.lexer.count()?,
            "value_bytes" => self.kernel.value_bytes = self.lexer.count()?,
            "launch" => self.kernel.launch = self.launch()?,
            "buffer" => {
                let buffer = self.buffer()?;
                self.kernel.buffers.push(buffer);
            }
            "shared" => {
                let (name, len) = self.sized()?;
                self.kernel.shared.push(SharedArray { name, len });
            }
            "barrier" => {
                let (name, slots) = self.sized()?;
                self.lexer.keyword("arrivals")?;
                let arrivals = self.number()?;
                self.kernel.barriers.push(BarrierArray { name, slots, arrivals });
            }
            "loop" => expr::text::parse_loop(&mut self.lexer, &mut self.operations)?,
            "routine" => expr::text::parse_routine(&mut self.lexer, &mut self.operations)?,
            "uniforms" => self.kernel.uniforms = self.names()?,
            "registers" => {
                self.kernel.registers = self.names()?;
                for (at, name) in self.kernel.registers.iter().enumerate() {
                    // Of two with one name the first is meant.
                    let reg = self.registers.entry(name.clone());
                    reg.or_insert(Reg(at as u32));
                }
            }
            "for" => {
                let function = self.lexer.name()?;
                for name in self.names()? {
                    let reg = self.register(&name, "register")?;
                    self.kernel.origins.insert(reg, function.clone());
                }
            }
            "ints" => self.kernel.ints = self.names()?,
            "cells" => self.kernel.cells = self.names()?,
            "queues" => {
                let names = self.names()?;
                self.kernel.queues =
                    names.iter().map(|n| self.register(n, "register")).collect::<Result<_>>()?;
            }
            _ => return self.lexer.error(format!("`{word}` declares nothing")),
        }
        Ok(())
    }

    fn launch(&mut self) -> Result<Launch> {
        let kind = match self.lexer.name()?.as_str() {
            "rows" => LaunchKind::Rows,
            "blocks" => LaunchKind::Blocks,
            other => {
                return self.lexer.error(format!("expected `rows` or `blocks`, found `{other}`"));
            }
        };
        self.lexer.keyword("threads")?;
        let threads = self.triple(['[', ']'])?;
        self.lexer.keyword("tile")?;
        let tile = self.triple(['[', ']'])?;
        let runs = self.lexer.eat_name("runs");
        self.lexer.keyword("extend")?;
        let extend = self.triple(['[', ']'])?;
        self.lexer.keyword("blocks_per_unit")?;
        Ok(Launch { kind, threads, tile, runs, extend, blocks_per_unit: self.number()? })
    }

    fn buffer(&mut self) -> Result<Buffer> {
        let name = self.lexer.name()?;
        let mode = match self.lexer.name()?.as_str() {
            "read" => Mode::Read,
            "write" => Mode::Write,
            "readwrite" => Mode::ReadWrite,
            other => {
                return self
                    .lexer
                    .error(format!("expected `read`, `write` or `readwrite`, found `{other}`"));
            }
        };
        self.lexer.keyword("halo")?;
        Ok(Buffer {
            name,
            mode,
            halo: self.triple(['[', ']'])?,
            beside: self.beside()?,
            surface: self.lexer.eat_name("surface"),
            sent: self.lexer.eat_name("sent"),
            extreme: [Extreme::Largest, Extreme::Smallest]
                .into_iter()
                .find(|kept| self.lexer.eat_name(kept.name())),
        })
    }

    fn beside(&mut self) -> Result<Option<Place>> {
        if !self.lexer.eat_name("at") {
            return Ok(None);
        }
        let at = self.lexer.count()?;
        self.lexer.keyword("of")?;
        let of = self.lexer.count()?;
        self.lexer.keyword("behind")?;
        let before = self.lexer.count()?;
        Ok(Some(Place { at, of, ..Place::alone(before) }))
    }

    fn sized(&mut self) -> Result<(String, u32)> {
        let name = self.lexer.name()?;
        self.lexer.expect('[')?;
        let size = self.number()?;
        self.lexer.expect(']')?;
        Ok((name, size))
    }

    pub(super) fn number(&mut self) -> Result<u32> {
        let value = self.lexer.count()?;
        u32::try_from(value).or_else(|_| self.lexer.error(format!("{value} is too large")))
    }

    pub(super) fn triple(&mut self, [open, close]: [char; 2]) -> Result<[u32; 3]> {
        self.lexer.expect(open)?;
        let x = self.number()?;
        self.lexer.expect(',')?;
        let y = self.number()?;
        self.lexer.expect(',')?;
        let z = self.number()?;
        self.lexer.expect(close)?;
        Ok([x, y, z])
    }

    fn names(&mut self) -> Result<Vec<String>> {
        let mut names = vec![self.lexer.name()?];
        while self.lexer.eat(',') {
            names.push(self.lexer.name()?);
        }
        Ok(names)
    }

    pub(super) fn find(&self, names: &[String], name: &str, what: &str) -> Result<u32> {
        match names.iter().position(|n| n == name) {
            Some(at) => Ok(at as u32),
            None => self.lexer.error(format!("`{name}` is not a {what}")),
        }
    }

    pub(super) fn register(&self, name: &str, what: &str) -> Result<Reg> {
        match self.registers.get(name) {
            Some(reg) => Ok(*reg),
            None => self.lexer.error(format!("`{name}` is not a {what}")),
        }
    }

    pub(super) fn reg(&mut self) -> Result<Reg> {
        let name = self.lexer.name()?;
        self.register(&name, "register")
    }

    pub(super) fn int(&mut self) -> Result<IntVar> {
        let name = self.lexer.name()?;
        self.find(&self.kernel.ints, &name, "integer variable").map(IntVar)
    }

    pub(super) fn cell(&mut self) -> Result<CellVar> {
        let name = self.lexer.name()?;
        self.find(&self.kernel.cells, &name, "cell").map(CellVar)
    }

    pub(super) fn buffer_id(&mut self) -> Result<BufferId> {
        let name = self.lexer.name()?;
        match self.kernel.buffers.iter().position(|b| b.name == name) {
            Some(at) => Ok(BufferId(at as u32)),
            None => self.lexer.error(format!("`{name}` is not a buffer")),
        }
    }

    pub(super) fn array_id(&mut self) -> Result<SharedId> {
        let name = self.lexer.name()?;
        match self.kernel.shared.iter().position(|a| a.name == name) {
            Some(at) => Ok(SharedId(at as u32)),
            None => self.lexer.error(format!("`{name}` is not a shared array")),
        }
    }

    pub(super) fn deeper(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > DEEPEST { self.lexer.error("nested too deeply") } else { Ok(()) }
    }

    pub(super) fn shallower(&mut self) {
        self.depth -= 1;
    }
}
