import type { SentTransaction } from "../types/transaction.ts";
import type { TransactionOrigin } from "./entry.ts";
import type { AskContract, SenderPermission } from "./ports.ts";

/** Questions to the contract that wait at the same time. */
const ASKED_TOGETHER = 128;

/** Asks the account contract about transactions. One is undefined where there is no transaction. */
export async function askPermissions(
  ask: AskContract,
  origin: TransactionOrigin,
  transactions: readonly (SentTransaction | undefined)[],
): Promise<readonly (SenderPermission | undefined)[]> {
  const permissions: (SenderPermission | undefined)[] = [];
  for (let at = 0; at < transactions.length; at += ASKED_TOGETHER) {
    const together = transactions.slice(at, at + ASKED_TOGETHER);
    permissions.push(
      ...(await Promise.all(together.map((transaction) => transaction && ask(transaction, origin)))),
    );
  }
  return permissions;
}
