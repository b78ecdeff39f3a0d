import { STEP_BYTES, StepMeter, type Steps } from "../../primitives/steps.ts";

/** The place from which a query has too much of what is made in one go by a lexer: what lies between tokens, or the lines of one. */
export interface Excess {
  readonly at: number;
  readonly kind: "whitespace" | "comments" | "lines of a block string" | "escapes of a string";
  readonly limit: number;
}

/** Spaces, commas and ends of lines between the tokens, as in Besu. */
const QUERY_BLANKS = 200_000;
/** Comments, as in Besu. */
const QUERY_COMMENTS = 15_000;
/** Ends of lines in one block string, and quotes that are escaped; Besu has no limit, and no field has a use for any. */
const BLOCK_STRING_LINES = 1_000;
/** Escaped characters in one string, likewise. */
const STRING_ESCAPES = 1_000;

/**
 * The first excess of a query; undefined if it has none. Up to there, or up to the first characters that are no token, it sees the
 * comments and strings that a lexer sees.
 */
export function* firstExcess(query: string): Steps<Excess | undefined> {
  if (query.length <= Math.min(BLOCK_STRING_LINES, STRING_ESCAPES)) return undefined;
  let blanks = 0;
  let comments = 0;
  let at = 0;
  const meter = new StepMeter();
  while (at < query.length) {
    const from = at;
    const character = query[at] ?? "";
    if (BLANKS.has(character)) {
      if (++blanks > QUERY_BLANKS) return { at, kind: "whitespace", limit: QUERY_BLANKS };
      at++;
    } else if (character === "#") {
      if (++comments > QUERY_COMMENTS) return { at, kind: "comments", limit: QUERY_COMMENTS };
      at = placeOf(END_OF_LINE, query, at);
    } else if (character === '"') {
      const end = endOfText(query, at);
      if (typeof end !== "number") return end;
      at = end;
    } else at++;
    if (meter.isFull((at - from) * CHARACTER_COST)) yield;
  }
  return undefined;
}

/** The place after a string of either kind, or its excess. */
function endOfText(query: string, at: number): number | Excess {
  if (query.startsWith('"""', at))
    return endOfBlockString(query, at) ?? { at, kind: "lines of a block string", limit: BLOCK_STRING_LINES };
  return endOfString(query, at) ?? { at, kind: "escapes of a string", limit: STRING_ESCAPES };
}

/** The place after a string, or that of the end of the line in which it does not end; undefined if it has too many escapes. */
function endOfString(query: string, start: number): number | undefined {
  let at = start + 1;
  for (let escapes = 0; escapes <= STRING_ESCAPES; escapes++) {
    at = placeOf(NEXT_IN_STRING, query, at);
    if (query[at] !== "\\") return query[at] === '"' ? at + 1 : at;
    at += 2;
  }
  return undefined;
}

/** The place after a block string, or the end of the query; undefined if it has too many lines. */
function endOfBlockString(query: string, start: number): number | undefined {
  let at = start + 3;
  for (let lines = 0; lines <= BLOCK_STRING_LINES; lines++) {
    at = placeOf(NEXT_IN_BLOCK, query, at);
    if (at >= query.length) return at;
    if (query[at] === '"') return at + 3;
    if (query[at] === "\\") at += 4;
    else at += query.startsWith("\r\n", at) ? 2 : 1;
  }
  return undefined;
}

/** The place where the pattern is found next, or the end of the text. */
function placeOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? text.length;
}

const BLANKS: ReadonlySet<string> = new Set([" ", "\t", "\n", "\r", ",", "\uFEFF"]);
const END_OF_LINE = /[\r\n]/g;
const NEXT_IN_STRING = /["\\\r\n]/g;
const NEXT_IN_BLOCK = /"""|\\"""|[\r\n]/g;

/** What adds to a step (StepMeter). */
const CHARACTER_COST = STEP_BYTES / (16 * 1024);
