import { DIM, type LogLine, levelColor, painter, textOf, visible } from "./textLine.ts";

interface TerminalSettings {
  readonly isColored: boolean;
  /** Current width of the window; undefined when unknown. */
  columns(): number | undefined;
}

/** A piece of a line that is not broken; `code` is its colour. */
interface Word {
  readonly text: string;
  readonly code?: string | undefined;
}

/**
 * Formats JSON lines for a person at a terminal: the time of day, the level and class unless the level is the usual one, the
 * sentence, and as many fields as fit into the rest of the line, hashes and addresses last and shortened to their ends.
 * Warnings and errors show all fields, on further lines if needed.
 *
 *     14:03:20 Produced #20 transactions=3 pending=0 gasUsed=63000 gasPercent=0.2 …
 */
export function createTerminalLines({ isColored, columns }: TerminalSettings): (line: LogLine) => string {
  const paint = painter(isColored);
  const shown = (words: readonly Word[]): string =>
    words.map(({ text, code }) => (code === undefined ? text : paint(text, code))).join(" ");
  return ({ timestamp, thread: _, level, class: module, message, throwable, ...fields }) => {
    // A terminal whose size was never set has 0 columns.
    const width = Math.max(columns() || USUAL_COLUMNS, LEAST_COLUMNS) - INDENT.length;
    const sentence = sentenceOf(String(level), String(module), String(message));
    const texts = fieldTexts(fields, String(message));
    const isWhole = level === "WARN" || level === "ERROR";
    const lines = isWhole
      ? wrapped([...sentence, ...texts.map(asField)], width)
      : withFields(wrapped(sentence, width), hashesLast(texts).map(asField), width);
    const time = paint(timeOfDay(new Date(String(timestamp))), DIM);
    const stack = throwable === undefined ? "" : `${String(throwable)}\n`;
    return `${time} ${lines.map(shown).join(`\n${INDENT}`)}\n${stack}`;
  };
}

function sentenceOf(level: string, module: string, message: string): readonly Word[] {
  const label = level === "INFO" ? [] : [{ text: level, code: levelColor(level) }, { text: `${module}:` }];
  const words = visible(message)
    .split(" ")
    .map((text) => ({ text }));
  return [...label, ...words];
}

/** All fields, except a block's number where the sentence ends with it. */
function fieldTexts(fields: LogLine, message: string): readonly string[] {
  return Object.entries(fields)
    .filter(([name, value]) => value !== undefined && !(name === "number" && message.endsWith(`#${value}`)))
    .map(([name, value]) => `${name}=${textOf(value)}`);
}

const asField = (text: string): Word => ({ text, code: DIM });

/**
 * Moves hashes, addresses and keys behind the other fields and shortens them to their ends: the log as JSON or as TEXT has
 * them whole.
 */
function hashesLast(fields: readonly string[]): readonly string[] {
  const short = fields.map((text) => text.replace(HEX, (hex) => `${hex.slice(0, 6)}…${hex.slice(-4)}`));
  const isCut = (text: string, index: number): boolean => text !== fields[index];
  return [...short.filter((text, index) => !isCut(text, index)), ...short.filter(isCut)];
}

const HEX = /0x[0-9a-f]{20,}/g;

/** The lines of a sentence, the last one with the fields that fit; an ellipsis stands for the others. */
function withFields(
  lines: readonly (readonly Word[])[],
  fields: readonly Word[],
  width: number,
): readonly (readonly Word[])[] {
  const last = lines.at(-1) ?? [];
  const [whole = [], ...others] = wrapped([...last, ...fields], width);
  if (others.length === 0) return [...lines.slice(0, -1), whole];
  const [part = []] = wrapped([...last, ...fields], width - 2);
  return part.length < last.length ? lines : [...lines.slice(0, -1), [...part, { text: "…", code: DIM }]];
}

/** Breaks words into lines, each as long as fits; a word longer than a line has one of its own. */
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

function timeOfDay(date: Date): string {
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
}

/** Indentation of further lines, below the beginning of the sentence. */
const INDENT = " ".repeat("14:03:20 ".length);
const USUAL_COLUMNS = 80;
/** Width below which the terminal breaks the lines itself. */
const LEAST_COLUMNS = 32;
