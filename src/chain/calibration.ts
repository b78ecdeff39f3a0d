import type { BlockRules } from "../execution/blockRules.ts";
import { executeBlock } from "../execution/executeBlock.ts";
import { createYieldPolicy, type StopSignal } from "../execution/yieldPolicy.ts";
import { type Address, asAddress } from "../primitives/address.ts";
import { expectDefined } from "../primitives/assert.ts";
import type { Clock } from "../primitives/clock.ts";
import { keccak256 } from "../primitives/hash.ts";
import { EMPTY_BYTES } from "../primitives/hex.ts";
import { bigintToBytes, bigintToFixedBytes } from "../primitives/quantity.ts";
import { encodeRlpList, encodeRlpString } from "../primitives/rlp.ts";
import type { Overlay } from "../state/overlay.ts";
import type { StagedState } from "../state/worldState.ts";
import { createBatch } from "../storage/batch.ts";
import { EMPTY_ACCOUNT } from "../types/account.ts";
import { rootOfList } from "../types/listRoot.ts";
import { encodeReceipt } from "../types/receipt.ts";
import { decodeTransaction, type SentTransaction, withSender } from "../types/transaction.ts";

/** What blocks are tried on: overlays of the head that nobody else sees. */
export interface CalibrationParts {
  readonly clock: Clock;
  /**
   * What this process has used of the processors, milliseconds: other processes, which start at the same time, do not
   * disturb it, and it counts less than whole milliseconds. Where it is absent, the clock has to do.
   */
  readonly cpuMs?: (() => number) | undefined;
  /** Aborted when the node stops. */
  readonly signal: StopSignal;
  /** Of a block on the head; another object, with rules of its own, after each move of the head. */
  base(): { readonly head: object; readonly rules: BlockRules };
  overlay(): Overlay;
  stage(overlay: Overlay, number: bigint): StagedState;
}

/**
 * Transactions in each of the blocks that are tried. The first ones run code that has not been compiled, which takes ten
 * times as long: they are small, so that no step of them holds the thread for more than some milliseconds.
 */
const BLOCKS_OF = [2, 4, 8, 8, 16, 16, 32, 32, 64, 64, 128, 128, 128, 128, 128];
/** From so many on the figures count; of fewer they are all warming up. */
const MEASURED_OF = 80;
/** No block of so many takes less. */
const LEAST_MS = 0.5;
/** Left to others between two blocks. */
const REST_MS = 20;
const TRANSFER_GAS = 21_000n;
/** First of the accounts that are paid; nobody has the key of one. */
const FIRST_RECIPIENT = 0xca11b000n;

/**
 * What it takes to finish a block of transfers on this machine, for each transfer: state root, roots of transactions and
 * receipts, and what is written. Executes some hundred transfers for that, on top of the head and without a trace, in
 * slices; so the code that the first full block runs through is compiled by then. Undefined where no transfer could be
 * executed, or the node stopped meanwhile.
 */
export async function measureFinishing({
  clock,
  cpuMs = () => clock.nowMs(),
  signal,
  base,
  overlay: newOverlay,
  stage,
}: CalibrationParts): Promise<number | undefined> {
  let eachMs: number | undefined;
  for (const count of BLOCKS_OF) {
    await new Promise<void>((resolve) => clock.at(clock.nowMs() + REST_MS, resolve));
    if (signal.aborted) return undefined;
    const { head, rules } = base();
    const overlay = newOverlay();
    const transactions = transfersOn(overlay, rules, count);
    await nextTurn();
    if (transactions.length === 0) return undefined;
    const executed = await executeBlock(rules, transactions, overlay, {
      yieldPolicy: createYieldPolicy(clock),
      keepsRevertReasons: false,
    });
    if (!executed.ok) return undefined;
    await nextTurn();
    // What was read of two heads cannot be staged on either.
    if (base().head !== head) continue;
    let tookMs = 0;
    const timed = async <T>(step: () => T): Promise<T> => {
      const begunMs = cpuMs();
      const done = step();
      tookMs += cpuMs() - begunMs;
      await nextTurn();
      return done;
    };
    const staged = await timed(() => stage(overlay, rules.block.number));
    await timed(() => rootOfList(transactions.map(({ raw }) => raw)));
    await timed(() => rootOfList(executed.value.receipts.map(encodeReceipt)));
    await timed(() => staged.writeTo(createBatch()));
    // A clock may count whole milliseconds only, and see none.
    const measuredMs = Math.max(LEAST_MS, tookMs) / transactions.length;
    // The least disturbed: code is compiled, and memory tidied up, on other threads.
    if (transactions.length >= MEASURED_OF) eachMs = Math.min(eachMs ?? measuredMs, measuredMs);
  }
  return eachMs;
}

/** One sender's, to as many accounts; fewer where a block has no room for them. */
function transfersOn(
  overlay: Overlay,
  { config: terms, block }: BlockRules,
  count: number,
): SentTransaction[] {
  const sender = asAddress(keccak256(Uint8Array.of(count)).subarray(12));
  const price = block.baseFeePerGas ?? 0n;
  const room = Number(block.gasLimit / TRANSFER_GAS);
  overlay.putAccount(sender, { ...EMPTY_ACCOUNT, balance: BigInt(count) * (TRANSFER_GAS * price + 1n) });
  return Array.from({ length: Math.min(count, room) }, (_, nonce) => {
    const to = asAddress(bigintToFixedBytes(FIRST_RECIPIENT + BigInt(nonce) * 7919n, 20));
    return transfer({ nonce, price, to, sender, chainId: terms.chainId });
  });
}

interface Transfer {
  readonly nonce: number;
  readonly price: bigint;
  readonly to: Address;
  readonly sender: Address;
  readonly chainId: bigint;
}

/** With a signature that nobody made; the sender is known, and it is not asked for again. */
function transfer({ nonce, price, to, sender, chainId }: Transfer): SentTransaction {
  const scalars = [BigInt(nonce), price, TRANSFER_GAS].map(bigintToBytes);
  const signature = [chainId * 2n + 35n, 1n, 1n].map(bigintToBytes);
  const items = [...scalars, to, bigintToBytes(1n), EMPTY_BYTES, ...signature];
  const decoded = decodeTransaction(encodeRlpList(items.map(encodeRlpString)));
  return withSender(expectDefined(decoded.ok ? decoded.value : undefined, "a transfer"), sender);
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
