import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { BlockRules } from "../../execution/blockRules.ts";
import { executeBlock } from "../../execution/executeBlock.ts";
import { createYieldPolicy, type StopSignal } from "../../execution/yieldPolicy.ts";
import { type Address, asAddress } from "../../primitives/address.ts";
import { expectDefined } from "../../primitives/assert.ts";
import type { Clock } from "../../primitives/clock.ts";
import { keccak256 } from "../../primitives/hash.ts";
import { EMPTY_BYTES } from "../../primitives/hex.ts";
import { bigintToBytes, bigintToFixedBytes } from "../../primitives/quantity.ts";
import { encodeRlpList, encodeRlpString } from "../../primitives/rlp.ts";
import type { Overlay } from "../../state/overlay.ts";
import type { StagedState } from "../../state/worldState.ts";
import { Batch } from "../../storage/batch.ts";
import { EMPTY_ACCOUNT } from "../../types/account.ts";
import { rootOfList } from "../../types/listRoot.ts";
import { encodeReceipt } from "../../types/receipt.ts";
import { decodeTransaction, type SentTransaction, withSender } from "../../types/transaction.ts";
import { TRANSACTION_GAS } from "../../types/transactionCount.ts";

/** What the calibration needs, private overlays of the head among it. */
export interface CalibrationParts {
  readonly clock: Clock;
  /**
   * CPU time used by this process, milliseconds with fractions. Unlike the clock, it does not count the time of other
   * processes that start at the same time. When absent, the clock is used.
   */
  readonly cpuMs?: (() => number) | undefined;
  /** Signal that is aborted when the node stops. */
  readonly signal: StopSignal;
  /**
   * Runs work while nothing moves the head: a block's reads then belong to one state. A rewind removes pages of the state step by
   * step, and a read of one of them is taken for damage, which ends the node.
   */
  undisturbed<T>(work: () => Promise<T>): Promise<T>;
  /** Rules of a block on the head. */
  rules(): BlockRules;
  overlay(): Overlay;
  stage(overlay: Overlay, number: bigint): StagedState;
}

/**
 * Transactions in each measured block. The first blocks run code that is not compiled yet, which takes ten times as long;
 * they are small, so that none of their steps holds the thread for more than some milliseconds.
 */
const BLOCK_SIZES = [2, 4, 8, 8, 16, 16, 32, 32, 64, 64, 128, 128, 128, 128, 128];
/** Blocks with at least this many transactions are measured; smaller ones only warm up. */
const MIN_MEASURED_SIZE = 80;
/** Lower bound of a measured block's time, milliseconds. */
const MIN_BLOCK_MS = 0.5;
/** Pause between two blocks, milliseconds, for other work. */
const PAUSE_MS = 20;
/** First of the recipient addresses, which have no known keys. */
const FIRST_RECIPIENT = 0xca11b000n;

/**
 * Measures the time per transfer to finish a block on this machine, milliseconds: state root, roots of transactions and
 * receipts, and the database batch. Executes blocks of transfers on top of the head, in slices, and discards them; this
 * also gets the code compiled that the first full block runs through. Undefined when no transfer can be executed or when
 * the node stops meanwhile.
 */
export async function measureFinishing(parts: CalibrationParts): Promise<number | undefined> {
  const { clock, signal, undisturbed } = parts;
  let eachMs: number | undefined;
  for (const count of BLOCK_SIZES) {
    await new Promise<void>((resolve) => clock.at(clock.nowMs() + PAUSE_MS, resolve));
    if (signal.aborted) return undefined;
    const measured = await undisturbed(() => measureBlock(count, parts));
    if (measured === "impossible") return undefined;
    const { transactions, tookMs } = measured;
    // A clock with a resolution of whole milliseconds may show 0.
    const measuredMs = Math.max(MIN_BLOCK_MS, tookMs) / transactions;
    // The minimum is the least disturbed by compilation and garbage collection on other threads.
    if (transactions >= MIN_MEASURED_SIZE) eachMs = Math.min(eachMs ?? measuredMs, measuredMs);
  }
  return eachMs;
}

async function measureBlock(
  count: number,
  { clock, cpuMs = () => clock.nowMs(), rules: rulesNow, overlay: newOverlay, stage }: CalibrationParts,
): Promise<{ readonly transactions: number; readonly tookMs: number } | "impossible"> {
  const rules = rulesNow();
  const overlay = newOverlay();
  const transactions = transfersOn(overlay, rules, count);
  await yieldToEventLoop();
  if (transactions.length === 0) return "impossible";
  const executed = await executeBlock(rules, transactions, overlay, {
    yieldPolicy: createYieldPolicy(clock),
    keepsRevertReasons: false,
  });
  if (!executed.ok) return "impossible";
  await yieldToEventLoop();
  let tookMs = 0;
  const timed = async <T>(step: () => T): Promise<T> => {
    const startMs = cpuMs();
    const done = step();
    tookMs += cpuMs() - startMs;
    await yieldToEventLoop();
    return done;
  };
  const staged = await timed(() => stage(overlay, rules.block.number));
  await timed(() => rootOfList(transactions.map(({ raw }) => raw)));
  await timed(() => rootOfList(executed.value.receipts.map(encodeReceipt)));
  await timed(() => staged.writeTo(new Batch()));
  return { transactions: transactions.length, tookMs };
}

/** Transfers of one sender to distinct accounts; fewer than `count` if the gas limit is too low. */
function transfersOn(overlay: Overlay, { config, block }: BlockRules, count: number): SentTransaction[] {
  const sender = asAddress(keccak256(Uint8Array.of(count)).subarray(12));
  const price = block.baseFeePerGas ?? 0n;
  const maxTransfers = Number(block.gasLimit / TRANSACTION_GAS);
  overlay.putAccount(sender, { ...EMPTY_ACCOUNT, balance: BigInt(count) * (TRANSACTION_GAS * price + 1n) });
  return Array.from({ length: Math.min(count, maxTransfers) }, (_, nonce) => {
    const to = asAddress(bigintToFixedBytes(FIRST_RECIPIENT + BigInt(nonce) * 7919n, 20));
    return transfer({ nonce, price, to, sender, chainId: config.chainId });
  });
}

interface Transfer {
  readonly nonce: number;
  readonly price: bigint;
  readonly to: Address;
  readonly sender: Address;
  readonly chainId: bigint;
}

/** A transfer with a made-up signature: the sender is given, so it is never recovered. */
function transfer({ nonce, price, to, sender, chainId }: Transfer): SentTransaction {
  const scalars = [BigInt(nonce), price, TRANSACTION_GAS].map(bigintToBytes);
  const signature = [chainId * 2n + 35n, 1n, 1n].map(bigintToBytes);
  const items = [...scalars, to, bigintToBytes(1n), EMPTY_BYTES, ...signature];
  const decoded = decodeTransaction(encodeRlpList(items.map(encodeRlpString)));
  return withSender(expectDefined(decoded.ok ? decoded.value : undefined, "a transfer"), sender);
}
