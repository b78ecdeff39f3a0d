import { setImmediate as turn } from "node:timers/promises";
import { BREAK, parse, visit } from "graphql";
import { describe, expect, it } from "vitest";
import { atOnce } from "../../../src/primitives/steps.ts";
import { readQuery } from "../../../src/rpc/graphql/readQuery.ts";
import { validate } from "../../../src/rpc/graphql/validation/validate.ts";
import { WorkLimit } from "../../../src/rpc/graphql/validation/workLimit.ts";
import { aChainSpec, anRpcBackend, poolOf } from "../../builders/anRpcBackend.ts";
import { aStoredBlock } from "../../builders/aStoredBlock.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { chainOf } from "../../builders/recordedChain.ts";
import { type AskGraphQl, aGraphQl, graphQlOf } from "./aGraphQl.ts";

const ask = aGraphQl();

/** A node with so many blocks, each with the same transactions. */
function withBlocks(count: number, transactions: number): AskGraphQl {
  const mined = Array.from({ length: transactions }, (_, nonce) => aTransaction({ nonce: BigInt(nonce) }));
  const chain = chainOf(
    Array.from({ length: count }, (_, number) =>
      aStoredBlock({ number, transactions: number === 0 ? [] : mined }),
    ),
  );
  return graphQlOf(anRpcBackend({ chain, spec: aChainSpec(chain, { chainId: 1337n, fork: "london" }) }));
}

