//! The order of the tasks of a substep among cards.

use stencil_compiler::plan::Region;

use super::tasks::Task;

/// Lets each rim that follows the wait for an exchange begin as soon as the values of its card have come.
pub(super) fn begin_rims(tasks: &mut [Task]) {
    for at in 0..tasks.len() {
        let before = tasks[..at].iter().rev();
        let waits = before.take_while(|task| matches!(task, Task::Wait)).count();
        if let Task::Launch { launch, region: Region::Rim } = tasks[at]
            && waits > 0
        {
            tasks[at] = Task::Rim(launch);
            tasks[at - waits..=at].rotate_right(1);
        }
    }
}

/// Lets each launch that stores values in the memory of other cards wait for their launches before it, which may read what
/// was there.
pub(super) fn meet_before_stores(tasks: &mut Vec<Task>, stores: impl Fn(usize) -> bool) {
    let mut have_met = false;
    let before = std::mem::take(tasks);
    for task in before {
        match task {
            Task::Meet => have_met = true,
            Task::Launch { launch, .. } => {
                if stores(launch) && !have_met {
                    tasks.push(Task::Meet);
                }
                have_met = false;
            }
            _ => {}
        }
        tasks.push(task);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rim_waits_for_its_card_alone() {
        let part = |region| Task::Launch { launch: 3, region };
        let [interior, rim] = [Region::Interior, Region::Rim];
        let shown = |tasks: Vec<Task>| format!("{tasks:?}");
        let post = || Task::Post(Vec::new());
        let mut tasks = vec![post(), post(), part(interior), Task::Wait, Task::Wait, part(rim)];
        begin_rims(&mut tasks);
        let begun = vec![post(), post(), part(interior), Task::Rim(3), Task::Wait, Task::Wait];
        assert_eq!(shown(tasks), shown(begun));
        // Its values came with those of a launch before: other launches lie between.
        let mut tasks = vec![post(), Task::Wait, part(interior), part(rim)];
        begin_rims(&mut tasks);
        assert_eq!(shown(tasks), shown(vec![post(), Task::Wait, part(interior), part(rim)]));
    }
}
