import { blockRules } from "../execution/blockRules.ts";
import { intrinsicGas } from "../execution/intrinsicGas.ts";
import { MemoryExhausted } from "../execution/memoryBudget.ts";
import type { Rules } from "../execution/rules.ts";
import { toKey } from "../primitives/byteKey.ts";
import { concatBytes } from "../primitives/hex.ts";
import type { Batch } from "../storage/batch.ts";
import { type ReplaySource, replayMessages } from "../tracers/replay.ts";
import type { StoredBlock } from "../types/block.ts";
import { createdAddress } from "../types/createdAddress.ts";
import type { Receipt } from "../types/receipt.ts";
import type { SentTransaction } from "../types/transaction.ts";
import { type Asset, encodeIndex, type Pair, type Place, pairKey, putPair, putPlaced } from "./layout.ts";
import { type CollectedParties, MessageParties } from "./messageParties.ts";
import { assetsOf, holdersOf, type TokenTransfer, tokenTransferOf } from "./tokenTransfers.ts";

/**
 * Limits on what one block may add to the index. Only gas bounds a block, so a block could take more memory than the thread
 * has: anything beyond the limits is left out.
 */
export interface BlockLimits {
  /** Memory in which the block is executed again. */
  readonly memoryBytes: number;
  /** Addresses and creations found in calls, in addition to the senders and recipients of transactions. */
  readonly parties: number;
  readonly transfers: number;
  /** Entries about possible holders: two for each account and asset, one more for ids, and one for each transfer. */
  readonly pairs: number;
}

/** All entries together take some 200 MB of the thread's heap, which does not include the memory of calls. */
export const BLOCK_LIMITS: BlockLimits = {
  memoryBytes: 256 * 1024 * 1024,
  parties: 50_000,
  transfers: 50_000,
  pairs: 100_000,
};

/**
 * Collects the entries of blocks for one write. Transactions that may have called others are executed again, after those
 * before them in their block.
 */
export class BlockEntries {
  private readonly source: ReplaySource;
  private readonly batch: Batch;
  private readonly limits: BlockLimits;
  /** Keys of holdings and the newest block that moved each: hundreds of transfers may concern the same one. */
  private readonly pairs = new Map<string, { readonly key: Uint8Array; readonly block: number }>();
  /** Room left in the current block for transfers and for pairs. */
  private transfersLeft = 0;
  private pairsLeft = 0;
  /** The newest block with entries left out; undefined when there is none. */
  cutBlock: number | undefined;

  constructor(source: ReplaySource, batch: Batch, limits: BlockLimits) {
    this.source = source;
    this.batch = batch;
    this.limits = limits;
  }

  async add(block: StoredBlock): Promise<void> {
    const { parties, isCut } = await partiesOf(this.source, block, this.limits);
    const number = Number(block.header.number);
    this.transfersLeft = this.limits.transfers;
    this.pairsLeft = this.limits.pairs;
    let logIndex = 0;
    for (const [index, receipt] of block.receipts.entries()) {
      this.putParties(parties[index], { block: number, position: index });
      for (const log of receipt.logs) {
        const transfer = this.transfersLeft < 0 ? undefined : tokenTransferOf(log);
        if (transfer !== undefined) this.putTransfer(transfer, number, { logIndex, index });
        logIndex++;
      }
    }
    if (isCut || this.transfersLeft < 0 || this.pairsLeft < 0) this.cutBlock = number;
  }

  /** Puts the entries that are written once for all blocks of the write. */
  finish(): void {
    for (const { key, block } of this.pairs.values()) putPair(this.batch, key, block);
  }

  private putParties(
    parties: CollectedParties | undefined,
    place: { block: number; position: number },
  ): void {
    if (parties === undefined) return;
    for (const address of parties.addresses.values()) putPlaced(this.batch, "participation", address, place);
    for (const { contract, creator } of parties.creations)
      putPlaced(this.batch, "creation", contract, place, creator);
  }

