import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FORK_NAMES } from "../../src/chainspec/forks.ts";
import type { Executable } from "../../src/execution/checkTransaction.ts";
import { loadOf } from "../../src/execution/effectCost.ts";
import { runTransaction } from "../../src/execution/runTransaction.ts";
import type { TransactionResult } from "../../src/execution/transactionResult.ts";
import { runsNoCode, transfer } from "../../src/execution/transfer.ts";
import { addressFromHex } from "../../src/primitives/address.ts";
import { asHash } from "../../src/primitives/hash.ts";
import { toHex } from "../../src/primitives/hex.ts";
import type { Overlay } from "../../src/state/overlay.ts";
import { account } from "../builders/testAccounts.ts";
import { casesOf } from "../thorough.ts";
import { anOverlay, aSession, BENEFICIARY, slotOf } from "./context.ts";

const ABSENT = addressFromHex("0xab00000000000000000000000000000000000000");
const EMPTY = addressFromHex("0xee00000000000000000000000000000000000000");
const PRECOMPILE = addressFromHex("0x0000000000000000000000000000000000000001");
const ADDRESSES = [account(0).address, account(1).address, ABSENT, EMPTY, BENEFICIARY];

const anyone = fc.constantFrom(...ADDRESSES);
const wei = fc.oneof(fc.constant(0n), fc.bigInt({ min: 1n, max: 1000n }));

const executable: fc.Arbitrary<Executable> = fc.record({
  type: fc.constantFrom(0 as const, 1 as const, 2 as const, 3 as const),
  sender: fc.constantFrom(account(0).address, ABSENT),
  nonce: fc.constant(0n),
  gasLimit: fc.bigInt({ min: 200_000n, max: 400_000n }),
  to: anyone,
  value: wei,
  data: fc.uint8Array({ maxLength: 100 }),
  accessList: fc.array(
    fc.record({ address: anyone, storageKeys: fc.constantFrom([], [asHash(slotOf(1))]) }),
    { maxLength: 2 },
  ),
  blobVersionedHashes: fc.array(fc.constant(asHash(slotOf(9))), { maxLength: 2 }),
  authorizationList: fc.constant([]),
});

/** The changes of an overlay, sorted and in hex. */
function changesOf(overlay: Overlay): unknown {
  return overlay
    .changes()
    .accounts.map(({ address, account, storageCleared, slots }) => ({
      address: toHex(address),
      account: account && {
        ...account,
        codeHash: toHex(account.codeHash),
        storageRoot: toHex(account.storageRoot),
      },
      storageCleared,
      slots: slots.length,
    }))
    .sort((a, b) => (a.address < b.address ? -1 : 1));
}

describe("a transaction that runs no code", () => {
  it("has the same result and leaves the same state with and without the interpreter, in every fork", async () => {
    await fc.assert(
      fc.asyncProperty(
        executable,
        fc.constantFrom(...FORK_NAMES),
        fc.record({ tip: wei, baseFeePerGas: wei, blobBaseFee: wei, beneficiary: anyone }),
        async (transaction, fork, { tip, ...context }) => {
          const price = context.baseFeePerGas + tip;
          const run = async (
            how: typeof transfer | typeof runTransaction,
          ): Promise<[Omit<TransactionResult, "effects">, number, unknown]> => {
            const overlay = anOverlay([
              [EMPTY, {}],
              [ABSENT, { balance: 0n }],
            ]);
            overlay.putAccount(ABSENT, undefined);
            if (transaction.sender === ABSENT) overlay.putAccount(ABSENT, { ...funded() });
            const session = aSession(fork, overlay, context);
            overlay.beginTransaction();
            expect(runsNoCode(session, transaction)).toBe(true);
            const { effects, ...result } = await how(session, transaction, price);
            return [result, loadOf(effects), changesOf(overlay)];
          };
          const [direct, interpreted] = [await run(transfer), await run(runTransaction)];
          expect(direct).toEqual(interpreted);
        },
      ),
      { numRuns: casesOf(1000) },
    );
  });

  it("is not a call of a contract or precompiled contract, a creation, or one with authorizations", () => {
    const code = addressFromHex("0xc0de000000000000000000000000000000000000");
    const session = aSession("prague", anOverlay([[code, { code: "0x00" }]]));
    const [sample] = fc.sample(executable, { seed: 1, numRuns: 1 });
    if (sample === undefined) throw new Error("a sample");
    const { to, ...creation } = sample;
    expect(runsNoCode(session, { ...creation, to: to ?? EMPTY })).toBe(true);
    expect(runsNoCode(session, creation)).toBe(false);
    expect(runsNoCode(session, { ...sample, to: code })).toBe(false);
    expect(runsNoCode(session, { ...sample, to: PRECOMPILE })).toBe(false);
    expect(runsNoCode(session, { ...sample, authorizationList: [{} as never] })).toBe(false);
  });

  it("may call the address of a precompiled contract before the fork that introduces it", () => {
    const [sample] = fc.sample(executable, { seed: 1, numRuns: 1 });
    if (sample === undefined) throw new Error("a sample");
    const toNine = { ...sample, to: addressFromHex("0x0000000000000000000000000000000000000009") };
    expect(runsNoCode(aSession("petersburg", anOverlay()), toNine)).toBe(true);
    expect(runsNoCode(aSession("istanbul", anOverlay()), toNine)).toBe(false);
  });
});

function funded() {
  const found = anOverlay().account(account(0).address);
  if (found === undefined) throw new Error("a funded account");
  return found;
}
