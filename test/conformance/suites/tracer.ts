import { readdirSync } from "node:fs";
import { addressFromHex } from "../../../src/primitives/address.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { keccak256, ZERO_HASH } from "../../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { joinPieces } from "../../../src/primitives/jsonPieces.ts";
import { decodeTraceOptions } from "../../../src/rpc/parameters/traceParameters.ts";
import { runTrace } from "../../../src/tracers/runTrace.ts";
import type { DebugStyle } from "../../../src/tracers/traceJob.ts";
import type { Header } from "../../../src/types/header.ts";
import { decodeTransaction } from "../../../src/types/transaction.ts";
import { withRecoveredSender } from "../../../src/types/transactionSignature.ts";
import { readVectorJson, vectorPath } from "../../vectors.ts";
import { rulesOfGenesis } from "../chains/foreignRules.ts";
import type { Failure, Suite } from "../suite.ts";
import { firstDifference } from "./difference.ts";
import { type PreState, worldOf } from "./preState.ts";

/** go-ethereum's tests of its call, flat call and prestate tracers. */
export const TRACER: Suite = {
  name: "tracer",
  total: 48,
  every: 4,
  cases: () =>
    Object.entries(FOLDERS).flatMap(([folder, tracer]) =>
      readdirSync(vectorPath("geth-tracers", folder)).map((file) => ({
        id: `${folder}/${file}`,
        run: () => checkTracer(folder, file, tracer),
      })),
    ),
};

const FOLDERS: Readonly<Record<string, string>> = {
  call_tracer: "callTracer",
  call_tracer_withLog: "callTracer",
  call_tracer_flat: "flatCallTracer",
  prestate_tracer: "prestateTracer",
  prestate_tracer_with_diff_mode: "prestateTracer",
};

interface TracerTest {
  readonly genesis: { readonly alloc: PreState; readonly config: GenesisConfig };
  readonly context: Readonly<Record<string, string>>;
  readonly input: string;
  readonly tracerConfig?: object;
  readonly result: unknown;
}

type GenesisConfig = Readonly<Record<string, unknown>>;

/** Orders forks: some tests activate a fork later than a fork that includes it, which our parser refuses. */
function inOrder(config: GenesisConfig): GenesisConfig {
  const { homesteadBlock, eip150Block, eip158Block, byzantiumBlock } = config;
  return {
    ...config,
    ...(Number(eip158Block) > Number(byzantiumBlock) && { eip158Block: byzantiumBlock }),
    ...(Number(homesteadBlock) > Number(eip150Block) && { homesteadBlock: eip150Block }),
  };
}

async function checkTracer(folder: string, file: string, tracer: string): Promise<Failure | undefined> {
  const test = readVectorJson<TracerTest>("geth-tracers", folder, file);
  const style = expectDefined(decodeTraceOptions({ tracer, tracerConfig: test.tracerConfig }), "options");
  const [actual, expected] = [await traceOf(test, style), test.result];
  if (folder === "call_tracer_flat") return firstDifference(comparable(actual), comparable(expected));
  return firstDifference(actual, folder.startsWith("prestate") ? normalized(expected) : expected);
}

interface ShownAccount {
  readonly balance?: string;
  readonly code?: string;
  readonly codeHash?: string;
  readonly nonce?: number;
}

type ShownState = Readonly<Record<string, ShownAccount>>;

/** Adapts tests from before go-ethereum 1.16: adds code hashes and leaves out empty accounts. */
function normalized(shown: unknown): unknown {
  const state = shown as ShownState | { readonly pre: ShownState; readonly post: ShownState };
  const { pre, post } = state as { readonly pre?: ShownState; readonly post?: ShownState };
  if (pre === undefined || post === undefined)
    return withoutEmptyAccounts(withCodeHashes(state as ShownState));
  return { pre: withoutEmptyAccounts(withCodeHashes(pre)), post: withCodeHashes(post) };
}

function withCodeHashes(state: ShownState): ShownState {
  return Object.fromEntries(
    Object.entries(state).map(([address, account]) => {
      const { code, codeHash } = account;
      if (code === undefined || codeHash !== undefined) return [address, account];
      return [address, { ...account, codeHash: toHex(keccak256(hexToBytes(code))) }];
    }),
  );
}

function withoutEmptyAccounts(state: ShownState): ShownState {
  const isNotEmpty = ({ balance, codeHash, nonce }: ShownAccount) =>
    balance !== "0x0" || codeHash !== undefined || nonce !== undefined;
  return Object.fromEntries(Object.entries(state).filter(([, account]) => isNotEmpty(account)));
}

type Member = readonly [name: string, value: unknown];

/**
 * Leaves out block members and creationMethod, which the flat tracer's tests lack, and empty values, which go-ethereum's
 * comparison ignores too.
 */
function comparable(traces: unknown): unknown {
  return (traces as readonly object[]).map((trace) => {
    const members = Object.entries(trace).filter(([name]: Member) => !IGNORED.has(name));
    return Object.fromEntries(
      members
        .map(([name, value]: Member): Member => [name, isObject(value) ? withoutEmpty(value) : value])
        .filter(([, value]) => value !== null && (!isObject(value) || Object.keys(value).length > 0)),
    );
  });
}

const IGNORED = new Set(["blockHash", "blockNumber", "transactionHash", "transactionPosition", "time"]);

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function withoutEmpty(members: object): object {
  return Object.fromEntries(
    Object.entries(members).filter(([name, value]: Member) => value !== "0x" && name !== "creationMethod"),
  );
}

async function traceOf({ genesis, context, input }: TracerTest, style: DebugStyle): Promise<unknown> {
  const { spec } = rulesOfGenesis(
    JSON.stringify({ ...genesis, config: inOrder(genesis.config) }),
    "the test",
  );
  const world = await worldOf(genesis.alloc);
  const decoded = decodeTransaction(hexToBytes(input));
  if (!decoded.ok) throw new Error(decoded.error.message);
  const transaction = expectDefined(withRecoveredSender(decoded.value), "a sender");
  const quantity = (name: string): bigint => BigInt(context[name] ?? "0");
  const header: Header = {
    ...spec.genesis.header,
    number: quantity("number"),
    timestamp: quantity("timestamp"),
    difficulty: quantity("difficulty"),
    gasLimit: quantity("gasLimit"),
    coinbase: addressFromHex(context["miner"] ?? ""),
    ...("baseFeePerGas" in context && { baseFeePerGas: quantity("baseFeePerGas") }),
  };
  const block = { header, hash: ZERO_HASH, transactions: [transaction] };
  const result = await runTrace(
    { kind: "debugBlock", block: { number: header.number }, index: 0, style },
    {
      spec,
      gasCap: 0n,
      limitBytes: 64 * 1024 * 1024,
      nowNs: () => 0n,
      stateAt: () => world.head,
      hashOf: () => undefined,
      block: () => block,
    },
  );
  if (result.kind !== "traced") throw new Error(JSON.stringify(result));
  return JSON.parse(joinPieces(result.pieces));
}
