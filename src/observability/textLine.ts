/** A parsed line of the JSON log. */
export type LogLine = Readonly<Record<string, unknown>>;

/**
 * Formats JSON lines as text in Besu's layout, which patterns of log shippers know (options.md#log-lines): time in UTC,
 * thread, level, class and message between bars. Fields follow as name=value, the stack of an error on lines of its own.
 */
export function createTextLines({ isColored }: { readonly isColored: boolean }): (line: LogLine) => string {
  const paint = painter(isColored);
  return ({ timestamp, thread, level, class: module, message, throwable, ...fields }) => {
    const time = String(timestamp).replace("T", " ").replace("Z", "+00:00");
    const levelName = String(level);
    const head = [paint(time, DIM), thread, paint(levelName.padEnd(5), levelColor(levelName)), module].join(
      " | ",
    );
    const tail = Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => ` ${paint(`${name}=${textOf(value)}`, DIM)}`)
      .join("");
    const stack = throwable === undefined ? "" : `\n${String(throwable)}`;
    return `${head} | ${visible(String(message))}${tail}${stack}\n`;
  };
}

/** Colors a text with a terminal's code, if colors are enabled. */
export function painter(isColored: boolean): (text: string, code: string) => string {
  return (text, code) => (isColored ? `${ESCAPE}[${code}m${text}${ESCAPE}[0m` : text);
}

/** The code of a level's color. */
export function levelColor(level: string): string {
  return COLORS[level] ?? PLAIN;
}

/** The value of a field, quoted only if it would be ambiguous otherwise. */
export function textOf(value: unknown): string {
  const isPlain = typeof value === "string" && /^[^\s"=]+$/.test(value);
  return visible(isPlain ? value : (JSON.stringify(value) ?? ""));
}

/** Escapes what would end the line or control a terminal, because names and reasons may come from an outsider. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Control characters, line separators, and marks that change the direction of text. */
const UNSEEN = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

const ESCAPE = String.fromCharCode(27);
const PLAIN = "0";
export const DIM = "2";
const COLORS: Readonly<Record<string, string>> = {
  ERROR: "31",
  WARN: "33",
  INFO: "32",
  DEBUG: "36",
  TRACE: "35",
};
