/**
 * Invalid JSON-RPC requests: wrong types, huge numbers, deep nesting, odd text, truncated JSON, bytes that are not text.
 * The same seed gives the same requests, so that a failure can be reproduced from its seed and its index.
 * `known` are valid requests about data of the chain under test: half of the requests are mutations of these.
 */
export function* mutatedRequests(
  seed: number,
  known: readonly ValidRequest[] = [],
): Generator<Buffer, never> {
  const chance = createChance(seed);
  const origins = [VALID_REQUESTS, known.length === 0 ? VALID_REQUESTS : known.map(requestOf)];
  while (true) {
    const valid = chance.pick(origins);
    yield mangleBytes(chance, serialize(mangleShape(chance, valid)));
  }
}

export interface ValidRequest {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** A seeded pseudo-random generator (mulberry32). */
export interface Chance {
  /** An integer from 0 to `limit` - 1. */
  below(limit: number): number;
  /** True once in `count` times. */
  oneIn(count: number): boolean;
  pick<T>(list: readonly T[]): T;
}

export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
  return {
    below,
    oneIn: (count) => below(count) === 0,
    pick<T>(list: readonly T[]): T {
      return list[below(list.length)] as T;
    },
  };
}

type Json = unknown;

const ADDRESS = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
const HASH = `0x${"5d".repeat(32)}`;
const CALL = { from: ADDRESS, to: ADDRESS, gas: "0x5208", gasPrice: "0x0", value: "0x1", data: "0x1234" };
const FILTER = { fromBlock: "0x0", toBlock: "latest", address: [ADDRESS], topics: [null, [HASH, HASH]] };
const RAW_TRANSACTION =
  "0xf86b808477359400825208943535353535353535353535353535353535353535880de0b6b3a7640000801ba0" +
  `${"18".repeat(32)}a0${"2b".repeat(32)}`;

const VALID_REQUESTS: readonly Json[] = (
  [
    ["eth_blockNumber", []],
    ["eth_chainId", []],
    ["eth_syncing", []],
    ["eth_gasPrice", []],
    ["eth_feeHistory", ["0x5", "latest", [10, 50, 90]]],
    ["eth_getBalance", [ADDRESS, "latest"]],
    ["eth_getBalance", [ADDRESS, { blockHash: HASH, requireCanonical: true }]],
    ["eth_getCode", [ADDRESS, "0x0"]],
    ["eth_getStorageAt", [ADDRESS, "0x0", "latest"]],
    ["eth_getTransactionCount", [ADDRESS, "pending"]],
    ["eth_getProof", [ADDRESS, ["0x0", HASH], "latest"]],
    ["eth_call", [CALL, "latest"]],
    ["eth_estimateGas", [CALL]],
    ["eth_createAccessList", [{ ...CALL, accessList: [{ address: ADDRESS, storageKeys: [HASH] }] }]],
    ["eth_getBlockByNumber", ["latest", true]],
    ["eth_getBlockByHash", [HASH, false]],
    ["eth_getBlockTransactionCountByNumber", ["0x0"]],
    ["eth_getBlockTransactionCountByHash", [HASH]],
    ["eth_getUncleByBlockNumberAndIndex", ["0x0", "0x0"]],
    ["eth_getTransactionByHash", [HASH]],
    ["eth_getTransactionByBlockNumberAndIndex", ["0x0", "0x0"]],
    ["eth_getTransactionReceipt", [HASH]],
    ["eth_getBlockReceipts", ["latest"]],
    ["eth_getMinerDataByBlockNumber", ["0x0"]],
    ["eth_getLogs", [FILTER]],
    ["eth_newFilter", [FILTER]],
    ["eth_newBlockFilter", []],
    ["eth_getFilterChanges", ["0x1"]],
    ["eth_getFilterLogs", ["0x1"]],
    ["eth_uninstallFilter", ["0x1"]],
    ["eth_sendRawTransaction", [RAW_TRANSACTION]],
    ["eth_sendTransaction", [CALL]],
    ["eth_submitWork", ["0x0", HASH, HASH]],
    ["eth_subscribe", ["logs", FILTER]],
    ["eth_subscribe", ["newHeads", { includeTransactions: true }]],
    ["eth_unsubscribe", ["0x1"]],
    ["net_version", []],
    ["net_services", []],
    ["web3_sha3", ["0x68656c6c6f"]],
    ["web3_clientVersion", []],
    ["txpool_besuTransactions", []],
    ["txpool_besuPendingTransactions", [10, { from: { eq: ADDRESS }, gas: { lt: "0x5208" } }]],
    ["txpool_besuStatistics", []],
    ["rpc_modules", []],
    ["debug_traceTransaction", [HASH, { tracer: "callTracer" }]],
    ["admin_peers", []],
    ["no_such", [1, 2, 3]],
  ] as const
).map(([method, params], id) => requestOf({ method, params }, id));

function requestOf({ method, params }: ValidRequest, id: number): Json {
  return { jsonrpc: "2.0", id, method, params };
}

