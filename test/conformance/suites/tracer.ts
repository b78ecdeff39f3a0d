import { readdirSync } from "node:fs";
import { runTrace } from "../../../src/execution/trace/runTrace.ts";
import type { DebugStyle } from "../../../src/execution/trace/traceJob.ts";
import { addressFromHex } from "../../../src/primitives/address.ts";
import { present } from "../../../src/primitives/assert.ts";
import { ZERO_HASH } from "../../../src/primitives/hash.ts";
import { hexToBytes, viewAsBuffer } from "../../../src/primitives/hex.ts";
import { decodeTraceOptions } from "../../../src/rpc/traceParameters.ts";
import type { Header } from "../../../src/types/header.ts";
import { decodeTransaction, withRecoveredSender } from "../../../src/types/transaction.ts";
import { readVectorJson, vectorPath } from "../../vectors.ts";
import { rulesOfGenesis } from "../chains/foreignRules.ts";
import type { Failure, Suite } from "../suite.ts";
import { firstDifference } from "./difference.ts";
import { type PreState, worldOf } from "./preState.ts";

/** go-ethereum's call and prestate tracers, by its own tests. */
export const TRACER: Suite = {
  name: "tracer",
  total: 26,
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

/** One of them names EIP-158 for a later block than the forks that bring it along, which our reader refuses. */
function inOrder(config: GenesisConfig): GenesisConfig {
  const { eip158Block, byzantiumBlock } = config;
  return Number(eip158Block) > Number(byzantiumBlock) ? { ...config, eip158Block: byzantiumBlock } : config;
}

async function checkTracer(folder: string, file: string, tracer: string): Promise<Failure | undefined> {
  const test = readVectorJson<TracerTest>("geth-tracers", folder, file);
  const style = present(decodeTraceOptions({ tracer, tracerConfig: test.tracerConfig }), "options");
  return firstDifference(await traceOf(test, style), test.result);
}

async function traceOf({ genesis, context, input }: TracerTest, style: DebugStyle): Promise<unknown> {
  const { spec } = rulesOfGenesis(
    JSON.stringify({ ...genesis, config: inOrder(genesis.config) }),
    "the test",
  );
  const world = await worldOf(genesis.alloc);
  const decoded = decodeTransaction(hexToBytes(input));
  if (!decoded.ok) throw new Error(decoded.rejection.message);
  const transaction = present(withRecoveredSender(decoded.value), "a sender");
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
  return JSON.parse(viewAsBuffer(result.json).toString("latin1"));
}
