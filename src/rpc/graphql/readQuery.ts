import { type DocumentNode, GraphQLError, Lexer, parse, Source, type Token, TokenKind } from "graphql";
import { STEP_BYTES, StepMeter, type Steps } from "../../primitives/steps.ts";
import { type GraphQlError, Refusal, type SourceLocation } from "./graphQlError.ts";
import { valueText } from "./javaText.ts";
import { parseTokens } from "./parseTokens.ts";
import { type Excess, firstExcess } from "./queryExcess.ts";

/*
 * Reads the text of a query into its tree, within graphql-java's bounds and with its messages. The tokens are counted and their
 * nesting measured before they are parsed, because a parser recurses. What a lexer reads in one go is bounded before that.
 */

/** Characters of a query, as in Besu. */
const QUERY_CHARACTERS = 1024 * 1024;
/** Tokens of a query, comments counted apart, as in Besu. */
const QUERY_TOKENS = 15_000;
/** Characters of a query that defines types: it is refused anyway, and graphql-js parses it in one go. */
const QUERY_WITH_TYPES_CHARACTERS = 2_048;
/** Rules of graphql-java's grammar that may be within one another, some three for each selection set. */
const RULE_DEPTH = 500;

/** The tree of a query. Throws a Refusal. */
export function* readQuery(query: string): Steps<DocumentNode> {
  if (query.length > QUERY_CHARACTERS) throw tooLong(QUERY_CHARACTERS);
  const source = new Source(query);
  const excess = yield* firstExcess(query);
  const read = excess === undefined ? source : new Source(query.slice(0, excess.at));
  const { tokens, brokenAt } = yield* readTokens(read, excess);
  yield;
  if (definesTypes(tokens)) return parseWithTypes(read, tokens);
  return yield* parseTokens({
    source,
    tokens,
    problemAt: (index) => problemAt(source, tokens, tokens[index]?.start ?? brokenAt),
  });
}

/** Whether a type is defined. What precedes the first of such definitions is a selection set, or nothing. */
function definesTypes(tokens: readonly Token[]): boolean {
  let open = 0;
  let isBegin = true;
  for (const { kind, value } of tokens) {
    if (isBegin && kind === TokenKind.NAME && TYPE_KEYWORDS.has(value)) return true;
    if (OPENING.has(kind)) open++;
    else if (CLOSING.has(kind)) open--;
    const isDescription = kind === TokenKind.STRING || kind === TokenKind.BLOCK_STRING;
    isBegin = open === 0 && (kind === TokenKind.BRACE_R || (isBegin && isDescription));
  }
  return false;
}

const TYPE_KEYWORDS: ReadonlySet<string> = new Set([
  "schema",
  "scalar",
  "type",
  "interface",
  "union",
  "enum",
  "input",
  "directive",
  "extend",
]);

function parseWithTypes(source: Source, tokens: readonly Token[]): DocumentNode {
  if (source.body.length > QUERY_WITH_TYPES_CHARACTERS) throw tooLong(QUERY_WITH_TYPES_CHARACTERS);
  try {
    return parse(source);
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    throw problemAt(source, tokens, error.positions?.[0] ?? 0);
  }
}

const CANCELLED = "have been presented. To prevent Denial Of Service attacks, parsing has been cancelled.";

interface ReadTokens {
  readonly tokens: readonly Token[];
  /** Where the characters are that are no token; if there are none, nowhere in particular. */
  readonly brokenAt: number;
}

/**
 * The tokens up to the end, or up to characters that are none: the parser then finds these, or an earlier mistake. The excess, if
 * there is any, is what is wrong with the end.
 */
function* readTokens(source: Source, excess: Excess | undefined): Steps<ReadTokens> {
  const tokens: Token[] = [];
  const depth = new RuleDepth();
  const lexer = new Lexer(source);
  const meter = new StepMeter();
  for (;;) {
    const from = lexer.token.end;
    const token = nextToken(lexer);
    if (token instanceof GraphQLError) return { tokens, brokenAt: token.positions?.[0] ?? 0 };
    const isEnd = token.kind === TokenKind.EOF;
    if (isEnd && excess !== undefined) throw tooMany(excess.kind, excess.limit, token);
    tokens.push(token);
    if (tokens.length > QUERY_TOKENS) throw tooMany("grammar", QUERY_TOKENS, token);
    if (depth.at(token) > RULE_DEPTH) throw syntaxError(TOO_DEEP, token);
    if (isEnd) return { tokens, brokenAt: token.start };
    if (meter.isFull((token.end - from) * CHARACTER_COST + TOKEN_COST)) yield;
  }
}

/** What lexing adds to a step (StepMeter). */
const CHARACTER_COST = STEP_BYTES / (16 * 1024);
const TOKEN_COST = STEP_BYTES / 256;

const TOO_DEEP = `More than ${RULE_DEPTH} deep 'grammar' rules have been entered. To prevent Denial Of Service attacks, parsing has been cancelled.`;

/** The next token that is no comment, or the error of characters that are none. */
function nextToken(lexer: Lexer): Token | GraphQLError {
  try {
    return lexer.advance();
  } catch (error) {
    if (error instanceof GraphQLError) return error;
    throw error;
  }
}

function tooLong(characters: number): Refusal {
  return syntaxError(`More than ${decimal(characters)} characters ${CANCELLED}`, undefined);
}

function tooMany(kind: string, limit: number, at: SourceLocation): Refusal {
  return syntaxError(`More than ${decimal(limit)} '${kind}' tokens ${CANCELLED}`, at);
}

/** Follows how deep graphql-java's parser is in the rules of its grammar. */
class RuleDepth {
  /** The open brackets, with the depth of their contents. */
  private readonly open: { readonly kind: Bracket; readonly depth: number }[] = [];

