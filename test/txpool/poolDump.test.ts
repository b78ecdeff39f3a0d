import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toDigits } from "../../src/primitives/hex.ts";
import { decodeDumpLine, encodeDumpLine, inOfferOrder } from "../../src/txpool/poolDump.ts";
import type { SentTransaction, TransactionType } from "../../src/types/transaction.ts";
import { anAuthorization, aTransaction } from "../builders/aTransaction.ts";
import { account } from "../builders/testAccounts.ts";
import { casesOf } from "../thorough.ts";

function ofType(type: TransactionType): SentTransaction {
  return aTransaction({ type, ...(type === 4 && { authorizationList: [anAuthorization()] }) });
}

function messageOf(line: string): string | undefined {
  const outcome = decodeDumpLine(line);
  return outcome.ok ? undefined : outcome.error.message;
}

describe("a line of the file", () => {
  it("is the letter of the origin and base64 of the RLP as in a block body", () => {
    const legacy = ofType(0);
    const typed = ofType(2);
    expect(encodeDumpLine({ transaction: legacy, origin: "local" })).toBe(
      `l${Buffer.from(legacy.raw).toString("base64")}`,
    );
    const wrapped = Buffer.from([0xb8, typed.raw.length, ...typed.raw]);
    expect(encodeDumpLine({ transaction: typed, origin: "remote" })).toBe(`r${wrapped.toString("base64")}`);
  });

  it.each([0, 1, 2, 4] as const)("restores a transaction of type %d", (type) => {
    const { sender, ...transaction } = ofType(type);
    for (const origin of ["local", "remote"] as const) {
      const outcome = decodeDumpLine(encodeDumpLine({ transaction, origin }));
      expect(outcome).toEqual({ ok: true, value: { transaction, origin } });
    }
    expect(sender).toHaveLength(20);
  });

  it("may have a typed transaction without its RLP string, and end with CR LF", () => {
    const { raw } = ofType(2);
    expect(messageOf(`l${Buffer.from(raw).toString("base64")}\r`)).toBeUndefined();
  });

  const valid = encodeDumpLine({ transaction: ofType(2), origin: "local" });
  it.each([
    ["is empty", ""],
    ["has no letter", valid.slice(1)],
    ["has another letter", `x${valid.slice(1)}`],
    ["is cut off", valid.slice(0, valid.length / 2)],
    ["is not base64", `${valid.slice(0, 20)}*${valid.slice(21)}`],
    ["has no data", "l"],
    ["has bytes that are no transaction", `l${Buffer.from("no transaction").toString("base64")}`],
    ["has an unknown type", `l${Buffer.from([0x82, 0x05, 0xc0]).toString("base64")}`],
    ["has more than one transaction", `l${valid.slice(1)}${valid.slice(1)}`],
  ])("is refused with a reason when it %s", (_, line) => {
    expect(messageOf(line)).toMatch(/\S/);
  });

  it("never throws, whatever its defect", () => {
    fc.assert(
      fc.property(fc.nat(valid.length - 1), fc.string({ maxLength: 3 }), (at, text) => {
        decodeDumpLine(valid.slice(0, at) + text + valid.slice(at + 1));
      }),
      { numRuns: casesOf(2000) },
    );
  });
});

describe("the order in which a saved pool is offered", () => {
  const made = new Map<string, SentTransaction>();
  function transfer(who: number, nonce: number): SentTransaction {
    const name = `${who}/${nonce}`;
    const known =
      made.get(name) ?? aTransaction({ privateKey: account(who).privateKey, nonce: BigInt(nonce) });
    made.set(name, known);
    return known;
  }

  it("is that of the file, except that a sender's lower nonces come first", () => {
    const items = [transfer(0, 1), transfer(1, 0), transfer(0, 0), transfer(1, 1)].map((transaction) => ({
      transaction,
    }));
    const [zeroOne, oneZero, zeroZero, oneOne] = items;
    expect(inOfferOrder(items)).toEqual([zeroZero, zeroOne, oneZero, oneOne]);
  });

  it("keeps all, and never puts a nonce before a lower one of its sender", () => {
    const pairs = fc.uniqueArray(fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 9 })), {
      selector: String,
      maxLength: 40,
    });
    fc.assert(
      fc.property(pairs, (list) => {
        const items = list.map(([who, nonce]) => ({ transaction: transfer(who, nonce) }));
        const ordered = inOfferOrder(items);
        const names = (all: typeof items): string[] =>
          all.map(({ transaction }) => toDigits(transaction.hash)).sort();
        expect(names(ordered)).toEqual(names(items));
        for (let who = 0; who < 4; who++) {
          const own = ordered.filter(
            ({ transaction }) => toDigits(transaction.sender) === toDigits(account(who).address),
          );
          const nonces = own.map(({ transaction }) => Number(transaction.nonce));
          expect(nonces).toEqual(nonces.toSorted((a, b) => a - b));
        }
      }),
      { numRuns: casesOf(200) },
    );
  });
});
