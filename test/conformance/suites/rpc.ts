import { readdirSync, readFileSync } from "node:fs";
import type { ChainReader } from "../../../src/chain/chainReader.ts";
import { nextBaseFee } from "../../../src/execution/baseFee.ts";
import { silentLogger } from "../../../src/observability/logger.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { ok } from "../../../src/primitives/result.ts";
import type { CoreParts } from "../../../src/rpc/core/coreParts.ts";
import { createDispatcher, type Dispatcher } from "../../../src/rpc/dispatcher.ts";
import { NETWORK_NAMESPACES } from "../../../src/rpc/method.ts";
import { METHODS } from "../../../src/rpc/methods/registry.ts";
import { BLOCK_STORE_LIMITS, BlockStore } from "../../../src/storage/blocks/blockStore.ts";
import { WHOLE_HISTORY } from "../../../src/storage/historyStart.ts";
import { poolError } from "../../../src/txpool/errors.ts";
import { decodeTransaction } from "../../../src/types/transaction.ts";
import { withRecoveredSender } from "../../../src/types/transactionSignature.ts";
import { aCaller } from "../../builders/aCaller.ts";
import { anRpcBackend, RPC_SETTINGS } from "../../builders/anRpcBackend.ts";
import { hereWorkers } from "../../builders/hereWorkers.ts";
import { vectorPath } from "../../vectors.ts";
import { blocksOfFile } from "../chains/blockFile.ts";
import { type ForeignChain, openForeignChain } from "../chains/foreignChain.ts";
import { rulesOfGenesis } from "../chains/foreignRules.ts";
import type { Case, Failure, Suite } from "../suite.ts";
import { firstDifference } from "./difference.ts";

/**
 * JSON-RPC requests and responses: Besu's fixtures and the standard's conversations, sent to our methods on the chains that
 * they were made for. Responses are compared as a whole, regardless of the order of members. Traces have their own suite.
 */
export const RPC: Suite = {
  name: "rpc",
  total: 210,
  every: 250,
  cases: () => [...besuCases(), ...standardCases()],
};

interface Exchange {
  readonly request: Request;
  readonly response: Answer;
}

interface Request {
  readonly method: string;
  readonly id?: unknown;
}

interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

interface Batch {
  readonly request: readonly Request[];
  readonly response: readonly Answer[];
}

/** Each request of a batch with its response. */
function singles({ request, response }: Exchange | Batch): readonly Exchange[] {
  const [requests, answers] = [request, response].map((each) => (Array.isArray(each) ? each : [each]));
  return (requests ?? []).map((each, index) => ({
    request: each as Request,
    response: answers?.[index] as Answer,
  }));
}

const HIVE = {
  genesis: "besu-jsonrpc/chains/hive/testGenesis.json",
  blocks: "besu-jsonrpc/chains/hive/testBlockchain.blocks",
};
const ISTANBUL = {
  genesis: "besu-jsonrpc/chains/trace/genesis.json",
  blocks: "besu-jsonrpc/chains/trace/blocks.bin",
};
const STANDARD = { genesis: "execution-apis/genesis.json", blocks: "execution-apis/chain.rlp" };

type ChainFiles = typeof HIVE;

function besuCases(): Case[] {
  const folder = vectorPath("besu-jsonrpc", "jsonrpc");
  return filesIn(folder, ".json")
    .filter((file) => !/^trace\/|^debug\/trace-/.test(file))
    .map((file) => {
      const files = file.startsWith("eth_latest/") ? ISTANBUL : HIVE;
      const exchange = JSON.parse(readFileSync(`${folder}/${file}`, "utf8")) as Exchange | Batch;
      return { id: `besu-jsonrpc/${file}`, run: () => converse(files, singles(exchange)) };
    });
}

function standardCases(): Case[] {
  const folder = vectorPath("execution-apis");
  return filesIn(folder, ".io").map((file) => ({
    id: `execution-apis/${file}`,
    run: () => converse(STANDARD, exchangesOf(readFileSync(`${folder}/${file}`, "utf8"))),
  }));
}

function filesIn(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(ending))
    .sort();
}

