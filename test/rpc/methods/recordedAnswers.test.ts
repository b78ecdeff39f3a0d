import { readdirSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { createNextBlockView } from "../../../src/chain/nextBlockView.ts";
import { nextBaseFee } from "../../../src/execution/baseFee.ts";
import { peerCommands } from "../../../src/node/peers/peerInfo.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { addressFromHex } from "../../../src/primitives/address.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { systemClock } from "../../../src/primitives/clock.ts";
import { toDigits, toHex } from "../../../src/primitives/hex.ts";
import { createDispatcher } from "../../../src/rpc/dispatcher.ts";
import { NAMESPACES, type Namespace } from "../../../src/rpc/method.ts";
import { METHODS } from "../../../src/rpc/methods/registry.ts";
import { isAbsent } from "../../../src/rpc/parameters/parameters.ts";
import { AdmissionQueue } from "../../../src/txpool/admissionQueue.ts";
import { DEFAULT_TX_POOL_LIMITS } from "../../../src/txpool/limits.ts";
import { TxPool } from "../../../src/txpool/txPool.ts";
import { aCaller } from "../../builders/aCaller.ts";
import { aChain, type TestChain } from "../../builders/aChain.ts";
import {
  type AllParts,
  aMiner,
  anRpcBackend,
  aQuietNetwork,
  RPC_SETTINGS,
} from "../../builders/anRpcBackend.ts";
import { hereWorkers } from "../../builders/hereWorkers.ts";
import { recordedBlocks } from "../../builders/recordedChain.ts";
import { recoverSignersHere } from "../../builders/recoverSignersHere.ts";
import { tracerOf } from "../../builders/tracerOf.ts";
import { IS_THOROUGH } from "../../thorough.ts";
import { describeWithVectors, readVectorJson, vectorPath } from "../../vectors.ts";
import { withoutProblems } from "../problems.ts";
import { withoutBesuBugs } from "./besuTraceBugs.ts";

/**
 * Repeats requests recorded from a live Besu node against our methods, with the real chain, state, executor and pool and
 * the same blocks imported with full validation. Every answer is compared as text.
 */

interface Request {
  readonly method: string;
  readonly params?: readonly unknown[];
}

interface RecordedCase {
  /** Group and name, as in the list of exceptions. */
  readonly name: string;
  readonly request: Request;
  readonly response: {
    readonly result?: unknown;
    readonly error?: { code: number; message: string; data?: string };
  };
  /** The answer holds at every head from the first to the second. */
  readonly heads?: readonly [number, number] | null;
}

interface Exception {
  readonly compare?: "set" | "shape" | "sequence";
  readonly reason?: string;
  readonly ruling?: string;
  /** Cases to send first. */
  readonly after?: readonly string[];
  readonly setup?: "gap";
}

const OURS = new Set(METHODS.flatMap(({ name, aliases }) => [name, ...(aliases ?? [])]));

/** Cases answered differently, with the reason; our answers are tested elsewhere. */
const EXPLAINED: ReadonlyMap<string, string> = new Map([
  ["debug/storageRangeAt-badidx", "the transaction index is used: one above the last means all transactions"],
  ["eth_feeHistory/unsorted", "percentiles that fall are refused, as the interface document has it"],
  ["bonsai/storageRangeAt", "our storage format knows the slot keys"],
]);

/** Depend on the time of the request; adminPeers.test.ts compares them. */
const PEER_METHODS = new Set(["admin_nodeInfo", "admin_peers"]);

/** Methods unknown to Besu, whose recorded answer is an error. */
const NOT_IN_BESU = new Set([
  "eth_config",
  "eth_simulateV1",
  "txpool_content",
  "txpool_inspect",
  "txpool_status",
]);

/** The second has long traces, and is only part of the long run. */
const NETWORKS = ["net1", "net2", "net3"] as const;
type Network = (typeof NETWORKS)[number];

interface Scope {
  readonly maxLogsRange: bigint;
  /**
   * Excludes groups recorded from another node than the one whose chain was recorded, after a change of its settings, with
   * a pool of other rules, from four nodes at once, or about HTTP.
   */
  includes(group: string): boolean;
  readonly leastCases: number;
}

const OTHER_NODES = new Set(["mingasprice-1000-nolocals", "ibft-scenario", "transport"]);
const FOUR_NODES: Scope = {
  maxLogsRange: 5000n,
  includes: (group) => !OTHER_NODES.has(group),
  leastCases: 540,
};
const SCOPES: Readonly<Record<Network, Scope>> = {
  net1: FOUR_NODES,
  net2: FOUR_NODES,
  net3: { maxLogsRange: 20n, includes: (group) => ["bonsai", "limits"].includes(group), leastCases: 4 },
};

describeWithVectors("answers recorded from a live network", () => {
  describe.each(IS_THOROUGH ? NETWORKS : NETWORKS.filter((network) => network !== "net2"))(
    "%s",
    (network) => {
      const scope = SCOPES[network];
      const exceptions = readVectorJson<{ cases: Record<string, Exception> }>(
        "besu-ibft",
        network,
        "rpc-volatile.json",
      ).cases;
      const cases = readCases(network).filter(({ name, request }) => {
        const { compare, ruling } = exceptions[name] ?? {};
        const isOurs =
          OURS.has(request?.method) &&
          !NOT_IN_BESU.has(request.method) &&
          scope.includes(name.split("/")[0] ?? "");
        if (EXPLAINED.has(name) || PEER_METHODS.has(request?.method)) return false;
        return isOurs && compare !== "sequence" && ruling?.includes("overrides") !== true;
      });
      const methods = [...new Set(cases.map(({ request }) => request.method))].sort();
      /** Our answers and the expected ones, by method. */
      const pairs = new Map<string, Pair[]>(methods.map((method) => [method, []]));

      beforeAll(async () => {
        const folder = ["besu-ibft", network];
        const node = await aChain({
          genesis: readFileSync(vectorPath(...folder, "genesis.json"), "utf8"),
          production: { keepsRevertReasons: network === "net2" },
        });
        const context = { node, network, cases, exceptions };
        const blocks = recordedBlocks(folder);
        const casesAt = new Map<number, RecordedCase[]>();
        for (const recorded of cases)
          for (const head of headsOf(recorded, network, blocks.length - 1))
            casesAt.set(head, [...(casesAt.get(head) ?? []), recorded]);
        for (const { header, transactions, ommers } of blocks) {
          if (header.number > 0n) {
            const imported = await node.chain.importBlock({ header, transactions, ommers });
            if (!imported.ok) throw new Error(imported.error.message);
          }
          for (const recorded of casesAt.get(Number(header.number)) ?? [])
            pairs.get(recorded.request.method)?.push(await replay(recorded, context));
        }
      });

      it("are nearly all repeated", () => {
        expect(cases.length).toBeGreaterThanOrEqual(scope.leastCases);
      });

      it.each(methods)("%s", (method) => {
        const answers = pairs.get(method) ?? [];
        expect(answers.length).toBeGreaterThan(0);
        for (const { label, ours, expected } of answers) expect(withoutProblems(ours), label).toBe(expected);
      });
    },
  );
});

interface Pair {
  readonly label: string;
  readonly ours: string;
  readonly expected: string;
}

interface ReplayContext {
  readonly node: TestChain;
  readonly network: Network;
  readonly cases: readonly RecordedCase[];
  readonly exceptions: Readonly<Record<string, Exception>>;
}

/**
 * Both ends of the range in which the answer holds, but only the last one for simulations, because some use a whole
 * block's gas and take seconds; the last block when the answer holds at every head.
 */
function headsOf({ name, request, heads }: RecordedCase, network: Network, last: number): readonly number[] {
  const misdated = MISDATED.get(`${network}/${name}`);
  if (misdated !== undefined) return [misdated];
  if (isAbsent(heads)) return [last];
  return SIMULATIONS.has(request.method) ? [heads[1]] : [...new Set(heads)];
}

const SIMULATIONS = new Set(["eth_call", "eth_estimateGas", "eth_createAccessList"]);

/** Depends on the head's gas limit: sent at block 903 or 904, but recorded as valid from 900 to 903. */
const MISDATED: ReadonlyMap<string, number> = new Map([["net1/eth_estimateGas/precompiles", 904]]);

/** Repeats a case with a new pool and new filters, after only the requests that it depends on. */
async function replay(
  recorded: RecordedCase,
  { node, network, cases, exceptions }: ReplayContext,
): Promise<Pair> {
  const { after = [], setup, compare, reason, ruling } = exceptions[recorded.name] ?? {};
  const ask = openNode(node, network);
  if (setup === "gap") for (const raw of rawsOfGap(network)) await ask({ ...SEND, params: [raw] });
  /** Our filter id for each id of the recorded node. */
  const ids = new Map<unknown, unknown>();
  const translated = (request: Request): Request => ({
    ...request,
    ...(request.params && { params: request.params.map((value) => ids.get(value) ?? value) }),
  });
  const earlierCases = [...(EARLIER_CASES.get(`${network}/${recorded.name}`) ?? []), ...after];
  for (const earlier of earlierCases.flatMap((name) => cases.find((each) => each.name === name) ?? [])) {
    const { result } = JSON.parse(await ask(translated(withWholeAddress(earlier.request)))) as {
      result?: unknown;
    };
    ids.set(earlier.response.result, result);
  }
  const ours = await ask(translated(withWholeAddress(recorded.request)));
  const label = `${recorded.name} at ${node.chain.head.header.number}`;
  if (ruling?.includes("finalized and safe") === true) {
    return { label, ours, expected: await ask(withLatest(recorded.request)) };
  }
  const expected = ruledAnswer(recorded, ruling);
  if (recorded.request.method.includes("_trace") || recorded.request.method.startsWith("trace_")) {
    const [shown, wanted] = withoutBesuBugs(JSON.parse(ours), expected);
    return { label, ours: shown, expected: wanted };
  }
  const normalized = NORMALIZED[compare ?? (reason?.includes("as an object") ? "object" : "text")];
  return { label, ours: normalized(JSON.parse(ours)), expected: normalized(expected) };
}

/** The request with all 20 bytes where Besu takes a vote for fewer, and we refuse it (ibftVotes.test.ts). */
function withWholeAddress(request: Request): Request {
  if (request.method !== "ibft_proposeValidatorVote") return request;
  const [address, ...rest] = request.params ?? [];
  return { ...request, params: [`0x${String(address).slice(2).padStart(40, "0")}`, ...rest] };
}

/** Cases that depend on an earlier request whose effect was still there; the list of exceptions does not always say so. */
const EARLIER_CASES: ReadonlyMap<string, readonly string[]> = new Map(
  [
    "net1/ibft/getPendingVotes",
    "net1/ibft/getPendingVotes-empty",
    "net1/ibft/getPendingVotes-flipped",
    "net1/ibft/getPendingVotes-one",
    "net2/ibft/getPendingVotes-empty",
  ].map((name) => [name, ["ibft/proposeValidatorVote-badaddr"]]),
);

/** Normalizations before two answers are compared. */
const NORMALIZED: Readonly<
  Record<"text" | "set" | "shape" | "sequence" | "object", (answer: object) => string>
> = {
  text: (answer) => JSON.stringify(answer),
  sequence: (answer) => JSON.stringify(answer),
  // The names of trace files end with the time of writing.
  shape: (answer) =>
    JSON.stringify(answer)
      .replace(/:"[^"]*"/g, ":text")
      .replace(/-\d+"/g, '-time"'),
  set: (answer) => JSON.stringify(sorted(answer)),
  object: (answer) => JSON.stringify(withSortedMembers(answer)),
};

/** Sorts lists by their text and leaves out arrival times, which differ between nodes. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(sorted).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([name]) => name !== "addedToPoolAt");
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]));
}

function withSortedMembers(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, withSortedMembers(member)]));
}

/** Our intended answer by a ruling (architecture.md#rulings), or else the recorded one. */
function ruledAnswer({ request, response }: RecordedCase, ruling = ""): object {
  if (ruling.includes("code 3")) return withCode3(response);
  if (request.method === "admin_generateLogBloomCache")
    return { ...response, result: { ...(response.result as object), indexing: false } };
  if (COINBASE_SETTERS.has(request.method) && response.error?.code === -32600)
    return { jsonrpc: "2.0", id: 1, result: true };
  return request.method === "miner_stop" ? { ...response, result: true } : response;
}

const COINBASE_SETTERS = new Set(["miner_setCoinbase", "miner_setEtherbase"]);

function withCode3({ error, ...rest }: RecordedCase["response"]): object {
  return { ...rest, error: { ...error, code: 3 } };
}

/** The same request with `latest` in place of `finalized` and `safe`. */
function withLatest(request: Request): Request {
  const isTag = (value: unknown) => value === "finalized" || value === "safe";
  return { ...request, params: (request.params ?? []).map((value) => (isTag(value) ? "latest" : value)) };
}

function openNode(
  { chain, spec, world, database }: TestChain,
  network: Network,
): (request: Request) => Promise<string> {
  const pool = new TxPool(
    { ...DEFAULT_TX_POOL_LIMITS, blockFloors: { minGasPriceWei: 0n, minPriorityFeeWei: 0n } },
    { chain: createNextBlockView(spec, chain, world.head, systemClock), clock: systemClock },
  );
  const queue = new AdmissionQueue(pool, recoverSignersHere);
  const backend = anRpcBackend({
    chain,
    spec,
    pool,
    ...hereWorkers({ chain, spec, database }),
    tracer: tracerOf(chain, spec),
    writeTrace: async (name) => `<data-path>/traces/${name}`,
    submit: (raw) => queue.submit(raw),
    prove: (number, address, slots) => world.prove(number, address, slots),
    nextBaseFeePerGas: () => nextBaseFee(spec, chain.head.header, chain.head.header.timestamp + 1n),
    settings: {
      ...RPC_SETTINGS,
      networkId: spec.chainId,
      maxLogsRange: SCOPES[network].maxLogsRange,
      gasPrice: {
        ...RPC_SETTINGS.gasPrice,
        get minGasPriceWei() {
          return pool.blockFloors.minGasPriceWei;
        },
      },
    },
    badBlocks: chain.badBlocks,
    ...factsOf(network),
  });
  const dispatcher = createDispatcher(
    { methods: METHODS, modules: MODULES },
    { backend, logger: silentLogger },
  );
  return async (request) =>
    expectDefined(await dispatcher.answerRequest(request, JSON.stringify(request), aCaller), "the reply")
      .text;
}

/** Facts about the recorded node itself. */
function factsOf(network: Network): Partial<AllParts> {
  if (network === "net3") return {};
  const answerTo = (name: string) =>
    readCase(vectorPath("besu-ibft", network, "rpc", `${name}.json`)).response.result;
  const services = answerTo("basic/net_services") as Readonly<Record<string, { host: string; port: string }>>;
  const endpoints = Object.entries(services).map(([name, { host, port }]) => [
    name,
    { host, port: Number(port) },
  ]);
  return {
    mining: { ...aMiner(), coinbase: addressFromHex(String(answerTo("basic/eth_coinbase"))) },
    network: {
      peerToPeer: {
        ...aQuietNetwork(),
        peerCount: 3,
        enode: String(answerTo("noparams/net_enode")),
        ...peerCommands(aDialer(answerTo("admin/nodeInfo") as { id: string }), { hostNames: "none" }),
      },
      ethVersion: 68,
      services: () => Object.fromEntries(endpoints),
    },
  };
}

/** A list of maintained peers, for a node with the given id. */
function aDialer({ id }: { readonly id: string }): Parameters<typeof peerCommands>[0] {
  const ids = new Set<string>();
  return {
    addPeer({ nodeId }) {
      const key = toDigits(nodeId);
      if (toHex(nodeId) === `0x${id}` || ids.has(key)) return false;
      ids.add(key);
      return true;
    },
    removePeer: (nodeId) => ids.delete(toDigits(nodeId)),
  };
}

const SEND = { jsonrpc: "2.0", id: 1, method: "eth_sendRawTransaction" };

/** Two transactions after a nonce gap (`rpc-README.md` of the recordings). */
function rawsOfGap(network: Network): readonly string[] {
  const name = "txpool/txpool_besuPendingTransactions-with-gap.json";
  const { response } = readCase(vectorPath("besu-ibft", network, "rpc", name));
  return (response.result as { raw: string; nonce: string }[])
    .sort((a, b) => (a.nonce < b.nonce ? -1 : 1))
    .map(({ raw }) => raw);
}

/** In the recorded node's order. */
const MODULES: ReadonlySet<Namespace> = new Set(
  ["TXPOOL", "TRACE", "DEBUG", "PERM", "IBFT", "PLUGINS", "ETH", "WEB3", "ADMIN", "NET", "MINER"].map(
    (name) =>
      expectDefined(
        NAMESPACES.find((known) => known === name),
        name,
      ),
  ),
);

function readCases(network: Network): RecordedCase[] {
  const folder = vectorPath("besu-ibft", network, "rpc");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".json") || file.endsWith(".json.gz"))
    .sort()
    .map((file) => ({ ...readCase(`${folder}/${file}`), name: file.replace(/\.json(\.gz)?$/, "") }));
}

function readCase(path: string): RecordedCase {
  const bytes = readFileSync(path);
  return JSON.parse((path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8")) as RecordedCase;
}
