//! RFC 3339: dates, times, and appendix A's durations.

use std::fmt::Write as _;

use super::Rules;
use crate::lang::{Lang, LangError};

const MINUTE: &str = "[0-5][0-9]";
const HOUR: &str = "(?:[01][0-9]|2[0-3])";
const FRACTION: &str = "(?:\\.[0-9]+)?";

pub(super) fn date(rules: Rules<'_>) -> Result<Lang, LangError> {
    rules.whole(&full_date())
}

pub(super) fn time(rules: Rules<'_>) -> Result<Lang, LangError> {
    let leap = rules.all(&leap_second(""))?;
    Ok(rules.0.or(rules.whole(&full_time())?, leap))
}

pub(super) fn date_time(rules: Rules<'_>) -> Result<Lang, LangError> {
    let [minutes, hours] = leap_second("[0-9]{4}-[01][0-9]-[0-3][0-9][Tt]");
    let leap = rules.all(&[minutes, hours, leap_day()])?;
    Ok(rules.0.or(rules.whole(&format!("{}[Tt]{}", full_date(), full_time()))?, leap))
}

pub(super) fn duration(rules: Rules<'_>) -> Result<Lang, LangError> {
    let n = "[0-9]+";
    let time = format!("T(?:{n}H(?:{n}M(?:{n}S)?)?|{n}M(?:{n}S)?|{n}S)");
    let date = format!("(?:{n}Y(?:{n}M(?:{n}D)?)?|{n}M(?:{n}D)?|{n}D)");
    rules.whole(&format!("P(?:{date}(?:{time})?|{time}|{n}W)"))
}

fn full_date() -> String {
    let month_and_day = "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])\
        |(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)\
        |02-(?:0[1-9]|1[0-9]|2[0-8])";
    let divisible_by_4 = "[02468][048]|[13579][26]";
    let leap_year = format!("(?:{divisible_by_4})00|[0-9]{{2}}(?:0[48]|[2468][048]|[13579][26])");
    format!("(?:[0-9]{{4}}-(?:{month_and_day})|(?:{leap_year})-02-29)")
}

/// A time without a leap second.
fn full_time() -> String {
    format!("{HOUR}:{MINUTE}:{MINUTE}{FRACTION}(?:[Zz]|[+\\-]{HOUR}:{MINUTE})")
}

/// Times whose second is 60: local time less offset is 23:59, said once of the minutes and once of the hours.
fn leap_second(date: &str) -> [String; 2] {
    let mut minutes = format!("59:60{FRACTION}[Zz]");
    for minute in 0..60 {
        let (ahead, behind) = ((minute + 1) % 60, 59 - minute);
        let _ = write!(minutes, "|{minute:02}:60{FRACTION}(?:\\+{HOUR}:{ahead:02}|-{HOUR}:{behind:02})");
    }
    let mut hours = format!("23:59:60{FRACTION}[Zz]");
    for hour in 0..24 {
        let (next, behind) = ((hour + 1) % 24, 23 - hour);
        let _ = write!(
            hours,
            "|{hour:02}:(?:{MINUTE}:60{FRACTION}-{behind:02}\
             |(?:[0-4][0-9]|5[0-8]):60{FRACTION}\\+{hour:02}|59:60{FRACTION}\\+{next:02}):{MINUTE}"
        );
    }
    [format!("{date}{HOUR}:(?:{minutes})"), format!("{date}(?:{hours})")]
}

/// Leap seconds end June or December in UTC (RFC 3339, section 5.7), which may be the day before the local one.
fn leap_day() -> String {
    let ahead = format!("\\+(?:00:(?:0[1-9]|[1-5][0-9])|(?:0[1-9]|1[0-9]|2[0-3]):{MINUTE})");
    let time = format!("[Tt][0-9:]{{8}}{FRACTION}");
    format!("[0-9]{{4}}-(?:(?:06-30|12-31){time}(?:[Zz]|-[0-9:]{{5}}|\\+00:00)|(?:07-01|01-01){time}{ahead})")
}