  private putTransfer(
    transfer: TokenTransfer,
    block: number,
    { logIndex, index }: { readonly logIndex: number; readonly index: number },
  ): void {
    if (--this.transfersLeft < 0) return;
    const place = { block, position: logIndex };
    const value = encodeIndex(index);
    putPlaced(this.batch, "tokenTransfer", transfer.token, place, value);
    for (const account of [transfer.from, transfer.to])
      putPlaced(this.batch, "accountTransfer", account, place, value);
    for (const asset of assetsOf(transfer)) {
      this.putIdTransfer(asset, place, value);
      for (const account of holdersOf(transfer))
        for (const kind of asset.tokenId === undefined ? ORDERS : ORDERS_OF_ID)
          this.putPair(pairKey(kind, account, asset), block);
    }
  }

  /** Puts a transfer of an id, which counts among the pairs, since a transfer may move a hundred ids. */
  private putIdTransfer({ token, tokenId }: Asset, place: Place, value: Uint8Array): void {
    if (tokenId === undefined || --this.pairsLeft < 0) return;
    putPlaced(this.batch, "idTransfer", concatBytes(token, tokenId), place, value);
  }

  private putPair(key: Uint8Array, block: number): void {
    const name = toKey(key);
    if (this.pairsLeft < 0 || this.pairs.get(name)?.block === block) return;
    if (--this.pairsLeft >= 0) this.pairs.set(name, { key, block });
  }
}

const ORDERS: readonly Pair[] = ["holding", "holder"];
const ORDERS_OF_ID: readonly Pair[] = [...ORDERS, "idHolder"];

interface BlockParties {
  /** Parties of each transaction, by its index in the block. */
  readonly parties: readonly CollectedParties[];
  readonly isCut: boolean;
}

async function partiesOf(
  source: ReplaySource,
  block: StoredBlock,
  limits: BlockLimits,
): Promise<BlockParties> {
  const { transactions, receipts } = block;
  const { rules } = blockRules(source.spec, block.header, (number) => source.hashOf(number));
  const parties = transactions.map((transaction) => ownParties(transaction));
  let until = 0;
  for (const [index, transaction] of transactions.entries())
    if (mayCallOthers(rules, transaction, receipts[index])) until = index + 1;
  if (until === 0) return { parties, isCut: false };
  const seen = new MessageParties(limits.parties);
  let begun = 0;
  const begins = (index: number): void => {
    begun = index;
    seen.begin(parties[index]);
  };
  try {
    await replayMessages(source, block, { until, observer: seen, begins, memoryBytes: limits.memoryBytes });
    return { parties, isCut: seen.isCut };
  } catch (error) {
    if (!(error instanceof MemoryExhausted)) throw error;
    seen.abandon();
    // The later transactions cannot be executed without the state after this one.
    for (let index = begun; index < transactions.length; index++)
      addOwnCreation(parties[index], transactions[index], receipts[index]);
    return { parties, isCut: true };
  }
}

function ownParties({ sender, to, nonce }: SentTransaction): CollectedParties {
  const other = to ?? createdAddress(sender, nonce);
  const addresses = new Map([
    [toKey(sender), sender],
    [toKey(other), other],
  ]);
  return { addresses, creations: [] };
}

/** Adds the contract that a transaction itself creates, according to its receipt. */
function addOwnCreation(
  parties: CollectedParties | undefined,
  transaction: SentTransaction | undefined,
  receipt: Receipt | undefined,
): void {
  if (parties === undefined || transaction === undefined || receipt === undefined) return;
  const { sender, to, nonce } = transaction;
  const hasSucceeded = "status" in receipt.outcome && receipt.outcome.status === 1;
  if (to === undefined && hasSucceeded)
    parties.creations.push({ contract: createdAddress(sender, nonce), creator: sender });
}

/**
 * False for a transaction that certainly made no call: it paid only for itself, by the rules of London. Since then no refund
 * is as large as the price of what earns it, unless an access list paid a part of that price before; earlier refunds could
 * offset everything that code had used.
 */
function mayCallOthers(rules: Rules, transaction: SentTransaction, receipt: Receipt | undefined): boolean {
  const { to, accessList, authorizationList } = transaction;
  const isPlain = to !== undefined && accessList.length === 0 && authorizationList.length === 0;
  if (!isPlain || rules.refundQuotient !== LONDON_REFUND_QUOTIENT) return true;
  return receipt?.gasUsed !== intrinsicGas(rules, transaction);
}

const LONDON_REFUND_QUOTIENT = 5n;
