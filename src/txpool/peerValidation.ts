import type { RecoverSigners } from "../chain/signerRecovery.ts";
import { toKey } from "../primitives/byteKey.ts";
import { KnownHashes } from "../primitives/knownHashes.ts";
import { type SentTransaction, type Transaction, withSender } from "../types/transaction.ts";
import { recoveryItemOf } from "../types/transactionSignature.ts";
import { askPermissions } from "./contractPermissions.ts";
import { faultOf, type PoolErrorCode } from "./errors.ts";
import type { AskContract, PoolHeadChange } from "./ports.ts";
import type { TxPool } from "./txPool.ts";

/**
 * What became of a peer's transactions; results that say nothing about the peer, such as known transactions, count for
 * neither.
 */
export interface PeerCounts {
  readonly accepted: number;
  /** Sum of the rejections that speak against the peer, each with its weight: it may be a fraction. */
  readonly rejected: number;
  /** Transactions that the full pool had no room for, to be requested again later; absent when there are none. */
  readonly withoutPlace?: readonly Transaction[];
}

/** Validates transactions of one peer, in order, and adds them to the pool. */
export type ValidatePeerTransactions = (
  offered: readonly Transaction[],
  peer: { readonly isAhead: boolean },
) => Promise<PeerCounts>;

export interface PeerValidationParts {
  readonly pool: Pick<TxPool, "add" | "screen" | "nextNonce">;
  readonly chain: {
    onHeadChanged(
      row: "minedTransactions",
      listener: (change: Pick<PoolHeadChange, "added">) => void,
    ): () => void;
  };
  readonly recoverSigners: RecoverSigners;
  /** Absent where no contract decides who may send. */
  readonly askContract?: AskContract | undefined;
}

/** Hashes of recently mined transactions, which peers may still send. */
const MAX_MINED_HASHES = 65_536;
/** Distance of a nonce beyond which a gap counts as hopeless: no honest sender is this far ahead of its next nonce. */
const HOPELESS_NONCE = 65_536n;
/** Weight of a rejection when the peer may know a newer state than ours. */
const REJECTION_WEIGHT_AHEAD = 0.25;

/**
 * Checks that need no sender come first, because a recovery takes about 45 µs on a worker thread; then senders are
 * recovered, the account contract is asked if there is one, and the pool validates.
 */
export function createPeerValidation(parts: PeerValidationParts): ValidatePeerTransactions {
  const { pool, recoverSigners } = parts;
  const mined = new KnownHashes(MAX_MINED_HASHES);
  const isMined = ({ hash }: Transaction): boolean => mined.has(toKey(hash));
  parts.chain.onHeadChanged("minedTransactions", ({ added }) => {
    for (const { transactions } of added) for (const { hash } of transactions) mined.add(toKey(hash));
  });

  return async (offered, { isAhead }) => {
    let accepted = 0;
    let rejected = 0;
    const screened: Transaction[] = [];
    const withoutPlace: Transaction[] = [];
    for (const transaction of offered) {
      if (isMined(transaction)) continue;
      const code = pool.screen(transaction, "remote");
      if (code === undefined) screened.push(transaction);
      else if (code === "poolFull") withoutPlace.push(transaction);
      else rejected += weightOf(code, isAhead);
    }
    const senders = await recoverSigners(screened.map(recoveryItemOf));
    const sent = withSenders(screened, senders);
    rejected += (screened.length - sent.length) * weightOf("invalidSignature", isAhead);
    const { askContract } = parts;
    const permissions = askContract && (await askPermissions(askContract, sent.map(asRemote)));
    for (const [index, transaction] of sent.entries()) {
      const { sender } = transaction;
      // The transaction may have been mined during the recovery.
      if (isMined(transaction)) continue;
      const added = pool.add(transaction, "remote", permissions?.[index]);
      if (added.ok) {
        accepted += 1;
        continue;
      }
      const { code } = added.error;
      if (code === "poolFull") withoutPlace.push(transaction);
      // A lost announcement makes a gap that honest peers do not know of.
      if (code === "nonceTooDistant" && transaction.nonce < pool.nextNonce(sender) + HOPELESS_NONCE) continue;
      rejected += weightOf(code, isAhead);
    }
    return { accepted, rejected, ...(withoutPlace.length > 0 && { withoutPlace }) };
  };
}

function asRemote(transaction: SentTransaction) {
  return { transaction, origin: "remote" } as const;
}

/** The transactions whose signer is known. */
function withSenders(
  transactions: readonly Transaction[],
  senders: Awaited<ReturnType<RecoverSigners>>,
): readonly SentTransaction[] {
  return transactions.flatMap((transaction, index) => {
    const sender = senders[index];
    return sender === undefined ? [] : [withSender(transaction, sender)];
  });
}

/** Weight of a rejection against the peer. */
function weightOf(code: PoolErrorCode, isAhead: boolean): number {
  if (faultOf(code, "remote") === "peer") return 1;
  if (!WITHOUT_EFFECT.has(code)) return 0;
  return isAhead ? REJECTION_WEIGHT_AHEAD : 1;
}

/** Errors of transactions that never pay a fee: an honest peer sends only a few, when a block was faster than its message. */
const WITHOUT_EFFECT: ReadonlySet<PoolErrorCode> = new Set([
  "upfrontCostAboveBalance",
  "nonceTooLow",
  "nonceTooDistant",
]);