describe("hostile queries", () => {
  it("pauses while it looks for circles in a long chain of fragments", () => {
    const chained = Array.from({ length: 300 }, (_, at) => `fragment F${at} on Block{parent{...F${at + 1}}}`);
    const document = parse(`${chained.join(" ")} fragment F300 on Block{number} {block{...F0}}`);
    const steps = validate(document, new WorkLimit());
    let pauses = 0;
    const untilEnd = () => {
      while (steps.next().done !== true) pauses++;
    };
    expect(untilEnd).toThrow("The query takes too many steps to check");
    expect(pauses).toBeGreaterThan(100);
  });

  it("has its limits of characters and tokens from graphql-java", async () => {
    const long = `{chainID} #${"x".repeat(1024 * 1024)}`;
    expect((await ask(long)).errors?.[0]?.message).toMatch(
      /^More than 1,048,576 characters have been presented/,
    );
    const many = `{${"a ".repeat(15_000)}}`;
    expect((await ask(many)).errors?.[0]?.message).toMatch(/^More than 15,000 'grammar' tokens/);
    const blank = `{chainID${" ".repeat(200_001)}}`;
    expect((await ask(blank)).errors?.[0]?.message).toMatch(/^More than 200,000 'whitespace' tokens/);
    const comments = `{chainID}${"\n#".repeat(15_001)}`;
    expect((await ask(comments)).errors?.[0]?.message).toMatch(/^More than 15,000 'comments' tokens/);
  });

  it("bounds what a lexer reads in one go, and keeps to the order of mistakes", async () => {
    const messageOf = async (query: string) => (await ask(query)).errors?.[0]?.message;
    const lines = "\n".repeat(1_000_000);
    expect((await ask(`${lines}?`)).errors).toEqual([
      {
        message: expect.stringMatching(/^More than 200,000 'whitespace' tokens/) as string,
        locations: [{ line: 200_001, column: 1 }],
        extensions: { classification: "InvalidSyntax" },
      },
    ]);
    expect((await ask(`${"#\n".repeat(500_000)}?`)).errors).toMatchObject([
      {
        message: expect.stringMatching(/^More than 15,000 'comments' tokens/) as string,
        locations: [{ line: 15_001, column: 1 }],
      },
    ]);
    expect(await messageOf(`{block(hash:"""${lines}""")}`)).toMatch(
      /^More than 1,000 'lines of a block string' tokens/,
    );
    expect(await messageOf(`{block(hash:"""${'\\"""'.repeat(1_001)}"""){number}}`)).toMatch(
      /^More than 1,000 'lines of a block string' tokens/,
    );
    expect(await messageOf(`{block(hash:"${"\\n".repeat(1_001)}"){number}}`)).toMatch(
      /^More than 1,000 'escapes of a string' tokens/,
    );
    expect(await messageOf(`{block(hash:"${"\\n".repeat(1_000)}"){number}}`)).toMatch(/^Validation error/);
    // Earlier mistakes that a lexer finds come first, and what is within strings and comments does not count.
    expect(await messageOf(`{chainID "a\n ${lines}`)).toMatch(/^Invalid syntax with ANTLR error/);
    expect(await messageOf(`{chainID .. ${lines}`)).toMatch(/^Invalid syntax with ANTLR error/);
    expect(await messageOf(`{${"a ".repeat(20_000)} ${lines}`)).toMatch(/^More than 15,000 'grammar' tokens/);
    const quoted = `"\\"#${" ".repeat(300_000)}"`;
    expect(await messageOf(`{block(hash:${quoted}){number}}`)).toMatch(/^Validation error/);
    const block = `"""\\"""#"${" ,".repeat(150_000)}${"\r\n".repeat(900)}"""`;
    expect(await messageOf(`{block(hash:${block}){number}}`)).toMatch(/^Validation error/);
    expect((await ask(`#"""${",".repeat(300_000)}\r{chainID}`)).data).toEqual({ chainID: "0x1" });
  });

  it("refuses definitions of types, and long ones before they are parsed", async () => {
    const messageOf = async (query: string) => (await ask(query)).errors?.[0]?.message;
    expect(await messageOf("{chainID} scalar A")).toMatch(/^Validation error \(NonExecutableDefinition\)/);
    for (const text of ["scalar A ".repeat(300), `"""b""" extend type A{${"b:C ".repeat(600)}}`]) {
      expect(await messageOf(`${text} {chainID}`)).toMatch(/^More than 2,048 characters/);
      expect(await messageOf(`{chainID} ${text}`)).toMatch(/^More than 2,048 characters/);
    }
    // Their words are names elsewhere.
    const { data } = await ask(
      `query type{${"chainID ".repeat(150)}...input} fragment input on Query{gasPrice}`,
    );
    expect(data).toMatchObject({ chainID: "0x1" });
  });

  it("pauses in strings, however many and whatever is in them", () => {
    const piece = JSON.stringify("x\n".repeat(40));
    const steps = readQuery(`{a(b:[${piece.repeat(8_000)}])}`);
    let pauses = 0;
    while (steps.next().done !== true) pauses++;
    expect(pauses).toBeGreaterThan(150);
  });

  it("refuses deep nesting before it is parsed", async () => {
    for (const levels of [166, 5_000])
      expect((await ask(`${"{parent".repeat(levels)}${"}".repeat(levels)}`)).errors?.[0]?.message).toMatch(
        /^More than 500 deep 'grammar' rules/,
      );
    const lists = `{logs(filter:{topics:${"[".repeat(7_000)}${"]".repeat(7_000)}}){index}}`;
    expect((await ask(lists)).errors?.[0]?.message).toMatch(/^More than 500 deep 'grammar' rules/);
    const deepest = `{block${"{parent".repeat(163)}{number}${"}".repeat(164)}`;
    expect((await ask(deepest)).data).toEqual({ block: { parent: null } });
  });

  it("refuses many aliases by their sum", async () => {
    const aliases = Array.from({ length: 4_000 }, (_, index) => `a${index}:chainID`).join(" ");
    expect((await ask(`{${aliases}}`)).errors?.[0]?.message).toBe(
      "maximum query complexity exceeded 4000 > 200",
    );
  });

  it("refuses fragments in circles", async () => {
    const { errors } = await ask("{block{...A}} fragment A on Block{...B} fragment B on Block{...A}");
    expect(errors?.map(({ message }) => message)).toEqual([
      "Validation error (FragmentCycle@[A]) : Fragment cycles not allowed",
      "Validation error (FragmentCycle@[B]) : Fragment cycles not allowed",
    ]);
  });

  it("refuses fragments that multiply, which Besu's limit counts once", async () => {
    const doubling = (levels: number) =>
      `{block{...F0}} ${Array.from(
        { length: levels },
        (_, level) => `fragment F${level} on Block{a:parent{...F${level + 1}} b:parent{...F${level + 1}}}`,
      ).join(" ")} fragment F${levels} on Block{number}`;
    expect((await ask(doubling(3))).status).toBe(200);
    expect((await ask(doubling(30))).errors?.[0]?.message).toBe("The query selects more than 10000 fields");
  });

  it("refuses what takes too many steps to check", async () => {
    const operations = Array.from({ length: 1_000 }, (_, index) => `query Q${index}{block{...F}}`).join(" ");
    const fragment = `fragment F on Block{${"number ".repeat(5_000)}}`;
    const { status, errors } = await ask(`${operations} ${fragment}`, { operationName: "Q0" });
    expect(errors?.[0]?.message).toBe("The query takes too many steps to check");
    expect(status).toBe(400);
  });

  it("refuses a chain of fragments that is too long to follow", async () => {
    const fragments = Array.from(
      { length: 1_500 },
      (_, index) => `fragment F${index} on Block{...F${index + 1}}`,
    );
    const { errors } = await ask(`{block{...F0}} ${fragments.join(" ")} fragment F1500 on Block{number}`);
    expect(errors?.[0]?.message).toBe("The query has more than 500 levels");
  });

  it("refuses ranges of more blocks than eth_getLogs does", async () => {
    const asked = withBlocks(1_100, 0);
    for (const query of ["{blocks(from:0){number}}", "{logs(filter:{fromBlock:0,topics:[]}){index}}"]) {
      const { errors, data } = await asked(query);
      expect(errors?.[0]?.extensions).toMatchObject({ errorCode: -32005 });
      expect(errors?.[0]?.message).toContain("--rpc-max-logs-range allows 1000 blocks");
      expect(data).toBeNull();
    }
    const { data } = await asked("{blocks(from:99,to:99999999999){number}}");
    expect(data?.["blocks"]).toHaveLength(1_001);
  });

  it("refuses an answer that is too long, whatever its errors", async () => {
    const transactions = Array.from({ length: 20 }, (_, nonce) =>
      aTransaction({ nonce: BigInt(nonce), data: new Uint8Array(100_000) }),
    );
    const chain = chainOf([aStoredBlock({ number: 0 }), aStoredBlock({ number: 1, transactions })]);
    const asked = graphQlOf(
      anRpcBackend({ chain, spec: aChainSpec(chain, { chainId: 1337n, fork: "london" }), pool: poolOf([]) }),
    );
    const copies = Array.from({ length: 20 }, (_, index) => `a${index}:transactions{inputData}`).join(" ");
    const { status, errors, data } = await asked(`{block(number:1){${copies}}}`);
    expect(errors?.[0]?.message).toMatch(/^The answer is longer than 64 MB/);
    expect(data).toBeUndefined();
    expect(status).toBe(400);
  });

  it("lets other work run while it answers, and ends when the client goes", async () => {
    const asked = withBlocks(500, 40);
    const fields = "hash nonce from{address} to{address} value gas inputData r s v raw accessList{address}";
    const query = `{blocks(from:0){number transactions{${fields}}}}`;
    let turns = 0;
    let isAnswered = false;
    const answered = asked(query).finally(() => {
      isAnswered = true;
    });
    while (!isAnswered) {
      await turn();
      turns++;
    }
    expect((await answered).status).toBe(200);
    expect(turns).toBeGreaterThan(5);

    const gone = new AbortController();
    const cut = asked(query, { signal: gone.signal });
    await turn();
    gone.abort();
    expect((await cut).errors).toEqual([{ message: "The client is gone" }]);
    expect((await asked(query, { context: { isAbandoned: () => true } })).errors).toEqual([
      { message: "The client is gone" },
    ]);
  });

  it("tells calls and searches under way that the client is gone", async () => {
    const chain = chainOf([aStoredBlock({ number: 0 })]);
    const gone = new AbortController();
    const seen: boolean[] = [];
    const asked = graphQlOf(
      anRpcBackend({
        chain,
        spec: aChainSpec(chain, { chainId: 1n, fork: "london" }),
        findLogs: async (_, __, requester) => {
          seen.push(requester.isAbandoned());
          gone.abort();
          seen.push(requester.isAbandoned());
          return { kind: "abandoned" };
        },
      }),
    );
    const { errors } = await asked("{logs(filter:{topics:[]}){index}}", { signal: gone.signal });
    expect(errors).toEqual([{ message: "The client is gone" }]);
    expect(seen).toEqual([false, true]);
  });

  it("looks at the time after each long value, and after each that may be read from the disk", async () => {
    const transactions = [aTransaction({ data: new Uint8Array(100_000) })];
    const chain = chainOf([aStoredBlock({ number: 0 }), aStoredBlock({ number: 1, transactions })]);
    const long = graphQlOf(
      anRpcBackend({ chain, spec: aChainSpec(chain, { chainId: 1337n, fork: "london" }) }),
    );
    const looksAt = async (asked: AskGraphQl, query: string) => {
      let looks = 0;
      const isDue = () => {
        looks++;
        return false;
      };
      const pacer = { isDue, yield: async () => undefined, restart: () => undefined };
      expect(await asked(query, { context: { pacer } })).toHaveProperty("data");
      return looks;
    };
    const before = await looksAt(long, "{block(number:1){a:raw}}");
    const fields = "abcdefghijk".replaceAll(/./g, " $&:raw");
    expect((await looksAt(long, `{block(number:1){${fields}}}`)) - before).toBeGreaterThanOrEqual(10);
    expect(await looksAt(withBlocks(500, 0), "{blocks(from:0){number}}")).toBeGreaterThanOrEqual(500);
    expect(await looksAt(withBlocks(500, 0), "{blocks(from:0){miner{balance}}}")).toBeGreaterThanOrEqual(
      1_000,
    );
  });

  it("prints a literal once, however many fields it is compared with", async () => {
    const document = parse(`{${"block(number:7){number} ".repeat(300)}}`);
    let reads = 0;
    visit(document, {
      IntValue(literal) {
        const digits = literal.value;
        const get = () => {
          reads++;
          return digits;
        };
        Object.defineProperty(literal, "value", { get, enumerable: true });
        return BREAK;
      },
    });
    expect(atOnce(validate(document, new WorkLimit()))).toEqual([]);
    expect(reads).toBeGreaterThan(0);
    expect(reads).toBeLessThan(20);
  });

  it("tells what its answer takes while it is made", async () => {
    const noted: number[] = [];
    const onInFlight = (bytes: number) => void noted.push(bytes);
    const { text } = await withBlocks(1_000, 0)(
      `{blocks(from:0){${"abcd".replaceAll(/./g, " $&:logsBloom")}}}`,
      {
        context: { onInFlight },
      },
    );
    expect(text.length).toBeGreaterThan(2_000_000);
    expect(noted).toEqual([...noted].sort((a, b) => a - b));
    expect(noted.length).toBeGreaterThan(5);
    expect(text.length - (noted.at(-1) ?? 0)).toBeLessThan(300 * 1024);
  });

  it("gives the thread away in the turns of its caller", async () => {
    let turns = 0;
    const pacer = {
      isDue: () => true,
      yield: async () => void turns++,
      restart: () => undefined,
    };
    await ask("{ chainID }", { context: { pacer } });
    const few = turns;
    const aliases = Array.from({ length: 150 }, (_, n) => `a${n}: number`);
    expect(await ask(`{ block { ${aliases} } }`, { context: { pacer } })).toMatchObject({ status: 200 });
    expect(turns - few).toBeGreaterThan(few);
  });

  it("quotes no more of a value than has room in a message", async () => {
    const { text } = await ask(`{block(hash:"${"z".repeat(500_000)}"){number}}`);
    expect(text.length).toBeLessThan(5_000);
    const surplus = await ask(`{chainID} ${"z".repeat(500_000)}`);
    expect(surplus.errors?.[0]?.message).toMatch(/Offending token 'z{1024}…' at line 1 column 11$/);
    expect(surplus.text.length).toBeLessThan(5_000);
  });

  it("keeps no text of a conflict that it does not report", async () => {
    const name = "A".repeat(480_000);
    const fields = (field: string) => Array.from({ length: 400 }, (_, n) => `a${n}:${field}`).join(" ");
    const before = process.memoryUsage().heapUsed;
    let most = 0;
    const pacer = {
      isDue: () => {
        most = Math.max(most, process.memoryUsage().heapUsed - before);
        return false;
      },
      yield: async () => undefined,
      restart: () => undefined,
    };
    const query = `{${name}:block{${fields("number")}} ${name}:block{${fields("hash")}}}`;
    const { errors, text } = await ask(query, { context: { pacer } });
    expect(errors).toHaveLength(100);
    expect(errors?.[0]?.message).toMatch(
      /^Validation error \(FieldsConflict\) : 'A{1024}…' : returns different/,
    );
    expect(text.length).toBeLessThan(200_000);
    expect(most).toBeLessThan(128 * 1024 * 1024);
  });

  it("refuses variables with more items than a query can have", async () => {
    const query = "query($t:[[Bytes32!]!]){logs(filter:{topics:$t}){index}}";
    const withTopics = (count: number) => ask(query, { variables: { t: [Array(count).fill("0x1")] } });
    expect((await withTopics(9_000)).data).toEqual({ logs: [] });
    const { status, errors } = await withTopics(15_000);
    expect(errors?.[0]?.message).toBe("The variables have more than 15000 items in lists");
    expect(status).toBe(400);
  });

  it("reads numbers of any length without computing with all their digits", async () => {
    const digits = "9".repeat(1_000_000);
    const { errors } = await ask(`{block(hash:${digits}){number}}`);
    expect(errors?.[0]?.message).toMatch(/'IntValue\{value=9+…'/);
    const low = BigInt.asIntN(64, BigInt("7".repeat(500)));
    const block = await ask(`{block(number:${low < 0n ? "-" : ""}${"7".repeat(500)}){number}}`);
    expect(block.errors?.[0]?.message).toContain(low < 0n ? `${-low}` : `${low}`);
    const negativeZero = await ask("{block(hash:-0){number}}");
    expect(negativeZero.errors?.[0]?.message).toContain("IntValue{value=0}");
    expect((await ask("{block(number:-0){number}}")).data).toEqual({ block: { number: "0x0" } });
    const price = (gasPrice: string) =>
      ask(`{block{call(data:{gasPrice:${gasPrice}} ){status}}}`).then((shown) => shown.errors?.[0]?.message);
    expect(await price(`${1n << 256n}`)).toMatch(/Value is not any BigInt/);
    expect(await price(digits)).toMatch(/Value is not any BigInt/);
  });

  it("knows variables of an enumeration", async () => {
    const { status, errors } = await ask("query($k:__TypeKind=OBJECT){chainID}");
    expect(errors?.map(({ message }) => message)).toEqual([
      "Validation error (UnusedVariable) : Unused variable 'k'",
    ]);
    expect(status).toBe(400);
    const wrong = await ask("query($k:__TypeKind=NOPE){chainID}");
    expect(wrong.errors?.[0]?.message).toBe(
      "Validation error (BadValueForDefaultArg) : Bad default value 'EnumValue{name='NOPE'}' for type '__TypeKind'",
    );
    expect((await ask('query($k:__TypeKind="OBJECT"){chainID}')).status).toBe(400);
  });
});
