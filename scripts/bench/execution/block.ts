import { encodeFunctionData, numberToHex, pad } from "viem";
import { executeBlock } from "../../../src/execution/executeBlock.ts";
import { NEVER_YIELD } from "../../../src/execution/yieldPolicy.ts";
import type { Address } from "../../../src/primitives/address.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import type { Result } from "../../../src/primitives/result.ts";
import type { Overlay } from "../../../src/state/overlay.ts";
import { WorldState } from "../../../src/state/worldState.ts";
import { Batch } from "../../../src/storage/batch.ts";
import { createMemoryDatabase } from "../../../src/storage/memoryDatabase.ts";
import { decodeTransaction } from "../../../src/types/transaction.ts";
import { withRecoveredSender } from "../../../src/types/transactionSignature.ts";
import { aTransaction } from "../../../test/builders/aTransaction.ts";
import { account } from "../../../test/builders/testAccounts.ts";
import { printBeside } from "../report.ts";
import { CONTRACTS } from "./contracts.ts";
import type { GoEvm } from "./goEvm.ts";
import { deployAll, RULES } from "./stage.ts";

const TRANSFERS = 3_000;
const ROUNDS = 5;

/** A block of transfers of a token, from the bytes of its transactions to the state root. */
export interface BlockOfTransfers {
  readonly world: Overlay;
  readonly transactions: readonly Uint8Array[];
}

/**
 * Decodes, recovers, executes and derives the state root of one block, on one thread and in memory; `evm t8n` does the
 * same, and its time without any transaction is subtracted.
 */
export async function measureBlock(goEvm: GoEvm | undefined): Promise<void> {
  const database = createMemoryDatabase();
  const state = new WorldState({ database });
  const world = state.overlay();
  const { token } = await deployAll(world);
  const genesis = state.stage(world.changes(), 0n);
  const batch = new Batch();
  genesis.writeTo(batch);
  await database.write(batch);
  state.adopt(genesis);
  const transactions = Array.from({ length: TRANSFERS }, (_, index) => transferOf(token, index));
  const runs: BlockRun[] = [];
  for (let round = 0; round < ROUNDS; round++) runs.push(await runBlock(state, transactions));
  const best = runs.reduce((a, b) => (a.ms < b.ms ? a : b));
  const restMs = Math.min(...runs.map(({ ms, recoveryMs }) => ms - recoveryMs));
  const theirs = goEvm?.measureBlock({ world, transactions });
  if (theirs !== undefined && theirs.root !== best.root)
    throw new Error(`state root ${best.root} here, ${theirs.root} there`);
  const perSecond = (ms: number): number => Number(best.gas) / 1000 / ms;
  const name = `block of ${TRANSFERS} ERC-20 transfers`;
  printBeside(name, "Mgas/s", perSecond(best.ms), "go evm", theirs && perSecond(theirs.ms));
  // As for a block whose transactions are in the pool.
  printBeside("  the same, senders known", "Mgas/s", perSecond(restMs), "go evm", undefined);
}

interface BlockRun {
  readonly ms: number;
  /** Of which for the recovery of senders. */
  readonly recoveryMs: number;
  readonly gas: bigint;
  readonly root: string;
}

function transferOf(token: Address, index: number): Uint8Array {
  const sender = account(0);
  const recipient = pad(numberToHex(0x1000_0000 + index * 7919), { size: 20 });
  const data = encodeFunctionData({
    abi: CONTRACTS.Token.abi,
    functionName: "transfer",
    args: [recipient, 1n],
  });
  const nonce = BigInt(index + 3);
  const { privateKey } = sender;
  return aTransaction({ nonce, to: token, value: 0n, data: hexToBytes(data), gasLimit: 80_000n, privateKey })
    .raw;
}

async function runBlock(state: WorldState, raws: readonly Uint8Array[]): Promise<BlockRun> {
  const begin = performance.now();
  const decoded = raws.map((raw) => valid(decodeTransaction(raw)));
  const decodedAt = performance.now();
  const transactions = decoded.map((transaction) =>
    expectDefined(withRecoveredSender(transaction), "a sender"),
  );
  const recoveryMs = performance.now() - decodedAt;
  const overlay = state.overlay();
  const block = await executeBlock(RULES, transactions, overlay, {
    yieldPolicy: NEVER_YIELD,
    keepsRevertReasons: false,
  });
  const { gasUsed } = valid(block);
  const { root } = state.stage(overlay.changes(), 1n);
  return { ms: performance.now() - begin, recoveryMs, gas: gasUsed, root: toHex(root) };
}

function valid<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}
