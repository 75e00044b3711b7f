//! Rules of faces keep the invariants of an algorithm, and leave alone what they do not reach.

use super::*;
use crate::algorithm::text;
use crate::discretize::discretize;
use crate::model::parse::parse_str;

fn light() -> Algorithm {
    let model = parse_str(
        "system Light in 3d { edge field e: vector; face field b: vector; field q: scalar;
            param marks: real = 1;
            ddt(e) = marks*curl(b); ddt(b) = -curl(e); ddt(q) = div(b); }
         scheme s for Light { space: central<order = 2>; time: ssprk2; }",
    );
    discretize(&model.unwrap_or_else(|e| panic!("{e:?}"))).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn rules_of_faces_keep_the_invariants() {
    let light = light();
    let faces = OpenFaces {
        marks: light.free_name("marks"),
        closed: vec![("b".into(), [true, true, false])],
        held: [("e_y", 0), ("e_z", 0), ("e_z", 1)]
            .map(|(state, axis)| Held { state: state.into(), axis, value: 0.5 })
            .into(),
    };
    assert_eq!(faces.marks, "marks_");
    let made = light.with_open_faces(&faces);
    assert_eq!(made.check(), Ok(()));
    assert_eq!(text::parse(&text::print(&made)).map_err(|e| e.to_string()), Ok(made.clone()));
    assert_eq!(made.states[..light.states.len()], light.states[..]);
    assert_eq!(made.states.last().map(|state| state.role), Some(Role::Given));
    // The divergence reads `b_x` and `b_y` below, and the face along z is not open. Curls read the faces above.
    let readers = |name: &str| {
        let of = made.find(name).unwrap_or_else(|| panic!("no {name}"));
        made.functions.iter().filter(|f| f.def.reads().any(|read| read.of == of)).count()
    };
    assert_eq!([readers("b_x_closed"), readers("b_y_closed")], [1, 1]);
    assert!(made.find("b_z_closed").is_none());
    for substep in &made.substeps {
        let held =
            substep.updates.iter().filter(|(_, of)| made.function(*of).name.ends_with("held"));
        assert_eq!(held.count(), 2);
    }
}
