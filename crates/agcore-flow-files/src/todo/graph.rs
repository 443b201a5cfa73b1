//! Longest chains and cycles of dependencies, in time that is linear in the number of dependencies.

/// Returns the number of todos on the longest chain of dependants that begins with each todo, or a cycle in which each todo
/// depends on the next.
///
/// Todos are numbered. A chain can be as long as the list, so nothing here is recursive.
pub(super) fn longest_chains(dependencies: &[Vec<usize>]) -> Result<Vec<u32>, Vec<usize>> {
    let mut dependants = vec![0_usize; dependencies.len()];
    for dependency in dependencies.iter().flatten() {
        dependants[*dependency] += 1;
    }
    let mut lengths = vec![1_u32; dependencies.len()];
    // Todos on which no other todo depends any more, the ends of chains first.
    let mut ends: Vec<usize> = (0..dependencies.len()).filter(|todo| dependants[*todo] == 0).collect();
    let mut done = 0;
    while let Some(todo) = ends.pop() {
        done += 1;
        for &dependency in &dependencies[todo] {
            lengths[dependency] = lengths[dependency].max(lengths[todo] + 1);
            dependants[dependency] -= 1;
            if dependants[dependency] == 0 {
                ends.push(dependency);
            }
        }
    }
    if done == dependencies.len() {
        return Ok(lengths);
    }
    Err(cycle(dependencies, &dependants))
}

/// Returns a cycle. The todos that still have dependants are those in cycles and those on which these depend.
fn cycle(dependencies: &[Vec<usize>], dependants: &[usize]) -> Vec<usize> {
    // Walking from a todo to one of those that depend on it stays among them, and must come back to where it was.
    let mut users: Vec<Option<usize>> = vec![None; dependencies.len()];
    for (todo, dependencies) in dependencies.iter().enumerate() {
        if dependants[todo] > 0 {
            for &dependency in dependencies {
                users[dependency] = Some(todo);
            }
        }
    }
    let mut seen = vec![None; dependencies.len()];
    let mut path = Vec::new();
    let mut next = dependants.iter().position(|count| *count > 0);
    while let Some(todo) = next {
        if let Some(start) = seen[todo] {
            path.drain(..start);
            break;
        }
        seen[todo] = Some(path.len());
        path.push(todo);
        next = users[todo];
    }
    // The path leads from dependencies to dependants.
    path.reverse();
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(dependencies: &[&[usize]], expected: Result<&[u32], usize>) {
        let dependencies: Vec<Vec<usize>> = dependencies.iter().map(|list| list.to_vec()).collect();
        match (longest_chains(&dependencies), expected) {
            (Ok(lengths), Ok(expected)) => assert_eq!(lengths, expected),
            (Err(cycle), Err(length)) => {
                assert_eq!(cycle.len(), length, "{cycle:?}");
                for (index, todo) in cycle.iter().enumerate() {
                    let next = cycle[(index + 1) % cycle.len()];
                    assert!(dependencies[*todo].contains(&next), "{cycle:?}");
                }
            }
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn chains_are_measured_and_cycles_found() {
        check(&[], Ok(&[]));
        check(&[&[], &[0], &[1], &[]], Ok(&[3, 2, 1, 1]));
        check(&[&[], &[0], &[0, 1], &[0, 0]], Ok(&[3, 2, 1, 1]));
        check(&[&[0]], Err(1));
        check(&[&[1], &[0]], Err(2));
        // The cycle needs 3, and 4 needs the cycle.
        check(&[&[1, 3], &[2], &[0], &[], &[0]], Err(3));
        check(&[&[], &[2, 0], &[1, 0], &[1, 4], &[3]], Err(2));
    }
}
