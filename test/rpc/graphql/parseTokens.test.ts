import fc from "fast-check";
import { type DocumentNode, GraphQLError, Lexer, parse, Source, type Token, TokenKind } from "graphql";
import { describe, expect, it } from "vitest";
import { atOnce } from "../../../src/primitives/steps.ts";
import { parseTokens } from "../../../src/rpc/graphql/parseTokens.ts";

/** Every rule of the grammar, with and without what is optional. */
const QUERY = `
query Q($a: Int = 1 @d, $b: [[String!]!]! = ["x", """y"""] $c: T @d(e: 1) @f) @on(a: null) {
  on { fragment query mutation(on: on, a: [], b: {}) }
  a: b(c: 1 d: -2.5e3, e: true, f: false, g: null, h: E, i: $a, j: [1 [2 $b]], k: {l: {m: [$c]}, n: "o"})
    @include(if: $a) @skip(if: false) { ...F @g ... on T @h { p } ... @i { q } ...{ r } }
}
mutation { a } subscription S { b }
fragment F on T @j { s { t } }
{ u, v }`;

/** Where a text is no query. */
class Stop extends Error {
  readonly at: number | undefined;

  constructor(at: number | undefined) {
    super(`no query at ${at}`);
    this.at = at;
  }
}

type Outcome = DocumentNode | { readonly stoppedAt: number | undefined };

function withGraphQlJs(query: string): Outcome {
  try {
    return parse(query);
  } catch (error) {
    if (error instanceof GraphQLError) return { stoppedAt: error.positions?.[0] };
    throw error;
  }
}

function withOurs(query: string): Outcome {
  const source = new Source(query);
  const { tokens, brokenAt } = tokensOf(source);
  const problemAt = (index: number) => new Stop(tokens[index]?.start ?? brokenAt);
  try {
    return atOnce(parseTokens({ source, tokens, problemAt }));
  } catch (error) {
    if (error instanceof Stop) return { stoppedAt: error.at };
    throw error;
  }
}

function tokensOf(source: Source) {
  const lexer = new Lexer(source);
  const tokens: Token[] = [];
  try {
    do tokens.push(lexer.advance());
    while (lexer.token.kind !== TokenKind.EOF);
  } catch (error) {
    if (error instanceof GraphQLError) return { tokens, brokenAt: error.positions?.[0] };
    throw error;
  }
  return { tokens, brokenAt: undefined };
}

/** What can be compared of an outcome. The place of all definitions together is of no use to anybody. */
function comparable(outcome: Outcome): unknown {
  const { loc: _, ...rest } = JSON.parse(JSON.stringify(outcome)) as Record<string, unknown>;
  return rest;
}

const PIECES = [
  ..."{}()[]:=!@$?,",
  ...[
    "...",
    "on",
    "query",
    "mutation",
    "fragment",
    "a",
    "b",
    "true",
    "null",
    "1",
    "2.5",
    "$c",
    "..",
    "0x",
    "#c\n",
  ],
];

/**
 * The query with some of its pieces left out, replaced or put elsewhere. It has no strings, because graphql-js takes one before an
 * operation or a variable as its description, which graphql-java 21.3 does not.
 */
const A_TEXT = fc
  .array(
    fc.record({
      at: fc.nat(),
      left: fc.nat({ max: 3 }),
      put: fc.array(fc.constantFrom(...PIECES), { maxLength: 2 }),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((changes) => {
    const pieces = QUERY.replaceAll(/"+\w"+/g, "7").match(/[\w.-]+|\s+|./g) ?? [];
    for (const { at, left, put } of changes) pieces.splice(at % pieces.length, left, ...put);
    return pieces.join("");
  });

describe("the tree of a query", () => {
  it("is the one that graphql-js makes, with the places of all its parts", () => {
    const tree = comparable(withOurs(QUERY));
    expect(tree).toEqual(comparable(withGraphQlJs(QUERY)));
    expect(tree).toMatchObject({ definitions: { length: 5 } });
  });

  it("ends where graphql-js finds the first mistake", () => {
    fc.assert(
      fc.property(A_TEXT, (text) => {
        expect(comparable(withOurs(text))).toEqual(comparable(withGraphQlJs(text)));
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    ["a", 0],
    ['"x" {a}', 0],
    ['"x" query {a}', 0],
    ["", 0],
    ["{a(", 3],
    ["query($a:T=$b){a}", 11],
    ["query($a:T=$?){a}", 12],
    ["fragment on on T{a}", 9],
    ["{...on}", 6],
    ["query {a} ?", 10],
  ])("of %s ends at %i", (text, at) => {
    expect(withOurs(text)).toEqual({ stoppedAt: at });
  });

  it("is made with pauses, whatever is long", () => {
    for (const query of [
      `{${"a ".repeat(10_000)}}`,
      "{a}".repeat(3_000),
      `{a${"@b ".repeat(5_000)}}`,
      `{a(${"b:1 ".repeat(3_000)})}`,
      `{a(b:[${"1 ".repeat(10_000)}])}`,
      `{a(b:{${"c:1 ".repeat(3_000)}})}`,
      `query(${"$a:T ".repeat(2_500)}){a}`,
      `{${"...{a} ".repeat(2_500)}}`,
    ]) {
      const source = new Source(query);
      const { tokens } = tokensOf(source);
      const steps = parseTokens({ source, tokens, problemAt: () => new Error("a query") });
      let pauses = 0;
      while (steps.next().done !== true) pauses++;
      expect(pauses, query.slice(0, 20)).toBeGreaterThan(tokens.length / 150);
    }
  });
});
