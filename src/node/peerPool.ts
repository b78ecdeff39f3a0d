import type { Chain } from "../chain/createChain.ts";
import type { RecoverSenders } from "../chain/importBlock.ts";
import { createKnownHashes } from "../network/eth/knownHashes.ts";
import type { EthPool } from "../network/eth/ports.ts";
import { NO_COUNTS, type ValidationCounts } from "../network/eth/transactionScore.ts";
import type { Logger } from "../observability/logger.ts";
import { toKey } from "../primitives/byteKey.ts";
import type { PoolErrorCode } from "../txpool/errors.ts";
import type { TxPool } from "../txpool/txPool.ts";
import { type Transaction, withSender } from "../types/transaction.ts";

export interface PeerPoolParts {
  readonly pool: Pick<TxPool, "add" | "get" | "entries" | "screen" | "nextNonce">;
  readonly chain: Pick<Chain, "onHeadChanged">;
  readonly recoverSenders: RecoverSenders;
  readonly logger: Logger;
}

/** Transactions of peers that wait for their senders to be found. */
const MAX_WAITING_TRANSACTIONS = 16_384;
/** Of the last blocks, whose transactions are still on their way. */
const MAX_MINED_HASHES = 65_536;
/** So far beyond a sender's next nonce nobody gets while a gap is open. */
const HOPELESS_NONCE = 65_536n;
/** What a transaction counts against a peer that may know a newer state than ours. */
const DOUBTFUL = 0.25;

/**
 * The pool as peers see it: what they offer comes in as theirs. What can be told without its sender is told first, for
 * finding one takes some 45 µs of another thread; then the senders are found, and the pool judges.
 */
export function createPeerPool(parts: PeerPoolParts, isOpen: () => boolean): EthPool {
  const { pool, recoverSenders, logger } = parts;
  const mined = createKnownHashes(MAX_MINED_HASHES);
  let waiting = 0;

  parts.chain.onHeadChanged(({ added }) => {
    for (const { transactions } of added) for (const { hash } of transactions) mined.add(toKey(hash));
  });

  async function judge(
    offered: readonly Transaction[],
    { isAhead }: { readonly isAhead: boolean },
  ): Promise<ValidationCounts> {
    let accepted = 0;
    let rejected = 0;
    const note = (code: PoolErrorCode | undefined): void => {
      if (code === undefined) accepted += 1;
      else if (NEVER_VALID.has(code)) rejected += 1;
      else if (WITHOUT_EFFECT.has(code)) rejected += isAhead ? DOUBTFUL : 1;
    };
    const sound: Transaction[] = [];
    for (const transaction of offered) {
      // A block was quicker.
      if (mined.has(toKey(transaction.hash))) continue;
      const code = pool.screen(transaction);
      if (code === undefined) sound.push(transaction);
      else note(code);
    }
    const senders = await recoverSenders(sound);
    for (const [index, transaction] of sound.entries()) {
      const sender = senders[index];
      if (sender === undefined) {
        note("invalidSignature");
        continue;
      }
      // It may have been mined while its sender was looked for.
      if (mined.has(toKey(transaction.hash))) continue;
      const added = pool.add(withSender(transaction, sender), "remote");
      const code = added.ok ? undefined : added.error.code;
      // One that was lost on the way makes a gap that honest peers know nothing of.
      if (code === "nonceTooDistant" && transaction.nonce < pool.nextNonce(sender) + HOPELESS_NONCE) continue;
      note(code);
    }
    return { accepted, rejected };
  }

  return {
    get isOpen() {
      return isOpen();
    },
    get: (hash) => pool.get(hash)?.transaction,
    *transactions() {
      for (const { transaction } of pool.entries()) yield transaction;
    },
    offer(transactions, peer) {
      const taken = transactions.slice(0, MAX_WAITING_TRANSACTIONS - waiting);
      if (taken.length === 0) return NO_COUNTS;
      waiting += taken.length;
      return judge(taken, peer)
        .catch((error: unknown) => {
          logger.warn({ error }, "transactions of peers are lost");
          return NO_COUNTS;
        })
        .finally(() => {
          waiting -= taken.length;
        });
    },
  };
}

/** No honest peer passes these on, whatever its head. What depends on the settings of a node is not among them. */
const NEVER_VALID: ReadonlySet<PoolErrorCode> = new Set([
  "wrongChainId",
  "chainIdNotSupported",
  "invalidSignature",
  "invalidTransactionType",
  "nonceOverflow",
  "initCodeTooLarge",
  "upfrontCostOverflow",
  "priorityFeeAboveFeeCap",
  "intrinsicGasAboveLimit",
]);

/** Nobody pays for these: an honest peer has some when a block was quicker, and no more. */
const WITHOUT_EFFECT: ReadonlySet<PoolErrorCode> = new Set([
  "upfrontCostAboveBalance",
  "nonceTooLow",
  "nonceTooDistant",
]);
