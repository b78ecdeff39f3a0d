import { RLP } from "@ethereumjs/rlp";
import { type ForkName, isAtLeast } from "../../src/chainspec/forks.ts";
import type { BlockContext } from "../../src/execution/blockContext.ts";
import { openSession } from "../../src/execution/blockSession.ts";
import { executeTransaction } from "../../src/execution/executeTransaction.ts";
import { TIRELESS } from "../../src/execution/pace.ts";
import { rulesOf } from "../../src/execution/rules.ts";
import { addressFromHex } from "../../src/primitives/address.ts";
import { asHash, keccak256, ZERO_HASH } from "../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { bigintToBytes, bigintToFixedBytes } from "../../src/primitives/quantity.ts";
import { createOverlay, type Overlay } from "../../src/state/overlay.ts";
import { createWorldState, type WorldState } from "../../src/state/worldState.ts";
import { createBatch } from "../../src/storage/batch.ts";
import { createMemoryDatabase } from "../../src/storage/memoryDatabase.ts";
import { EMPTY_ACCOUNT } from "../../src/types/account.ts";
import type { Log } from "../../src/types/log.ts";
import { decodeTransaction, withRecoveredSender } from "../../src/types/transaction.ts";

/** One file of GeneralStateTests: name -> test. */
export type StateTestFile = Readonly<Record<string, StateTest>>;

export interface StateTest {
  readonly env: Readonly<Record<string, string>>;
  readonly pre: Readonly<Record<string, PreAccount>>;
  readonly post: Readonly<Record<string, readonly StateTestCase[]>>;
}

export interface StateTestCase {
  readonly hash: string;
  readonly logs: string;
  readonly txbytes: string;
  readonly expectException?: string;
}

interface PreAccount {
  readonly balance: string;
  readonly nonce: string;
  readonly code: string;
  readonly storage: Readonly<Record<string, string>>;
}

/** Names of forks in the vectors. "Paris" is London with the random value where the difficulty was. */
export const VECTOR_FORKS: Readonly<Record<string, ForkName>> = {
  Frontier: "frontier",
  Homestead: "homestead",
  EIP150: "tangerineWhistle",
  EIP158: "spuriousDragon",
  Byzantium: "byzantium",
  Constantinople: "constantinople",
  ConstantinopleFix: "petersburg",
  Istanbul: "istanbul",
  Berlin: "berlin",
  London: "london",
  Paris: "london",
  Shanghai: "shanghai",
  Cancun: "cancun",
};

/** Executes one case on a real world state in memory; undefined when all is as expected, else what was not. */
export async function runStateTest(
  test: StateTest,
  forkName: string,
  expected: StateTestCase,
): Promise<string | undefined> {
  const fork = VECTOR_FORKS[forkName];
  if (fork === undefined) throw new Error(`unknown fork ${forkName}`);
  const world = await worldOf(test.pre);
  const overlay = world.overlay();
  const session = openSession({
    terms: { chainId: 1n, contractSizeLimitBytes: 24_576, stackLimit: 1024 },
    rules: rulesOf(fork),
    block: contextOf(test.env, forkName),
    overlay,
    pace: TIRELESS,
  });
  let logs: readonly Log[] = [];
  const refusal = await attempt();
  if ((refusal !== undefined) !== (expected.expectException !== undefined))
    return `refused: ${refusal ?? "no"}, expected: ${expected.expectException ?? "no"}`;
  const root = toHex(world.stage(overlay.changes(), 1n).root);
  if (refusal === undefined && root !== expected.hash) return `state root ${root}, expected ${expected.hash}`;
  const logsHash = toHex(keccak256(encodeLogs(logs)));
  return refusal === undefined && logsHash !== expected.logs
    ? `logs ${logsHash}, expected ${expected.logs}`
    : undefined;

  async function attempt(): Promise<string | undefined> {
    const decoded = decodeTransaction(hexToBytes(expected.txbytes));
    if (!decoded.ok) return decoded.rejection.message;
    const transaction = withRecoveredSender(decoded.value);
    if (transaction === undefined) return "no sender";
    if (transaction.gasLimit > session.block.gasLimit) return "gas limit above the block's";
    overlay.beginTransaction();
    const executed = await executeTransaction(session, transaction);
    if (!executed.ok) return executed.rejection.code;
    logs = executed.value.logs;
    return undefined;
  }
}

async function worldOf(pre: StateTest["pre"]): Promise<WorldState> {
  const database = createMemoryDatabase();
  const world = createWorldState({ database });
  const overlay = createOverlay(world.head);
  for (const [address, account] of Object.entries(pre)) put(overlay, address, account);
  const staged = world.stage(overlay.changes(), 0n);
  const batch = createBatch();
  staged.writeTo(batch);
  await database.write(batch);
  world.adopt(staged);
  return world;
}

function put(overlay: Overlay, name: string, { balance, nonce, code, storage }: PreAccount): void {
  const address = addressFromHex(name);
  overlay.putAccount(address, { ...EMPTY_ACCOUNT, balance: BigInt(balance), nonce: BigInt(nonce) });
  if (code !== "0x") overlay.putCode(address, hexToBytes(code));
  for (const [slot, value] of Object.entries(storage)) {
    if (BigInt(value) === 0n) continue;
    overlay.putStorage(address, bigintToFixedBytes(BigInt(slot), 32), bigintToBytes(BigInt(value)));
  }
}

function contextOf(env: StateTest["env"], forkName: string): BlockContext {
  const quantity = (name: string): bigint => BigInt(env[name] ?? "0x0");
  const random = env["currentRandom"] ?? "0x0";
  const isFeeMarket = isAtLeast(VECTOR_FORKS[forkName] ?? "frontier", "london");
  return {
    number: quantity("currentNumber"),
    timestamp: quantity("currentTimestamp"),
    gasLimit: quantity("currentGasLimit"),
    beneficiary: addressFromHex(env["currentCoinbase"] ?? ""),
    ...(isFeeMarket && { baseFeePerGas: BigInt(env["currentBaseFee"] ?? "0x0a") }),
    difficulty: forkName === "Paris" ? BigInt(random) : quantity("currentDifficulty"),
    mixHash: random === "0x0" ? ZERO_HASH : asHash(bigintToFixedBytes(BigInt(random), 32)),
    blobBaseFee: forkName === "Cancun" ? blobBaseFeeOf(quantity("currentExcessBlobGas")) : 0n,
    hashOf: (number) => keccak256(new TextEncoder().encode(number.toString())),
  };
}

/** fake_exponential of EIP-4844. */
function blobBaseFeeOf(excess: bigint): bigint {
  const fraction = 3_338_477n;
  let sum = 0n;
  let term = fraction;
  for (let i = 1n; term > 0n; i++) {
    sum += term;
    term = (term * excess) / (fraction * i);
  }
  return sum / fraction;
}

function encodeLogs(logs: readonly Log[]): Uint8Array {
  return RLP.encode(logs.map(({ address, topics, data }) => [address, [...topics], data]));
}
