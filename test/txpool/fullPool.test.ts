import { describe, expect, it } from "vitest";
import { asHash } from "../../src/primitives/hash.ts";
import { AdmissionQueue } from "../../src/txpool/admissionQueue.ts";
import { REPLACEMENT_TRIES } from "../../src/txpool/poolEntries.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { aPool, type PoolInHand } from "../builders/aPool.ts";
import { aTransaction } from "../builders/aTransaction.ts";
import { recoverSignersHere } from "../builders/recoverSignersHere.ts";
import { account } from "../builders/testAccounts.ts";
import { generator } from "../storage/random.ts";
import { itIfThorough } from "../thorough.ts";

const FREE_GAS = { isZeroBaseFee: true, isFreeFromStart: true } as const;
const NO_FLOORS = { admissionFloorWei: 0n, blockFloors: { minGasPriceWei: 0n, minPriorityFeeWei: 0n } };

function from(who: number, nonce: number, gasPrice: bigint, size = 0): SentTransaction {
  const data = new Uint8Array(size).fill(1);
  return aTransaction({ privateKey: account(who).privateKey, nonce: BigInt(nonce), gasPrice, data });
}

function send({ pool }: PoolInHand, transaction: SentTransaction): string {
  const added = pool.add(transaction, "local");
  return added.ok ? "added" : added.error.code;
}

function contents({ pool }: PoolInHand): Set<SentTransaction> {
  return new Set([...pool.entries()].map(({ transaction }) => transaction));
}

/** A block of the pool's first transactions. */
function mineSome({ pool, mine }: PoolInHand, count: number): readonly SentTransaction[] {
  const selection = pool.select(0n);
  const block: SentTransaction[] = [];
  for (let next = selection.next(); next !== undefined && block.length < count; next = selection.next())
    block.push(next);
  mine(...block);
  return block;
}

describe("a full pool", () => {
  it("that holds transactions behind gaps alone takes those that can be mined, at any price", () => {
    const inHand = aPool({ rules: FREE_GAS, limits: { ...NO_FLOORS, maxTransactions: 20 } });
    for (let nonce = 1; nonce <= 20; nonce++) send(inHand, from(0, nonce, 10n ** 12n));
    for (let who = 1; who <= 4; who++) {
      for (let nonce = 0; nonce < 5; nonce++) expect(send(inHand, from(who, nonce, 0n))).toBe("added");
    }
    expect(inHand.pool.statistics).toMatchObject({ pending: 20, queued: 0 });
    expect(send(inHand, from(0, 1, 10n ** 12n))).toBe("poolFull");
  });

  it("keeps what it has acknowledged where gas is free, and all that was refused is mined once it is sent again", () => {
    const inHand = aPool({ rules: FREE_GAS, limits: { ...NO_FLOORS, maxTransactions: 12 } });
    const mined = new Set<SentTransaction>();
    const nonces = new Map<number, number>();
    const acknowledged = new Set<SentTransaction>();
    let refused = 0;
    while (mined.size < 100) {
      for (let who = 0; who < 10; who++) {
        const nonce = nonces.get(who) ?? 0;
        if (nonce === 10) continue;
        const transaction = from(who, nonce, 0n);
        const answer = send(inHand, transaction);
        if (answer !== "added") {
          expect(answer).toBe("poolFull");
          refused++;
          continue;
        }
        acknowledged.add(transaction);
        nonces.set(who, nonce + 1);
      }
      for (const one of mineSome(inHand, 5)) mined.add(one);
      for (const one of acknowledged) expect(mined.has(one) || contents(inHand).has(one)).toBe(true);
    }
    expect(refused).toBeGreaterThan(0);
  });

  it("takes what fills a gap, and what replaces, however little it pays", () => {
    const inHand = aPool({ limits: { maxTransactions: 3 } });
    const [first, third, other] = [from(0, 0, 5000n), from(0, 2, 5000n), from(1, 0, 9000n)];
    for (const one of [first, third, other]) send(inHand, one);
    const filler = from(0, 1, 1500n);
    expect(send(inHand, filler)).toBe("added");
    expect(contents(inHand)).toEqual(new Set([first, filler, other]));
    const replacement = from(0, 1, 1700n);
    expect(send(inHand, replacement)).toBe("added");
    expect(contents(inHand)).toEqual(new Set([first, replacement, other]));
  });

  it("lets nothing go for a large transaction that cannot stay itself", () => {
    const small = [from(0, 0, 2000n), from(1, 0, 3000n), from(2, 0, 9000n)];
    const maxBytes = small.reduce((sum, { raw }) => sum + raw.length, 0);
    const inHand = aPool({ limits: { maxBytes } });
    for (const one of small) send(inHand, one);
    inHand.events.length = 0;
    const large = from(3, 0, 4000n, maxBytes - 150);
    expect(large.raw.length).toBeLessThan(maxBytes);
    expect(send(inHand, large)).toBe("poolFull");
    expect(contents(inHand)).toEqual(new Set(small));
    expect(inHand.pool.statistics.bytes).toBe(maxBytes);
    expect(inHand.events).toEqual([]);
    expect(send(inHand, from(3, 0, 2500n))).toBe("added");
    expect(inHand.events.map((event) => event.split(" ")[0])).toEqual(["dropped", "added"]);
  });

  it("refuses a replacement that is longer than what is left and pays least, and keeps the one it was for", () => {
    const [cheap, dear] = [from(0, 0, 2000n), from(1, 0, 9000n)];
    const inHand = aPool({ limits: { maxBytes: cheap.raw.length + dear.raw.length } });
    for (const one of [cheap, dear]) send(inHand, one);
    expect(send(inHand, from(0, 0, 2200n, 50))).toBe("poolFull");
    expect(contents(inHand)).toEqual(new Set([cheap, dear]));
    expect(send(inHand, from(0, 0, 2300n))).toBe("added");
  });
});