  /** The depth at which the rule that begins with this token, and no other, is entered. */
  at({ kind }: Token): number {
    const around = this.open.at(-1);
    const depth = around?.depth ?? OPERATION_DEPTH;
    switch (kind) {
      case TokenKind.BRACE_L: {
        const isValue = around !== undefined && around.kind !== "selections";
        this.open.push({ kind: isValue ? "value" : "selections", depth: depth + SELECTION_RULES });
        return depth;
      }
      case TokenKind.PAREN_L:
        this.open.push({ kind: "value", depth: depth + ARGUMENT_RULES });
        return depth;
      case TokenKind.BRACKET_L:
        this.open.push({ kind: "value", depth: depth + LIST_RULES });
        return depth;
      case TokenKind.BRACE_R:
      case TokenKind.PAREN_R:
      case TokenKind.BRACKET_R:
        this.open.pop();
        return 0;
      default:
        return depth;
    }
  }
}

type Bracket = "selections" | "value";

/** Rules around a selection set or an operation's variables. */
const OPERATION_DEPTH = 3;
/** A selection set, a selection, a field; or an object, its member, a value. */
const SELECTION_RULES = 3;
/** The arguments, an argument, a value. */
const ARGUMENT_RULES = 3;
/** A list, a value. */
const LIST_RULES = 2;

/** The mistake at a position, in graphql-java's words. */
function problemAt(source: Source, tokens: readonly Token[], position: number): Refusal {
  const index = tokens.findIndex(({ start }) => start === position);
  const token = tokens[index];
  if (token === undefined) return noToken(source, tokens.at(-1), position);
  const isSurplus = tokens[index - 1]?.kind === TokenKind.BRACE_R && isOutside(tokens.slice(0, index));
  const offending = isSurplus ? token : (tokens[beginOfRule(tokens, index)] ?? token);
  const text =
    offending.kind === TokenKind.EOF ? "<EOF>" : valueText(source.body.slice(offending.start, offending.end));
  const place = `token '${text}' at line ${decimal(offending.line)} column ${decimal(offending.column)}`;
  return syntaxError(
    isSurplus && offending.kind !== TokenKind.EOF
      ? `Invalid syntax encountered. There are extra tokens in the text that have not been consumed. Offending ${place}`
      : `Invalid syntax with offending ${place}`,
    offending,
  );
}

/** What begins after the last token and is none: it is shown up to the character that does not fit. */
function noToken({ body }: Source, last: Token | undefined, position: number): Refusal {
  const end = last?.end ?? 0;
  IGNORED.lastIndex = end;
  const start = IGNORED.test(body) ? IGNORED.lastIndex : end;
  // The character after a backslash, or after dots, is the one that does not fit.
  const beyond = /^(?:\\|\.+)/.exec(body.slice(position, position + LONGEST_DOTS))?.[0].length ?? 0;
  const text = escaped(body.slice(start, position + beyond + 1));
  const at = placeAfter(last, body, start);
  const place = `line ${decimal(at.line)} column ${decimal(at.column)}`;
  return syntaxError(
    `Invalid syntax with ANTLR error 'token recognition error at: '${text}'' at ${place}`,
    at,
  );
}

/** The line and the column of a place after a token, or after the beginning. */
function placeAfter(token: Token | undefined, body: string, position: number): SourceLocation {
  let { line, column, start } = token ?? { line: 1, column: 1, start: 0 };
  for (let at = start; at < position; at++, column++) {
    const character = body[at];
    const isEndOfLine = character === "\n" || (character === "\r" && body[at + 1] !== "\n");
    if (!isEndOfLine) continue;
    line++;
    column = 0;
  }
  return { line, column };
}

const IGNORED = /(?:[ \t\r\n,\uFEFF]|#[^\r\n]*)*/y;
const LONGEST_DOTS = 2;

/** The text as ANTLR shows it, as long as a message has room for. */
function escaped(text: string): string {
  return valueText(text).replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll("\t", "\\t");
}

/** Whether all brackets are closed. */
function isOutside(tokens: readonly Token[]): boolean {
  let open = 0;
  for (const { kind } of tokens) {
    if (OPENING.has(kind)) open++;
    else if (CLOSING.has(kind)) open--;
  }
  return open === 0;
}

const OPENING: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.PAREN_L, TokenKind.BRACKET_L]);
const CLOSING: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.PAREN_R, TokenKind.BRACKET_R]);

/** The token that graphql-java blames: where it decides by several tokens what follows, the first of them. */
function beginOfRule(tokens: readonly Token[], index: number): number {
  if (tokens[index - 1]?.kind === TokenKind.SPREAD) return index - 1;
  let first = index;
  let open = 0;
  while (TYPE_TOKENS.has(tokens[first - 1]?.kind ?? "")) {
    first--;
    if (tokens[first]?.kind === TokenKind.BRACKET_L) open++;
    if (tokens[first]?.kind === TokenKind.BRACKET_R) open--;
  }
  const isVariable =
    tokens[first - 1]?.kind === TokenKind.COLON && tokens[first - 3]?.kind === TokenKind.DOLLAR;
  return isVariable && open > 0 ? first : index;
}

const TYPE_TOKENS: ReadonlySet<string> = new Set([
  TokenKind.NAME,
  TokenKind.BANG,
  TokenKind.BRACKET_L,
  TokenKind.BRACKET_R,
]);

function syntaxError(message: string, at: SourceLocation | undefined): Refusal {
  const error: GraphQlError = {
    message,
    locations: at && [{ line: at.line, column: at.column }],
    extensions: { classification: "InvalidSyntax" },
  };
  return new Refusal(400, [error]);
}

/** A number as Java writes it in messages. Intl takes tens of milliseconds in a thread that has not used it. */
function decimal(value: number): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}
