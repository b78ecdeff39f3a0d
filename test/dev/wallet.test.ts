import { describe, expect, it } from "vitest";
import { Wallet, type WalletTransaction } from "../../src/dev/wallet.ts";
import { asAddress } from "../../src/primitives/address.ts";
import { equalBytes } from "../../src/primitives/hex.ts";
import { fail, ok } from "../../src/primitives/result.ts";
import type { Submitted } from "../../src/txpool/submission.ts";
import { isImpersonated } from "../../src/types/impersonatedSignature.ts";
import { decodeTransaction, type Transaction, withSender } from "../../src/types/transaction.ts";
import { recoverSender } from "../../src/types/transactionSignature.ts";
import { account } from "../builders/testAccounts.ts";

const KNOWN = account(0);
const OUTSIDER = asAddress(new Uint8Array(20).fill(0x77));
const TRANSFER: WalletTransaction = {
  ...({ type: 2, chainId: 1337n, nonce: undefined, maxFeePerGas: 5n, maxPriorityFeePerGas: 1n } as const),
  ...{ gasLimit: 21_000n, to: OUTSIDER, value: 1n, data: new Uint8Array(0) },
  ...{ accessList: [], authorizationList: [] },
};

/** A wallet over a pool that takes what follows the last nonce, after a while, unless `refuses` says so. */
function aWallet(refuses: (transaction: Transaction) => boolean = () => false) {
  const pooled: Transaction[] = [];
  async function submit(raw: Uint8Array): Promise<Submitted> {
    const decoded = decodeTransaction(raw);
    if (!decoded.ok) return decoded;
    await Promise.resolve();
    if (refuses(decoded.value)) return fail("caller", "poolFull", "refused by the test");
    pooled.push(decoded.value);
    return ok(decoded.value.hash);
  }
  const impersonated: Uint8Array[] = [];
  const wallet = new Wallet([KNOWN], {
    nextNonce: () => BigInt(pooled.length),
    submit,
    sendAs(raw, sender) {
      impersonated.push(sender);
      return submit(raw);
    },
    isMinedUnasked: () => true,
  });
  return { wallet, pooled, impersonated };
}

describe("the development network's wallet", () => {
  it("signs with the account's key", async () => {
    const { wallet, pooled } = aWallet();
    for (const type of [0, 1, 2] as const)
      expect(await wallet.send(KNOWN.address, { ...TRANSFER, type, gasPrice: 7n })).toMatchObject({
        ok: true,
        value: { isMinedUnasked: true },
      });
    expect(pooled.map(({ type }) => type)).toEqual([0, 1, 2]);
    for (const transaction of pooled) expect(recoverSender(transaction)).toEqual(KNOWN.address);
  });

  it("gives consecutive nonces to transactions that come together, and leaves no gap for a refused one", async () => {
    const { wallet, pooled } = aWallet(({ value }) => value === 3n);
    const sent = await Promise.all(
      [1n, 2n, 3n, 4n, 5n].map((value) => wallet.send(KNOWN.address, { ...TRANSFER, value })),
    );
    expect(sent.map((each) => (each.ok ? "sent" : each.error.code))).toEqual([
      "sent",
      "sent",
      "poolFull",
      "sent",
      "sent",
    ]);
    expect(pooled.map(({ nonce, value }) => [nonce, value])).toEqual([
      [0n, 1n],
      [1n, 2n],
      [2n, 4n],
      [3n, 5n],
    ]);
  });

  it("keeps a nonce that is given", async () => {
    const { wallet, pooled } = aWallet();
    await wallet.send(KNOWN.address, { ...TRANSFER, nonce: 9n });
    expect(pooled.map(({ nonce }) => nonce)).toEqual([9n]);
  });

  it("sends for accounts without key only while they are impersonated, with a signature that no key gives", async () => {
    const { wallet, pooled, impersonated } = aWallet();
    const code = async () => {
      const sent = await wallet.send(OUTSIDER, TRANSFER);
      return sent.ok ? "sent" : sent.error.code;
    };
    expect(await code()).toBe("unknownAccount");
    expect(wallet.impersonate(OUTSIDER)).toBe(true);
    expect(await code()).toBe("sent");
    expect(wallet.stopImpersonating(OUTSIDER)).toBe(true);
    expect(wallet.stopImpersonating(OUTSIDER)).toBe(false);
    expect(await code()).toBe("unknownAccount");
    wallet.impersonateAll(true);
    expect(await code()).toBe("sent");
    wallet.impersonateAll(false);
    expect(await code()).toBe("unknownAccount");
    expect(impersonated).toEqual([OUTSIDER, OUTSIDER]);
    for (const transaction of pooled) {
      expect(recoverSender(transaction)).toBeUndefined();
      expect(isImpersonated(withSender(transaction, OUTSIDER))).toBe(true);
    }
  });

  it("refuses more than a thousand transactions that wait for their nonce", async () => {
    const { wallet } = aWallet();
    const sent = await Promise.all(
      Array.from({ length: 1001 }, () => wallet.send(KNOWN.address, { ...TRANSFER, nonce: 0n })),
    );
    expect(sent.filter((each) => !each.ok).map((each) => (each.ok ? "" : each.error.code))).toEqual([
      "tooManyWaiting",
    ]);
  });
});

describe("an impersonated signature", () => {
  it("belongs to its sender alone", async () => {
    const { wallet, pooled } = aWallet();
    wallet.impersonate(OUTSIDER);
    await wallet.send(OUTSIDER, TRANSFER);
    await wallet.send(KNOWN.address, TRANSFER);
    const [unsigned, signed] = pooled;
    if (unsigned === undefined || signed === undefined) throw new Error("both were sent");
    const { v, r, s } = unsigned;
    expect(isImpersonated({ r, s, sender: OUTSIDER })).toBe(true);
    expect(isImpersonated({ r, s, sender: KNOWN.address })).toBe(false);
    expect(isImpersonated({ r: r + 2n ** 160n, s, sender: OUTSIDER })).toBe(false);
    expect(isImpersonated({ r, s: 2n, sender: OUTSIDER })).toBe(false);
    expect(isImpersonated(withSender(signed, KNOWN.address))).toBe(false);
    expect(v).toBe(0n);
    expect(equalBytes(unsigned.hash, signed.hash)).toBe(false);
  });
});
