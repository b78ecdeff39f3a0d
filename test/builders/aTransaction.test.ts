import { parseTransaction, recoverTransactionAddress, type TransactionSerialized } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import { toHex } from "../../src/primitives/hex.ts";
import { withRecoveredSender } from "../../src/types/transactionSignature.ts";
import { anAuthorization, aTransaction } from "./aTransaction.ts";
import { TEST_ACCOUNTS } from "./testAccounts.ts";

describe("aTransaction", () => {
  it("uses the accounts of the junk mnemonic", () => {
    const derived = TEST_ACCOUNTS.map((_, addressIndex) =>
      mnemonicToAccount("test test test test test test test test test test test junk", { addressIndex }),
    );
    expect(TEST_ACCOUNTS.map(({ address }) => toHex(address))).toEqual(
      derived.map(({ address }) => address.toLowerCase()),
    );
  });

  it.each([0, 1, 2, 3, 4] as const)(
    "builds a transaction of type %i that another library reads and attributes to the first account",
    async (type) => {
      const transaction = aTransaction({ type, authorizationList: [anAuthorization()] });
      const serialized = toHex(transaction.raw) as TransactionSerialized;
      const [first] = TEST_ACCOUNTS;
      expect(parseTransaction(serialized).nonce ?? 0).toBe(0);
      expect((await recoverTransactionAddress({ serializedTransaction: serialized })).toLowerCase()).toBe(
        toHex(first?.address ?? new Uint8Array()),
      );
      expect(toHex(withRecoveredSender(transaction)?.sender ?? new Uint8Array())).toBe(
        toHex(transaction.sender),
      );
    },
  );
});
