/** Formats of numbers, amounts and times. */

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat("en", { maximumSignificantDigits: 3, notation: "compact" });
const FULL_TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

export function showNumber(number: number | bigint): string {
  return WHOLE.format(number);
}

/** Formats a number briefly, such as 1.2K or 30M. */
export function showShort(number: number): string {
  return SHORT.format(number);
}

export function showPercent(part: number, whole: number): string {
  const percent = whole === 0 ? 0 : (100 * part) / whole;
  return `${percent > 0 && percent < 10 ? percent.toFixed(1) : Math.round(percent)} %`;
}

/** Shortens hex to `0x1234…abcd`. */
export function showShortHex(hex: string, kept = 4): string {
  return hex.length <= 2 * kept + 4 ? hex : `${hex.slice(0, kept + 2)}…${hex.slice(-kept)}`;
}

/** A quantity of JSON-RPC as a number; 0 for none. */
export function numberOf(quantity: string | null | undefined): number {
  return quantity === null || quantity === undefined ? 0 : Number(quantity);
}

/** Formats an amount with its decimals, exactly, without trailing zeros: 1500000000000000000 with 18 is 1.5. */
export function showAmount(amount: bigint, decimals: number): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  const shown = `${showNumber(BigInt(whole))}${fraction === "" ? "" : `.${fraction}`}`;
  return amount < 0n ? `−${shown}` : shown;
}

/** Shows a duration as `4 s`, `12 min`, `3 h` or `5 d`. */
export function showDuration(seconds: number): string {
  if (seconds < 60) return `${Math.max(0, Math.floor(seconds))} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** Formats the time between two blocks, a whole number when only timestamps are known. */
export function showSeconds(seconds: number): string {
  if (Number.isInteger(seconds)) return `${showNumber(seconds)} s`;
  return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
}

export function showBytes(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  const unit = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log(bytes) / Math.log(1024)));
  const amount = bytes / 1024 ** unit;
  return `${amount < 10 && unit > 0 ? amount.toFixed(1) : Math.round(amount)} ${units[unit]}`;
}

/** Formats a timestamp, in seconds since 1970, in the visitor's time zone. */
export function showTime(timestamp: number): string {
  return FULL_TIME.format(timestamp * 1_000);
}

/** Makes text from the chain safe: escapes characters that control the direction or the screen, and cuts very long text. */
export function showText(text: string, longest = 500): string {
  const visible = text.replace(UNSEEN, "\u{fffd}");
  return visible.length > longest ? `${visible.slice(0, longest)}…` : visible;
}

const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029]/gu;

/** Formats wei in the chain's coin. */
export function showCoins(wei: bigint | string): string {
  return showAmount(BigInt(wei), 18);
}

export function showGwei(wei: bigint | string): string {
  return `${showAmount(BigInt(wei), 9)} gwei`;
}

/** Formats a price per gas: in wei when small, like the floors of private networks. */
export function showPrice(wei: bigint | string): string {
  const amount = BigInt(wei);
  return amount < 1_000_000n ? `${showNumber(amount)} wei` : showGwei(amount);
}

/** The message of a failure. Wallets also reject with objects that are not errors. */
export function messageOf(error: unknown): string {
  if (typeof error === "object" && error !== null && "message" in error) return String(error.message);
  return String(error);
}