/** Lines with ">> " are requests, the lines with "<< " after them are responses. */
function exchangesOf(text: string): Exchange[] {
  const parts = [...text.matchAll(/^(>>|<<) (.*)$/gm)].map(([, mark, json = ""]) => ({
    mark,
    value: JSON.parse(json) as unknown,
  }));
  return parts.flatMap(({ mark, value }, index) =>
    mark === ">>" ? [{ request: value as Request, response: parts[index + 1]?.value as Answer }] : [],
  );
}

async function converse(files: ChainFiles, exchanges: readonly Exchange[]): Promise<Failure | undefined> {
  const dispatcher = await dispatcherOver(files);
  for (const { request, response } of exchanges) {
    const reply = await dispatcher.answerRequest(request, JSON.stringify(request), aCaller);
    const answer = JSON.parse(expectDefined(reply, "the reply").text) as Answer;
    const difference = firstDifference(comparable(request, answer), comparable(request, response), "answer");
    if (difference !== undefined) return `${request.method}: ${difference}`;
  }
  return undefined;
}

/** Ignores white space in error messages, the data of -32602, which is ours, and filter ids, which are random. */
function comparable({ method }: Request, { result, error }: Answer): object {
  if (error === undefined) return method.startsWith("eth_new") ? { type: typeof result } : { result };
  const { code, message, data } = error;
  return {
    error: { code, message: message.replace(/\s+/g, " ").trim(), ...(code !== INVALID_PARAMS && { data }) },
  };
}

const INVALID_PARAMS = -32602;

const dispatchers = new Map<ChainFiles, Promise<Dispatcher>>();

/** Each chain is imported once, because requests do not change it. */
function dispatcherOver(files: ChainFiles): Promise<Dispatcher> {
  const known = dispatchers.get(files);
  if (known !== undefined) return known;
  const opened = openDispatcher(files);
  dispatchers.set(files, opened);
  return opened;
}

async function openDispatcher({ genesis, blocks }: ChainFiles): Promise<Dispatcher> {
  const foreign = await openForeignChain(rulesOfGenesis(readFileSync(vectorPath(genesis), "utf8"), genesis));
  for (const block of blocksOfFile(blocks)) {
    if (block.header.number === 0n) continue;
    const imported = await foreign.import(block);
    if (!imported.ok) throw new Error(imported.error.message);
  }
  const { spec } = foreign.rules;
  const chain = readerOf(foreign);
  const backend = anRpcBackend({
    chain,
    spec,
    ...hereWorkers({ chain, spec, database: foreign.database }),
    prove: (number, address, slots) => foreign.world.prove(number, address, slots),
    submit,
    // Values that the fixtures' own harness uses (the vectors' README).
    settings: {
      ...RPC_SETTINGS,
      clientVersion: "TestClientVersion/0.1.0",
      networkId: 123n,
      maxLogsRange: 5000n,
    },
    network: {
      peerToPeer: undefined,
      ethVersion: 63,
      services: () => ({}),
    },
    nextBaseFeePerGas: () => nextBaseFee(spec, chain.head.header, chain.head.header.timestamp + 1n),
  });
  return createDispatcher(
    { methods: METHODS, modules: new Set(NETWORK_NAMESPACES) },
    { backend, logger: silentLogger },
  );
}

/** The harness of the fixtures accepts any valid transaction except those with nonce 16. */
const submit: CoreParts["submit"] = async (raw) => {
  const decoded = decodeTransaction(raw);
  if (!decoded.ok) return decoded;
  if (withRecoveredSender(decoded.value) === undefined)
    return poolError("invalidSignature", "local", "no key");
  return decoded.value.nonce === 16n ? poolError("nonceTooLow", "local", "") : ok(decoded.value.hash);
};

function readerOf({ database, world, genesis, head }: ForeignChain): ChainReader {
  const blocks = new BlockStore(BLOCK_STORE_LIMITS, { database });
  return {
    genesis,
    head,
    historyStart: WHOLE_HISTORY,
    headerByNumber: (number) => blocks.header(number),
    headerByHash: (hash) => blocks.headerByHash(hash),
    blockByNumber: (number) => blocks.block(number),
    blockByHash: (hash) => blocks.blockByHash(hash),
    transactionByHash: (hash) => blocks.transactionByHash(hash),
    validatorsFor: () => [],
    stateAt: (number) => world.at(number),
    onHeadChanged: () => () => undefined,
  };
}
