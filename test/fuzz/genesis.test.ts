import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { deriveGenesisBlock } from "../../src/chain/genesisBlock.ts";
import { ForkIds, forkPoints } from "../../src/chainspec/forkId.ts";
import { type GenesisReading, readGenesis } from "../../src/chainspec/genesis.ts";
import { type Json, parseJson } from "../../src/chainspec/json.ts";
import { equalBytes } from "../../src/primitives/hex.ts";
import { decodeExtraData } from "../../src/types/extraData.ts";
import { decodeHeader, encodeHeader } from "../../src/types/header.ts";
import { vectorPath, vectorsDirectory } from "../vectors.ts";
import { ACCEPTED, fuzz } from "./fuzzing.ts";
import { mutatedText } from "./mutatedInputs.ts";

/**
 * Genesis files: two readings are equal; JSON is parsed as by JSON.parse; an error names file and position; an accepted
 * file has a genesis block whose header can be encoded and decoded.
 */
fuzz({
  name: "genesis",
  inputs: () =>
    mutatedText(
      fc.oneof(
        { weight: 2, arbitrary: fc.constantFrom(...realFiles()) },
        { weight: 3, arbitrary: genesisText() },
      ),
      TOKENS,
    ),
  dailyInputs: 700,
  spread: { outcomes: 25, accepted: [0.05, 0.6] },
  validate(text) {
    expectSameJson(text);
    const reading = readGenesis(text, FILE);
    if (!isDeepStrictEqual(reading, readGenesis(text, FILE))) throw new Error("the second reading differs");
    if (!reading.ok) return `refused: ${kindOf(reading.error.message)}`;
    expectGenesisBlock(reading.value);
    return ACCEPTED;
  },
});

const FILE = "network.json";

