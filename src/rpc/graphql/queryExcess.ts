import type { Steps } from "../../primitives/steps.ts";

/** The place from which a query has too much of what is made in one go by a lexer: what lies between tokens, or the lines of one. */
export interface Excess {
  readonly at: number;
  readonly kind: "whitespace" | "comments" | "lines of a block string";
  readonly limit: number;
}

/** Spaces, commas and ends of lines between the tokens, as in Besu. */
const QUERY_BLANKS = 200_000;
/** Comments, as in Besu. */
const QUERY_COMMENTS = 15_000;
/** Ends of lines in one block string; Besu has no limit. */
const BLOCK_STRING_LINES = 15_000;

/**
 * The first excess of a query; undefined if it has none. Up to there, or up to the first characters that are no token, it sees the
 * comments and strings that a lexer sees.
 */
export function* firstExcess(query: string): Steps<Excess | undefined> {
  if (query.length <= BLOCK_STRING_LINES) return undefined;
  let blanks = 0;
  let comments = 0;
  let at = 0;
  for (let step = 1; at < query.length; step++) {
    if (step % CHARACTERS_PER_STEP === 0) yield;
    const character = query[at] ?? "";
    if (BLANKS.has(character)) {
      if (++blanks > QUERY_BLANKS) return { at, kind: "whitespace", limit: QUERY_BLANKS };
      at++;
    } else if (character === "#") {
      if (++comments > QUERY_COMMENTS) return { at, kind: "comments", limit: QUERY_COMMENTS };
      at = placeOf(END_OF_LINE, query, at);
    } else if (query.startsWith('"""', at)) {
      const end = endOfBlockString(query, at);
      if (end === undefined) return { at, kind: "lines of a block string", limit: BLOCK_STRING_LINES };
      at = end;
    } else at = character === '"' ? yield* endOfString(query, at) : at + 1;
  }
  return undefined;
}

/** The place after a string, or that of the end of the line in which it does not end. */
function* endOfString(query: string, start: number): Steps<number> {
  let at = start + 1;
  for (let step = 1; ; step++) {
    if (step % CHARACTERS_PER_STEP === 0) yield;
    at = placeOf(NEXT_IN_STRING, query, at);
    if (query[at] === "\\") at += 2;
    else return query[at] === '"' ? at + 1 : at;
  }
}

/** The place after a block string, or the end of the query; undefined if it has too many lines. */
function endOfBlockString(query: string, start: number): number | undefined {
  let at = start + 3;
  for (let lines = 0; lines <= BLOCK_STRING_LINES; ) {
    at = placeOf(NEXT_IN_BLOCK, query, at);
    if (at >= query.length) return at;
    if (query[at] === '"') return at + 3;
    if (query[at] === "\\") at += 4;
    else {
      lines++;
      at += query.startsWith("\r\n", at) ? 2 : 1;
    }
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

/** They are read in less than a millisecond. */
const CHARACTERS_PER_STEP = 32 * 1024;
