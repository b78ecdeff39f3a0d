/** Numbers, amounts and times as people read them. */

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat("en", { maximumSignificantDigits: 3, notation: "compact" });
const FULL_TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

export function showNumber(number: number | bigint): string {
  return WHOLE.format(number);
}

/** Such as 1.2K or 30M. */
export function showShort(number: number): string {
  return SHORT.format(number);
}

export function showPercent(part: number, whole: number): string {
  const percent = whole === 0 ? 0 : (100 * part) / whole;
  return `${percent > 0 && percent < 10 ? percent.toFixed(1) : Math.round(percent)} %`;
}

/** `0x1234…abcd`. */
export function showShortHex(hex: string, kept = 4): string {
  return hex.length <= 2 * kept + 4 ? hex : `${hex.slice(0, kept + 2)}…${hex.slice(-kept)}`;
}

/** As `4 s`, `12 min`, `3 h`, `5 d`. */
export function showDuration(seconds: number): string {
  if (seconds < 60) return `${Math.max(0, Math.floor(seconds))} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** A timestamp of seconds since 1970 in the visitor's time zone. */
export function showTime(timestamp: number): string {
  return FULL_TIME.format(timestamp * 1_000);
}
