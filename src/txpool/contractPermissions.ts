import type { SentTransaction } from "../types/transaction.ts";
import type { TransactionOrigin } from "./entry.ts";
import type { AskContract, SenderPermission } from "./ports.ts";

interface Asked {
  readonly transaction: SentTransaction;
  readonly origin: TransactionOrigin;
}

/** Questions to the contract that wait at the same time. */
const ASKED_TOGETHER = 128;

/** Asks the account contract about transactions. An answer is undefined where there is no transaction. */
export async function askPermissions(
  ask: AskContract,
  asked: readonly (Asked | undefined)[],
): Promise<readonly (SenderPermission | undefined)[]> {
  const permissions: (SenderPermission | undefined)[] = [];
  for (let at = 0; at < asked.length; at += ASKED_TOGETHER) {
    const together = asked.slice(at, at + ASKED_TOGETHER);
    permissions.push(...(await Promise.all(together.map((one) => one && ask(one.transaction, one.origin)))));
  }
  return permissions;
}
