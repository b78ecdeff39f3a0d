import type { Address } from "../primitives/address.ts";
import type { RecoveryItem } from "../primitives/recoveryBatch.ts";
import type { ExtraData } from "../types/extraData.ts";
import type { Header } from "../types/header.ts";
import type { Transaction } from "../types/transaction.ts";

/** Recovers the senders of transactions in bulk; a sender is undefined when its signature is invalid. */
export type RecoverSenders = (
  transactions: readonly Transaction[],
) => Promise<readonly (Address | undefined)[]>;

/** Recovers the signer of each commit seal of a header; a signer is undefined when its seal is invalid. */
export type RecoverSealers = (
  header: Header,
  extra: ExtraData,
) => Promise<readonly (Address | undefined)[]> | readonly (Address | undefined)[];

/** Recovers the signers of any digests in bulk; a signer is undefined when its signature is invalid. */
export type RecoverSigners = (items: readonly RecoveryItem[]) => Promise<readonly (Address | undefined)[]>;