describe("the pool's memory", () => {
  const bigint256 = 2n ** 255n + 1n;
  const hash = asHash(new Uint8Array(32).fill(9));
  const { address } = account(1);

  it.each([
    ["items of an access list", { type: 1, accessList: Array(1000).fill({ address, storageKeys: [] }) }, 6],
    ["storage keys", { type: 1, accessList: [{ address, storageKeys: Array(1000).fill(hash) }] }, 4],
    [
      "authorizations",
      {
        type: 4,
        authorizationList: Array(1000).fill({
          chainId: 1n,
          address,
          nonce: 0n,
          yParity: 0,
          r: bigint256,
          s: bigint256,
        }),
      },
      4,
    ],
  ] as const)("counts %s as the objects that they become", (_, fields, times) => {
    const rules = { acceptedTypes: new Set([0, 1, 2, 4] as const) };
    const inHand = aPool({ rules });
    const transaction = aTransaction({ ...fields, nonce: 1n } as Parameters<typeof aTransaction>[0]);
    expect(send(inHand, transaction)).toBe("added");
    expect(inHand.pool.statistics.bytes).toBeGreaterThan(times * transaction.raw.length);
    const { bytes } = inHand.pool.statistics;
    expect(send(aPool({ rules, limits: { maxBytes: bytes - 1 } }), transaction)).toBe("poolFull");
    expect(send(aPool({ rules, limits: { maxBytes: bytes } }), transaction)).toBe("added");
  });
});

describe("a signature", () => {
  function aSubmission(inHand: PoolInHand) {
    let recovered = 0;
    const queue = new AdmissionQueue(inHand.pool, (items) => {
      recovered += items.length;
      return recoverSignersHere(items);
    });
    return async (transaction: SentTransaction): Promise<[string, number]> => {
      recovered = 0;
      const outcome = await queue.submit(transaction.raw);
      return [outcome.ok ? "added" : outcome.error.code, recovered];
    };
  }

  it("is not recovered where price alone keeps the transaction out", async () => {
    const inHand = aPool({ limits: { maxTransactions: 2 } });
    const submit = aSubmission(inHand);
    for (const who of [0, 1]) expect(await submit(from(who, 0, 3000n))).toEqual(["added", 1]);
    expect(await submit(from(2, 0, 2999n))).toEqual(["poolFull", 0]);
    expect(await submit(from(2, 0, 3001n))).toEqual(["added", 1]);
  });

  it("is recovered where the transaction pays as much as the cheapest, for some between two heads", async () => {
    const inHand = aPool({ rules: FREE_GAS, limits: { ...NO_FLOORS, maxTransactions: 2 } });
    const submit = aSubmission(inHand);
    for (const who of [0, 1]) await submit(from(who, 0, 5n));
    expect(await submit(from(1, 0, 5n, 1))).toEqual(["added", 1]);
    const another = from(2, 0, 5n);
    for (let tried = 1; tried < REPLACEMENT_TRIES; tried++)
      expect(await submit(another)).toEqual(["poolFull", 1]);
    expect(await submit(another)).toEqual(["poolFull", 0]);
    expect(await submit(from(1, 0, 5n, 2))).toEqual(["poolFull", 0]);
    expect(await submit(from(1, 0, 5n, 1))).toEqual(["knownTransaction", 1]);
    expect(await submit(from(1, 0, 6n, 2))).toEqual(["added", 1]);
    inHand.mine();
    expect(await submit(from(0, 0, 5n, 2))).toEqual(["added", 1]);
  });

  itIfThorough(
    "that is not recovered for the price alone is of a transaction that the pool would refuse from any sender",
    () => {
      const random = generator(1);
      let screened = 0;
      for (let round = 0; round < 1_000; round++) {
        const limits = { maxTransactions: 6, priceBumpPercent: random.below(12) };
        const inHand = aPool({ rules: FREE_GAS, limits: { ...NO_FLOORS, ...limits } });
        const any = (): SentTransaction => {
          const price = BigInt(random.below(5)) * 10n ** BigInt(random.below(3));
          return from(random.below(4), random.below(4), price, random.below(2));
        };
        for (let sent = 0; sent < 12; sent++) send(inHand, any());
        for (let tried = 0; tried < 6; tried++) {
          const transaction = any();
          if (inHand.pool.screen(transaction, "local") !== "poolFull") continue;
          screened++;
          const before = contents(inHand);
          expect(["poolFull", "replacementUnderpriced"]).toContain(send(inHand, transaction));
          expect(contents(inHand)).toEqual(before);
        }
      }
      expect(screened).toBeGreaterThan(100);
    },
  );

  it("is recovered where the transaction may replace another one or fill a gap", async () => {
    const inHand = aPool({ limits: { maxTransactions: 2 } });
    const submit = aSubmission(inHand);
    await submit(from(0, 0, 3000n));
    await submit(from(0, 2, 9000n));
    expect(await submit(from(0, 1, 1100n))).toEqual(["added", 1]);
    expect(await submit(from(1, 0, 1100n))).toEqual(["poolFull", 1]);
    expect(await submit(from(1, 0, 1050n))).toEqual(["poolFull", 0]);
  });

  it("that is not recovered changes no other refusal", async () => {
    const inHand = aPool({ limits: { maxTransactions: 1 } });
    const submit = aSubmission(inHand);
    await submit(from(0, 0, 3000n));
    expect(await submit(from(1, 0, 5n))).toEqual(["gasPriceTooLow", 0]);
    expect(await submit(aTransaction({ gasPrice: 2000n, gasLimit: 20_999n }))).toEqual([
      "intrinsicGasAboveLimit",
      0,
    ]);
  });
});