/** JSON text that JSON.stringify cannot produce, inserted verbatim. */
class Verbatim {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const HOSTILE: readonly Json[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  2 ** 53,
  new Verbatim("-0"),
  new Verbatim("1e400"),
  new Verbatim("-1E-400"),
  new Verbatim("123456789012345678901234567890"),
  new Verbatim(`1${"0".repeat(5_000)}`),
  new Verbatim(`0.${"3".repeat(500)}`),
  new Verbatim('"\\ud800"'),
  new Verbatim('"\\u0000\\u001f"'),
  new Verbatim('{"__proto__":{"polluted":true},"constructor":1}'),
  new Verbatim('{"a":1,"a":2,"a":{}}'),
  new Verbatim(`${"[".repeat(2_000)}${"]".repeat(2_000)}`),
  new Verbatim(`${'{"a":'.repeat(2_000)}0${"}".repeat(2_000)}`),
  "",
  " ",
  "0",
  "0x",
  "0X1F",
  "0x0",
  "-0x1",
  "0x-1",
  "0xg",
  "0x1",
  "0x01",
  "017",
  "#1f",
  "latest",
  "LATEST",
  "finalized",
  "newHeads",
  "logs",
  `0x${"f".repeat(16)}`,
  `0x7${"f".repeat(15)}`,
  `0x${"f".repeat(64)}`,
  `0x${"f".repeat(65)}`,
  `0x${"0".repeat(100_000)}`,
  "x".repeat(10_000),
  "☃ 𝔘𝔫𝔦 \u202e\u0000",
  ADDRESS,
  HASH,
  [],
  {},
  [[]],
  [null],
  [ADDRESS, null, 5],
  Array(1_000).fill(HASH),
  { blockHash: HASH },
  { blockNumber: -1 },
  { address: {}, topics: [[[HASH]]] },
  Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`key${index}`, index])),
];

/** A valid request, a mutation of one, a batch of these, or a hostile value. */
function mangleShape(chance: Chance, valid: readonly Json[]): Json {
  const request = chance.pick(valid);
  switch (chance.below(12)) {
    case 0:
      return request;
    case 1:
      return chance.pick(HOSTILE);
    case 2:
    case 3:
      return Array.from({ length: chance.below(8) }, () => mangleShape(chance, valid));
    case 4:
      return mangleMember(chance, mangleMember(chance, request));
    default:
      return mangleMember(chance, request);
  }
}

const MEMBERS = ["id", "method", "params", "jsonrpc", "extra"];

function mangleMember(chance: Chance, request: Json): Json {
  if (typeof request !== "object" || request === null || Array.isArray(request)) return request;
  const members: Record<string, Json> = { ...request };
  if (chance.oneIn(2)) {
    members["params"] = mangleDeep(chance, members["params"]);
    return members;
  }
  const name = chance.pick(MEMBERS);
  if (chance.oneIn(3)) delete members[name];
  else members[name] = chance.pick(HOSTILE);
  return members;
}

/** Replaces, drops or adds a value somewhere in a list or an object. */
function mangleDeep(chance: Chance, value: Json): Json {
  if (typeof value === "string" && /^0x./.test(value) && chance.oneIn(2)) return mangleHex(chance, value);
  if (value instanceof Verbatim || typeof value !== "object" || value === null || chance.oneIn(8)) {
    return chance.pick(HOSTILE);
  }
  if (Array.isArray(value)) {
    const items = [...(value as Json[])];
    const index = chance.below(items.length + 1);
    switch (chance.below(6)) {
      case 0:
        items.splice(index, 0, chance.pick(HOSTILE));
        break;
      case 1:
        items.splice(index, 1);
        break;
      default:
        items[index] = mangleDeep(chance, items[index]);
    }
    return items;
  }
  const names = Object.keys(value);
  const name = names.length === 0 || chance.oneIn(6) ? "unknown" : chance.pick(names);
  return { ...value, [name]: mangleDeep(chance, (value as Record<string, Json>)[name]) };
}

/** Changes, truncates or extends hex, which makes the RLP of a transaction invalid. */
function mangleHex(chance: Chance, hex: string): string {
  const at = 2 + chance.below(hex.length - 2);
  const digits = chance.below(256).toString(16).padStart(2, "0");
  switch (chance.below(4)) {
    case 0:
      return hex.slice(0, at);
    case 1:
      return hex.slice(0, at) + digits + hex.slice(at);
    default:
      return hex.slice(0, at) + digits + hex.slice(at + 2);
  }
}

function serialize(value: Json): string {
  if (value instanceof Verbatim) return value.text;
  if (Array.isArray(value)) return `[${(value as Json[]).map(serialize).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${serialize(member)}`,
  );
  return `{${members.join(",")}}`;
}

const LITTER = [
  "{",
  "}",
  "[",
  "]",
  '"',
  ",",
  ":",
  "\\",
  "0",
  "-",
  "e",
  "\u0000",
  "\n",
  "null",
  "//",
  "\ufeff",
];

/** Leaves three in four requests unchanged; the others are truncated, corrupted, doubled or not text. */
function mangleBytes(chance: Chance, text: string): Buffer {
  const position = chance.below(text.length + 1);
  switch (chance.below(28)) {
    case 0:
      return Buffer.from(text.slice(0, position));
    case 1:
      return Buffer.from(text.slice(position));
    case 2:
      return Buffer.from(text.slice(0, position) + chance.pick(LITTER) + text.slice(position));
    case 3:
      return Buffer.from(text + text);
    case 4: {
      const bytes = Buffer.from(text);
      if (bytes.length > 0) bytes[position % bytes.length] = chance.below(256);
      return bytes;
    }
    case 5:
      return Buffer.from(text, "utf16le");
    case 6:
      return Buffer.from(Array.from({ length: chance.below(200) }, () => chance.below(256)));
    default:
      return Buffer.from(text);
  }
}
