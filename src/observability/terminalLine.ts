import { DIM, type LogLine, levelColor, painter, textOf, visible } from "./textLine.ts";

export interface TerminalSettings {
  readonly isColored: boolean;
  /** Width of the window now; undefined where it is not known. */
  columns(): number | undefined;
}

/** A piece of a line that is not broken; `code` is its colour. */
interface Word {
  readonly text: string;
  readonly code?: string | undefined;
}

/**
 * Formats JSON lines for a person who looks on: the time of day, the level and class unless the level is the usual one, the
 * sentence, and as many facts as fit into the window. Warnings and errors go on in further lines, since nothing of them may
 * be lost.
 *
 *     14:03:20 Produced #20 transactions=3 pending=0 gasUsed=63000 gasPercent=0.2 …
 */
export function createTerminalLines({ isColored, columns }: TerminalSettings): (line: LogLine) => string {
  const paint = painter(isColored);
  const shown = (words: readonly Word[]): string =>
    words.map(({ text, code }) => (code === undefined ? text : paint(text, code))).join(" ");
  return ({ timestamp, thread: _, level, class: module, message, throwable, ...facts }) => {
    const width = Math.max(columns() ?? USUAL_COLUMNS, LEAST_COLUMNS) - INDENT.length;
    const words = wordsOf(String(level), String(module), String(message), facts);
    const isWhole = level === "WARN" || level === "ERROR";
    const lines = isWhole ? wrapped(words, width) : [fitting(words, width)];
    const time = paint(timeOfDay(new Date(String(timestamp))), DIM);
    const stack = throwable === undefined ? "" : `${String(throwable)}\n`;
    return `${time} ${lines.map(shown).join(`\n${INDENT}`)}\n${stack}`;
  };
}

function wordsOf(level: string, module: string, message: string, facts: LogLine): readonly Word[] {
  const label = level === "INFO" ? [] : [{ text: level, code: levelColor(level) }, { text: `${module}:` }];
  const sentence = visible(message)
    .split(" ")
    .map((text) => ({ text }));
  const known = Object.entries(facts).filter(([, value]) => value !== undefined);
  return [
    ...label,
    ...sentence,
    ...known.map(([name, value]) => ({ text: `${name}=${shortened(textOf(value))}`, code: DIM })),
  ];
}

/** The words that fit into one line; an ellipsis stands for the others. */
function fitting(words: readonly Word[], width: number): readonly Word[] {
  const [whole = [], ...others] = wrapped(words, width);
  if (others.length === 0) return whole;
  const [part = []] = wrapped(words, width - 2);
  return [...part, { text: "…", code: DIM }];
}

/** Lines of the words, each as long as fits; a word that is longer than a line has one of its own. */
function wrapped(words: readonly Word[], width: number): readonly (readonly Word[])[] {
  const lines: Word[][] = [];
  let left = 0;
  for (const word of words) {
    const { length } = word.text;
    if (length + 1 <= left) {
      lines.at(-1)?.push(word);
      left -= length + 1;
    } else {
      lines.push([word]);
      left = width - length;
    }
  }
  return lines;
}

/** Hashes and keys by their ends: the log as JSON or as TEXT has all of them. */
function shortened(text: string): string {
  return text.replace(/0x[0-9a-f]{20,}/g, (hex) => `${hex.slice(0, 6)}…${hex.slice(-4)}`);
}

function timeOfDay(date: Date): string {
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
}

/** Below the sentence. */
const INDENT = " ".repeat("14:03:20 ".length);
const USUAL_COLUMNS = 80;
/** In a narrower window the terminal breaks the lines. */
const LEAST_COLUMNS = 32;
