import { RLP } from "@ethereumjs/rlp";
import { isAtLeast } from "../../../src/chainspec/forks.ts";
import type { BlockContext } from "../../../src/execution/blockContext.ts";
import { BlockSession } from "../../../src/execution/blockSession.ts";
import { credit } from "../../../src/execution/emptyAccounts.ts";
import { executeTransaction } from "../../../src/execution/executeTransaction.ts";
import { rulesOf } from "../../../src/execution/rules.ts";
import type { TransactionResult } from "../../../src/execution/transactionResult.ts";
import { NEVER_YIELD } from "../../../src/execution/yieldPolicy.ts";
import { addressFromHex } from "../../../src/primitives/address.ts";
import { asHash, keccak256, ZERO_HASH } from "../../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../../src/primitives/quantity.ts";
import type { Log } from "../../../src/types/log.ts";
import { decodeTransaction } from "../../../src/types/transaction.ts";
import { withRecoveredSender } from "../../../src/types/transactionSignature.ts";
import { blobBaseFeeOf } from "../chains/blobGas.ts";
import { type PreState, worldOf } from "./preState.ts";
import { explains, type RefusalCode } from "./transactionExceptions.ts";
import { forkOfVector } from "./vectorForks.ts";

/** One file of GeneralStateTests: name -> test. */
export type StateTestFile = Readonly<Record<string, StateTest>>;

export interface StateTest {
  readonly env: Readonly<Record<string, string>>;
  readonly pre: PreState;
  readonly post: Readonly<Record<string, readonly StateTestCase[]>>;
}

export interface StateTestCase {
  readonly hash: string;
  readonly logs: string;
  readonly txbytes: string;
  readonly expectException?: string;
}

/** The result of a transaction, or why it was refused. */
export type StateTestRun =
  | { readonly root: string; readonly logsHash: string; readonly result: TransactionResult }
  | { readonly root: string; readonly untouchedRoot: string; readonly refusal: RefusalCode };

/** Executes one case on a real world state in memory; returns undefined on success, else the difference. */
export async function checkStateTest(
  test: StateTest,
  forkName: string,
  expected: StateTestCase,
): Promise<string | undefined> {
  const run = await runStateTest(test, forkName, hexToBytes(expected.txbytes));
  const refusal = "refusal" in run ? run.refusal : undefined;
  if (!isExpected(refusal, expected.expectException))
    return `refused: ${refusal ?? "no"}, expected: ${expected.expectException ?? "no"}`;
  // After a refusal, some of the tools that made these tests paid the reward of zero, others did not.
  const roots = "untouchedRoot" in run ? [run.root, run.untouchedRoot] : [run.root];
  if (!roots.includes(expected.hash)) return `state root ${run.root}, expected ${expected.hash}`;
  return "logsHash" in run && run.logsHash !== expected.logs
    ? `logs ${run.logsHash}, expected ${expected.logs}`
    : undefined;
}

function isExpected(refusal: RefusalCode | undefined, exception: string | undefined): boolean {
  if (refusal === undefined || exception === undefined) return refusal === exception;
  return explains(exception, refusal);
}

/** Executes one transaction in the block that `env` describes, on the state `pre`, under the rules of a fork. */
export async function runStateTest(
  test: Pick<StateTest, "env" | "pre">,
  forkName: string,
  transactionBytes: Uint8Array,
): Promise<StateTestRun> {
  const world = await worldOf(test.pre);
  const overlay = world.overlay();
  const session = new BlockSession({
    config: { chainId: 1n, contractSizeLimitBytes: 24_576, stackLimit: 1024 },
    rules: rulesOf(forkOfVector(forkName)),
    block: contextOf(test.env, forkName),
    overlay,
    yieldPolicy: NEVER_YIELD,
  });
  const result = await attempt();
  const untouchedRoot = toHex(world.stage(overlay.changes(), 1n).root);
  // The block's reward in these tests is zero, which before EIP-158 still creates the beneficiary's account.
  if (!session.rules.clearsEmptyAccounts) credit(overlay, session.block.beneficiary, 0n);
  const root = toHex(world.stage(overlay.changes(), 1n).root);
  if (typeof result === "string") return { root, untouchedRoot, refusal: result };
  return { root, result, logsHash: hashOfLogs(result.logs) };

  async function attempt(): Promise<TransactionResult | RefusalCode> {
    const decoded = decodeTransaction(transactionBytes);
    if (!decoded.ok) return decoded.error.code;
    const transaction = withRecoveredSender(decoded.value);
    if (transaction === undefined) return "noSender";
    if (transaction.gasLimit > session.block.gasLimit) return "gasLimitAboveBlock";
    overlay.beginTransaction();
    const executed = await executeTransaction(session, transaction);
    return executed.ok ? executed.value : executed.error.code;
  }
}

/** The block that `env` describes under a fork. */
export function contextOf(env: StateTest["env"], forkName: string): BlockContext {
  const quantity = (name: string): bigint => BigInt(env[name] ?? "0x0");
  const random = env["currentRandom"] ?? "0x0";
  const beneficiary = env["currentCoinbase"] ?? "";
  const fork = forkOfVector(forkName);
  const isFeeMarket = isAtLeast(fork, "london");
  return {
    number: quantity("currentNumber"),
    timestamp: quantity("currentTimestamp"),
    gasLimit: quantity("currentGasLimit"),
    beneficiary: addressFromHex(beneficiary.startsWith("0x") ? beneficiary : `0x${beneficiary}`),
    ...(isFeeMarket && { baseFeePerGas: BigInt(env["currentBaseFee"] ?? "0x0a") }),
    difficulty: forkName === "Paris" ? BigInt(random) : quantity("currentDifficulty"),
    mixHash: random === "0x0" ? ZERO_HASH : asHash(bigintToFixedBytes(BigInt(random), 32)),
    blobBaseFee: isAtLeast(fork, "cancun") ? blobBaseFeeOf(fork, quantity("currentExcessBlobGas")) : 0n,
    hashOf: (number) => keccak256(new TextEncoder().encode(number.toString())),
  };
}

export function hashOfLogs(logs: readonly Log[]): string {
  return toHex(keccak256(RLP.encode(logs.map(({ address, topics, data }) => [address, [...topics], data]))));
}