/** The error message without what differs from file to file. It must start, and end, as every such error does. */
function kindOf(message: string): string {
  const said =
    /^Unable to load genesis file\. (.+?) (\(line \d+, column \d+ of |at line \d+, column \d+ of |\()network\.json\)?$/su.exec(
      message,
    );
  const [, cause, place] = said ?? [];
  if (cause === undefined || place === undefined) throw new Error(`an error without file: ${message}`);
  if (place === "(") throw new Error(`an error without position: ${message}`);
  return cause
    .replace(/'.*?'/gsu, "'…'")
    .replace(/".*?"/gsu, '"…"')
    .replace(/0x[0-9a-fA-F]+|\d+/g, "n")
    .replace(/(?<=alloc\.).*?(?=\.(?:code|nonce|balance|storage)| |$)/su, "…")
    .replace(/(?<=storage\.)\S+/u, "…")
    .replace(/(?<=config\.)\S+(?=Time begins)/u, "…")
    .replace(/config\.\w+ \(n\) comes before config\.\w+/, "config.… (n) comes before config.…")
    .replace(/(?<=.)'…'?.*/su, "'…'")
    .slice(0, 90);
}

function expectGenesisBlock({ spec }: GenesisReading): void {
  const { header, hash } = deriveGenesisBlock(spec);
  const bytes = encodeHeader(header);
  const again = decodeHeader(bytes);
  if (!again.ok) throw new Error(`its genesis header cannot be read: ${again.error.message}`);
  if (!equalBytes(encodeHeader(again.value), bytes))
    throw new Error("its genesis header differs when decoded again");
  if (!decodeExtraData(header.extraData).ok) throw new Error("unreadable extra data was accepted");
  const forkIds = new ForkIds(hash, forkPoints(spec.forks, header.timestamp));
  for (const { at } of spec.forks.activations) {
    const progress = { number: "block" in at ? at.block : 0n, timestamp: "time" in at ? at.time : 0n };
    const result = forkIds.check(progress, forkIds.at(progress));
    if (!result.ok) throw new Error(`it refuses its own fork id: ${result.error.message}`);
  }
}

/** Compares with JSON.parse, for documents without comments, byte order mark and great depth. */
function expectSameJson(text: string): void {
  const ours = parseJson(text);
  if (!ours.ok && ours.error.message.includes("levels of nesting")) return;
  if (/\/\/|\/\*|\ufeff/.test(text)) return;
  let theirs: unknown;
  try {
    theirs = JSON.parse(text);
  } catch (error) {
    if (ours.ok) throw new Error(`JSON.parse refuses it: ${String(error)}`);
    return;
  }
  if (!ours.ok) throw new Error(`JSON.parse takes it, we say: ${ours.error.message}`);
  if (!isDeepStrictEqual(plain(ours.value), theirs)) throw new Error("JSON.parse reads something else");
}

function plain(json: Json): unknown {
  switch (json.kind) {
    case "object": {
      const object = {};
      for (const { key, value } of json.members)
        Object.defineProperty(object, key, {
          value: plain(value),
          enumerable: true,
          configurable: true,
          writable: true,
        });
      return object;
    }
    case "array":
      return json.items.map(plain);
    case "number":
      return Number(json.text);
    case "string":
      return json.text;
    case "boolean":
      return json.value;
    case "null":
      return null;
  }
}

/** Real files: our own, and the smaller ones of the vectors. */
function realFiles(): readonly string[] {
  const folder = resolve(import.meta.dirname, "..", "..", "genesis");
  const own = readdirSync(folder).map((name) => resolve(folder, name));
  const vectors =
    vectorsDirectory === undefined
      ? []
      : ["net1", "net2", "net4", "prague-25.4.1/zero"].map((name) =>
          vectorPath("besu-ibft", name, "genesis.json"),
        );
  return [...own, ...vectors].map((path) => readFileSync(path, "utf8"));
}

/** Inserts: tokens of genesis files, and tokens that they should not have. */
const TOKENS = [
  ..."{}[],:\"'\\/\n\t ".split(""),
  ...[
    "//",
    "/*",
    "*/",
    "\ufeff",
    "\\u0000",
    "\\",
    '"',
    '":',
    "null",
    "true",
    "false",
    "{}",
    "[]",
    "\u2028",
    "\ud800",
  ],
  ...[
    "0",
    "-1",
    "1e3",
    "1.5",
    "0x",
    "0x0",
    "-0",
    "00",
    "007",
    "1e400",
    "0xfffffffffffffffff",
    "9223372036854775808",
  ],
  ...[
    "config",
    "ibft2",
    "qbft",
    "alloc",
    "londonBlock",
    "shanghaiTime",
    "osakaTime",
    "pragueTime",
    "__proto__",
  ],
  ...["epochlength", "extraData", "storage", "balance", "nonce", "transitions", "constructor", "toString"],
];

const EXTRA_DATA = `0xf83ea0${"00".repeat(32)}d594${"11".repeat(20)}808400000000c0`;

const FORK_KEYS = [
  "homesteadBlock",
  "eip150Block",
  "eip158Block",
  "byzantiumBlock",
  "petersburgBlock",
  "istanbulBlock",
  "berlinBlock",
  "londonBlock",
  "shanghaiTime",
  "cancunTime",
  "pragueTime",
];

/** Each fork some steps after the one before, except where the step is something else. */
function forkEntries(steps: readonly unknown[]): [string, unknown][] {
  const reached = { Block: 0, Time: 0 };
  return FORK_KEYS.flatMap((key, index): [string, unknown][] => {
    const step = steps[index];
    const kind = key.endsWith("Time") ? "Time" : "Block";
    if (step === "absent") return [];
    if (typeof step !== "number" || step > 5) return [[key, step]];
    // Shanghai in the genesis block requires London there, too.
    reached[kind] += kind === "Time" && steps[FORK_KEYS.indexOf("londonBlock")] !== 0 ? step + 1 : step;
    return [[key, reached[kind]]];
  });
}

/** Objects with the right keys in any letter case, and values that are mostly of the right kind. */
function genesisText(): fc.Arbitrary<string> {
  const hex = (maxBytes: number): fc.Arbitrary<string> =>
    fc.uint8Array({ maxLength: maxBytes }).map((bytes) => `0x${Buffer.from(bytes).toString("hex")}`);
  const number = fc.oneof(
    { weight: 4, arbitrary: fc.nat(1000) },
    { weight: 2, arbitrary: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map(String) },
    {
      weight: 2,
      arbitrary: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map((value) => `0x${value.toString(16)}`),
    },
    fc.constantFrom<unknown>(
      "0x0",
      "",
      "0x",
      "-1",
      -1,
      1.5,
      "1e3",
      " 7 ",
      "0X1F",
      "08",
      null,
      true,
      [],
      {},
      2 ** 60,
      "9223372036854775808",
    ),
  );
  const small = fc.oneof({ weight: 8, arbitrary: fc.constantFrom<unknown>(0, 0, 1, "0", "0x1", 5) }, number);
  const address = fc.oneof(
    {
      weight: 8,
      arbitrary: fc
        .uint8Array({ minLength: 20, maxLength: 20 })
        .map((bytes) => Buffer.from(bytes).toString("hex")),
    },
    hex(22),
  );
  const flag = fc.oneof({ weight: 8, arbitrary: fc.boolean() }, fc.constantFrom<unknown>("true", 1, null));
  const some = (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<[string, unknown][]> =>
    fc.record(fields, { requiredKeys: [] }).map((record) => Object.entries(record));
  const settings = some({
    blockPeriodSeconds: fc.oneof({ weight: 6, arbitrary: fc.constantFrom<unknown>(1, "2", 5) }, number),
    epochLength: fc.oneof({ weight: 6, arbitrary: fc.constantFrom<unknown>(30000, "0x5") }, number),
    requestTimeoutSeconds: fc.oneof({ weight: 6, arbitrary: fc.constantFrom<unknown>(2, "10") }, number),
    blockReward: number,
    miningBeneficiary: fc.oneof({ weight: 6, arbitrary: address }, fc.constantFrom<unknown>("", " ", 7)),
    block: fc.oneof({ weight: 6, arbitrary: fc.integer({ min: 1, max: 40 }) }, number),
    validators: fc.array(address, { maxLength: 3 }),
    messageQueueLimit: number,
  });
  const step = fc.oneof({ weight: 60, arbitrary: fc.constantFrom<unknown>("absent", 0, 0, 0, 1, 5) }, number);
  const forks = fc.array(step, { minLength: FORK_KEYS.length, maxLength: FORK_KEYS.length }).map(forkEntries);
  const config = fc
    .tuple(
      forks,
      settings,
      some({
        chainId: number,
        contractSizeLimit: number,
        evmStackSize: number,
        zeroBaseFee: flag,
        fixedBaseFee: flag,
        daoForkBlock: fc.constantFrom<unknown>(0, 0, 0, "0", 1),
        pragueBlock: small,
        ecCurve: fc.constantFrom("secp256k1", "secp256r1"),
      }),
      fc.option(fc.array(settings, { maxLength: 3 }), { freq: 3 }),
      fc.option(fc.constantFrom("qbft", "clique", "ethash", "terminalTotalDifficulty", "osakaTime"), {
        freq: 12,
        nil: null,
      }),
    )
    .map(([some1, ibft2, others, transitions, unknown]): [string, unknown][] => [
      ...some1,
      ...others,
      ["ibft2", new Entries(ibft2)],
      ...(transitions === null
        ? []
        : [["transitions", { ibft2: transitions.map((each) => new Entries(each)) }] as [string, unknown]]),
      ...(unknown === null || Math.abs(some1.length - 3) > 1 ? [] : [[unknown, {}] as [string, unknown]]),
    ]);
  const storage = fc.array(fc.tuple(hex(33), fc.oneof({ weight: 4, arbitrary: hex(32) }, number)), {
    maxLength: 3,
  });
  const account = fc
    .tuple(some({ balance: number, nonce: number, code: hex(40) }), fc.option(storage, { freq: 3 }))
    .map(
      ([fields, slots]) =>
        new Entries([
          ...fields,
          ...(slots === null ? [] : [["storage", new Entries(slots)] as [string, unknown]]),
        ]),
    );
  const alloc = fc.array(fc.tuple(address, account), { maxLength: 4 });
  const header = some({
    timestamp: number,
    nonce: fc.oneof(hex(8), number),
    mixHash: hex(32),
    coinbase: address,
    parentHash: hex(32),
    baseFeePerGas: number,
  });
  const required = fc.tuple(
    fc.oneof({ weight: 12, arbitrary: fc.constantFrom<unknown>("0x47b760", 30_000_000, "5000") }, number),
    fc.oneof({ weight: 12, arbitrary: fc.constantFrom<unknown>("0x1", "1", 1) }, number),
    fc.oneof({ weight: 12, arbitrary: fc.constant(EXTRA_DATA) }, hex(60)),
  );
  return fc
    .tuple(config, alloc, header, required, fc.nat(2 ** 16))
    .map(([inConfig, inAlloc, inHeader, [gasLimit, difficulty, extraData], casing]) =>
      write(
        new Entries([
          ["config", new Entries(inConfig)],
          ...inHeader,
          ["gasLimit", gasLimit],
          ["difficulty", difficulty],
          ["extraData", extraData],
          ["alloc", new Entries(inAlloc)],
        ]),
        casing,
      ),
    );
}

/** An object that may have a key twice, as a text can and an object cannot. */
class Entries {
  readonly entries: readonly (readonly [string, unknown])[];

  constructor(entries: readonly (readonly [string, unknown])[]) {
    this.entries = entries;
  }
}

function write(value: unknown, casing: number): string {
  if (Array.isArray(value)) return `[${value.map((each) => write(each, casing)).join(",")}]`;
  if (!(value instanceof Entries)) {
    return typeof value === "object" && value !== null
      ? write(new Entries(Object.entries(value)), casing)
      : JSON.stringify(value);
  }
  const members = value.entries.map(([key, each], at) => {
    const cased = (casing >> (at % 16)) % 2 === 0 ? key : key.toLowerCase();
    return `${JSON.stringify(cased)}:${write(each, casing)}`;
  });
  return `{${members.join(",")}}`;
}
