import { blockRules } from "../execution/blockRules.ts";
import { intrinsicGas } from "../execution/intrinsicGas.ts";
import type { Rules } from "../execution/rules.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { Batch } from "../storage/database.ts";
import { type ReplaySource, replayMessages } from "../tracers/replay.ts";
import type { StoredBlock } from "../types/block.ts";
import { createdAddress } from "../types/createdAddress.ts";
import type { Receipt } from "../types/receipt.ts";
import type { SentTransaction } from "../types/transaction.ts";
import { encodeIndex, pairKey, putPair, putPlaced } from "./layout.ts";
import { type CollectedParties, MessageParties } from "./messageParties.ts";
import { assetsOf, holdersOf, type TokenTransfer, tokenTransferOf } from "./tokenTransfers.ts";

/**
 * Collects what the index keeps of blocks for one write. Transactions that may have called others are executed again, with
 * those before them in their block.
 */
export class BlockEntries {
  private readonly source: ReplaySource;
  private readonly batch: Batch;
  /** Keys of holdings and the newest block that moved each: hundreds of transfers may be of the same. */
  private readonly pairs = new Map<string, { readonly key: Uint8Array; readonly block: number }>();

  constructor(source: ReplaySource, batch: Batch) {
    this.source = source;
    this.batch = batch;
  }

  async add(block: StoredBlock): Promise<void> {
    const parties = await partiesOf(this.source, block);
    const number = Number(block.header.number);
    let logIndex = 0;
    for (const [index, receipt] of block.receipts.entries()) {
      this.putParties(parties[index], { block: number, position: index });
      for (const log of receipt.logs) {
        const transfer = tokenTransferOf(log);
        if (transfer !== undefined) this.putTransfer(transfer, number, { logIndex, index });
        logIndex++;
      }
    }
  }

  /** Puts what is kept once for all blocks of the write. */
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
    const place = { block, position: logIndex };
    const value = encodeIndex(index);
    putPlaced(this.batch, "tokenTransfer", transfer.token, place, value);
    for (const account of [transfer.from, transfer.to])
      putPlaced(this.batch, "accountTransfer", account, place, value);
    for (const account of holdersOf(transfer))
      for (const asset of assetsOf(transfer))
        for (const kind of ["holding", "holder"] as const) {
          const key = pairKey(kind, account, asset);
          this.pairs.set(toKey(key), { key, block });
        }
  }
}

async function partiesOf(source: ReplaySource, block: StoredBlock): Promise<readonly CollectedParties[]> {
  const { transactions, receipts } = block;
  const { rules } = blockRules(source.spec, block.header, (number) => source.hashOf(number));
  const found = transactions.map((transaction) => ownParties(transaction));
  let until = 0;
  for (const [index, transaction] of transactions.entries())
    if (mayCallOthers(rules, transaction, receipts[index])) until = index + 1;
  if (until === 0) return found;
  const seen = new MessageParties();
  await replayMessages(source, block, {
    until,
    observer: seen,
    begins: (index) => seen.begin(found[index]),
  });
  return found;
}

function ownParties({ sender, to, nonce }: SentTransaction): CollectedParties {
  const other = to ?? createdAddress(sender, nonce);
  const addresses = new Map([
    [toKey(sender), sender],
    [toKey(other), other],
  ]);
  return { addresses, creations: [] };
}

/**
 * False for a transaction that surely made no call: it paid for nothing but itself, by the rules of London. Since then no
 * refund is as large as the price of what earns it, unless an access list paid a part of that price before; earlier ones
 * could make up for all that code had used.
 */
function mayCallOthers(rules: Rules, transaction: SentTransaction, receipt: Receipt | undefined): boolean {
  const { to, accessList, authorizationList } = transaction;
  const isPlain = to !== undefined && accessList.length === 0 && authorizationList.length === 0;
  if (!isPlain || rules.refundQuotient !== LONDON_REFUND_QUOTIENT) return true;
  return receipt?.gasUsed !== intrinsicGas(rules, transaction);
}

const LONDON_REFUND_QUOTIENT = 5n;
