import type { Eventual } from "../primitives/eventual.ts";
import type { SentTransaction } from "../types/transaction.ts";
import type { YieldPolicy } from "./yieldPolicy.ts";

/** A contract's answer about one transaction; a failure is an answer that cannot be read. */
export type Permission = "permitted" | "denied" | { readonly failure: string };

/**
 * Asks, on the state after the parent of a block, whether a transaction may be in that block. The answer depends on the
 * parent, its state and the transaction alone. Throws OutOfTime as the policy does.
 */
export type AskPermission = (transaction: SentTransaction, yieldPolicy: YieldPolicy) => Eventual<Permission>;
