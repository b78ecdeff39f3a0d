import { RLP } from "@ethereumjs/rlp";
import { clearIfEmpty, credit } from "../../../src/execution/emptyAccounts.ts";
import { type Address, asAddress } from "../../../src/primitives/address.ts";
import { equalBytes } from "../../../src/primitives/hex.ts";
import { bytesToBigint } from "../../../src/primitives/quantity.ts";
import { err, ok, type Result } from "../../../src/primitives/result.ts";
import type { Overlay } from "../../../src/state/overlay.ts";
import type { Block } from "../../../src/types/block.ts";
import { rootOfList } from "../../../src/types/listRoot.ts";

/** A payment from the beacon chain (EIP-4895); IBFT blocks have none. */
export interface Withdrawal {
  readonly recipient: Address;
  readonly amountGwei: bigint;
}

export type WithdrawalErrorCode = "wrongShape" | "malformedWithdrawal" | "wrongWithdrawalsRoot";

/** Decodes a body's withdrawals and checks them against the header; none before Shanghai. */
export function readWithdrawals({
  header,
  withdrawals,
}: Block): Result<readonly Withdrawal[], WithdrawalErrorCode> {
  if ((header.withdrawalsRoot === undefined) !== (withdrawals === undefined))
    return refuse("wrongShape", "withdrawals are in the header and in the body, or in neither");
  if (header.withdrawalsRoot === undefined || withdrawals === undefined) return ok([]);
  const read: Withdrawal[] = [];
  for (const item of withdrawals) {
    const withdrawal = readWithdrawal(item);
    if (withdrawal === undefined) return refuse("malformedWithdrawal", "a withdrawal cannot be read");
    read.push(withdrawal);
  }
  const root = rootOfList(withdrawals.map((item) => RLP.encode(item as Uint8Array[])));
  return equalBytes(root, header.withdrawalsRoot)
    ? ok(read)
    : refuse("wrongWithdrawalsRoot", "the withdrawals are not those of the header");
}

/** Recipients are touched even by an amount of zero. */
export function payWithdrawals(overlay: Overlay, withdrawals: readonly Withdrawal[]): void {
  for (const { recipient, amountGwei } of withdrawals) {
    credit(overlay, recipient, amountGwei * WEI_PER_GWEI);
    clearIfEmpty(overlay, recipient);
  }
}

const WEI_PER_GWEI = 1_000_000_000n;
const SCALAR_BYTES = 8;

/** [index, validator, recipient, amount], numbers of at most 64 bits. */
function readWithdrawal(item: unknown): Withdrawal | undefined {
  if (!Array.isArray(item) || item.length !== 4) return undefined;
  const [index, validator, recipient, amount] = item as unknown[];
  if (!isScalar(index) || !isScalar(validator) || !isScalar(amount)) return undefined;
  if (!(recipient instanceof Uint8Array) || recipient.length !== 20) return undefined;
  return { recipient: asAddress(recipient), amountGwei: bytesToBigint(amount) };
}

function isScalar(item: unknown): item is Uint8Array {
  return item instanceof Uint8Array && item.length <= SCALAR_BYTES && item[0] !== 0;
}

function refuse(code: WithdrawalErrorCode, message: string): Result<never, WithdrawalErrorCode> {
  return err({ code, fault: "peer", message });
}
