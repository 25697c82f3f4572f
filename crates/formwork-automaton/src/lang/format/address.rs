//! IP addresses.

/// Four decimal octets, without leading zeros.
pub(super) fn ipv4() -> String {
    let octet = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
    format!(r"{octet}\.{octet}\.{octet}\.{octet}")
}

/// RFC 4291's three forms, without a zone. One `::` stands for one group or more.
pub(super) fn ipv6() -> String {
    compressed(1)
}

/// RFC 5321's, where `::` stands for two groups or more.
pub(super) fn ipv6_in_mail() -> String {
    compressed(2)
}

fn compressed(fewest: usize) -> String {
    let group = "[0-9A-Fa-f]{1,4}";
    let last = format!("(?:{group}:{group}|{})", ipv4());
    let groups = |n: usize| format!("{group}:").repeat(n);
    let mut forms = vec![format!("{}{last}", groups(6))];
    // What stands after `::`, with the number of groups that it makes.
    let tails = [(0, String::new()), (1, group.to_owned())]
        .into_iter()
        .chain((0..=5).map(|n| (n + 2, format!("{}{last}", groups(n)))));
    for (after, tail) in tails {
        let Some(most) = 8_usize.checked_sub(fewest + after) else { continue };
        let head = match most {
            0 => String::new(),
            most => format!("(?:(?:{group}:){{0,{}}}{group})?", most - 1),
        };
        forms.push(format!("{head}::{tail}"));
    }
    format!("(?:{})", forms.join("|"))
}
