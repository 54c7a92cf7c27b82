const MONTHS = "January February March April May June July August September October November December".split(
  " ",
);
const DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");

/** `strftime` for a day `YYYY-MM-DD` at 00:00 UTC, in English whatever the machine's locale. */
export function formatDate(date: string, format: string): string {
  const [year = "", month = "", day = ""] = date.split("-");
  const monthName = MONTHS[Number(month) - 1] ?? "";
  const dayName = DAYS[new Date(`${date}T00:00:00Z`).getUTCDay()] ?? "";
  const parts = new Map([
    ["%Y", year],
    ["%y", year.slice(2)],
    ["%m", month],
    ["%d", day],
    ["%-d", String(Number(day))],
    ["%B", monthName],
    ["%b", monthName.slice(0, 3)],
    ["%A", dayName],
    ["%a", dayName.slice(0, 3)],
    ["%F", date],
    ["%H", "00"],
    ["%M", "00"],
    ["%S", "00"],
    ["%%", "%"],
  ]);
  return format.replace(/%-?[a-zA-Z%]/g, (part) => parts.get(part) ?? part);
}
