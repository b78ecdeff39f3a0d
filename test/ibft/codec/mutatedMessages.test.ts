import fc from "fast-check";
import { expect, it } from "vitest";
import { decodeMessage } from "../../../src/ibft/codec/decoding.ts";
import { encodeMessage } from "../../../src/ibft/codec/encoding.ts";
import { concatBytes, hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../../src/primitives/quantity.ts";
import { encodeRlpList, encodeRlpString } from "../../../src/primitives/rlp.ts";
import { addressOfPrivateKey, encodeSignature, sign } from "../../../src/primitives/secp256k1.ts";
import { countedBytes } from "../../builders/countedBytes.ts";
import { createMessageValidator, opensMessageStrings } from "../../builders/messageValidator.ts";
import { decoded, derivedMessage, recordedMessages } from "../../builders/recordedMessages.ts";
import { nodeOf, nodesOf, rlpMutations, withReplaced } from "../../builders/rlpMutations.ts";
import { createRandom } from "../../simulation/random.ts";
import { casesOf, IS_THOROUGH } from "../../thorough.ts";
import { describeWithVectors } from "../../vectors.ts";

const FLOOD_BYTES = 15_000_000;

const SEED = Number(process.env["IBEX_SEED"] ?? 20_240_731);

interface Genuine {
  readonly name: string;
  readonly code: number;
  readonly payload: Uint8Array;
}

/** All kinds of messages with all possible parts: nested certificates, transactions of several types, votes. */
function genuineMessages(): readonly Genuine[] {
  const derived = [
    "proposal-round0",
    "prepare-round0-key2",
    "commit-round0-key2",
    "round-change-to-1-key1-no-certificate",
    "round-change-to-1-key2-prepared",
    "proposal-round1-key2-with-round-change-certificate",
  ].map((name) => {
    const { code, message } = derivedMessage(name);
    return { name, code, payload: hexToBytes(message) };
  });
  const recorded = recordedMessages("net2")
    .filter(({ id }) => ["38/0/Proposal/node3", "122/0/Proposal/node3"].includes(id))
    .map(({ id, code, data }) => ({ name: id, code, payload: hexToBytes(data) }));
  return [...derived, ...recorded];
}

describeWithVectors(`mutated messages (IBEX_SEED=${SEED})`, () => {
  const genuine = genuineMessages();
  const validate = createMessageValidator();

  it.each(genuine)(
    "are refused or encode to the same bytes, whatever is changed: $name",
    ({ code, payload }) => {
      const random = createRandom(SEED);
      const results = new Map<string, number>();
      for (const { path, kind, bytes } of rlpMutations(payload, opensMessageStrings, (limit) =>
        random.between(0, limit - 1),
      )) {
        if (!IS_THOROUGH && payload.length > 2_000 && random.between(0, 2) > 0) continue;
        try {
          const result = validate(code, bytes);
          results.set(result, (results.get(result) ?? 0) + 1);
        } catch (error) {
          throw new Error(`${kind} at ${path.join("/")}: ${toHex(bytes)}`, { cause: error });
        }
      }
      expect(results.get("malformed") ?? 0).toBeGreaterThan(20);
      expect(results.size).toBeGreaterThan(2);
    },
  );

  it.each(genuine)("are refused when truncated or extended: $name", ({ code, payload }) => {
    for (let length = 0; length < payload.length; length++)
      expect(decodeMessage(code, payload.subarray(0, length)).ok).toBe(false);
    for (const more of [1, 2, 60]) {
      const longer = new Uint8Array(payload.length + more);
      longer.set(payload);
      expect(decodeMessage(code, longer).ok).toBe(false);
    }
  });

  it("are refused or encode to the same bytes when any bytes change", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...genuine),
        fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 1, max: 255 })), {
          minLength: 1,
          maxLength: 3,
        }),
        ({ code, payload }, changes) => {
          const mutated = Uint8Array.from(payload);
          for (const [position, mask] of changes) {
            const at = Math.min(payload.length - 1, Math.floor(position * payload.length));
            mutated[at] = (mutated[at] ?? 0) ^ mask;
          }
          validate(code, mutated);
        },
      ),
      { seed: SEED, numRuns: casesOf(1000) },
    );
  });

  it("are refused under the code of another kind", () => {
    for (const { code, payload } of genuine)
      for (const other of [0, 1, 2, 3].filter((candidate) => candidate !== code)) {
        const read = decodeMessage(other, payload);
        // A Prepare and a signed Proposal payload differ only in the signed code, so another author is recovered.
        if (read.ok)
          expect(toHex(read.value.signed.author)).not.toBe(toHex(decoded(code, payload).signed.author));
      }
  });
});

describeWithVectors("a block inside a message", () => {
  it("may have seals, which are ignored and left out", () => {
    const { code, payload, node, extraDataPath } = theRoundChangeWithBlock();
    const extra = [...nodesOf(node)].find(({ path }) => path.join() === extraDataPath.join());
    const seal = encodeSignature(sign(new Uint8Array(32).fill(1), bigintToFixedBytes(1n, 32)));
    const items = (extra?.members ?? []).slice(0, 4).map(({ raw }) => raw);
    const sealed = encodeRlpString(encodeRlpList([...items, encodeRlpList([encodeRlpString(seal)])]));
    const read = decoded(code, withReplaced(node, extraDataPath, [sealed]));
    expect(toHex(encodeMessage(structuredClone(read)).payload)).toBe(toHex(payload));
  });

  it("must have the body that its header commits to", () => {
    const { code, node } = theRoundChangeWithBlock();
    const transfer = nodeOf(
      hexToBytes(recordedMessages("net2").find(({ id }) => id === "38/0/Proposal/node3")?.data ?? ""),
    );
    const transactions = transfer.members[1]?.members[1]?.raw ?? new Uint8Array();
    const read = decodeMessage(code, withReplaced(node, [1, 1], [transactions]));
    expect(read).toMatchObject({ ok: false, error: { code: "foreignBody" } });
  });

  it("has neither ommers nor withdrawals", () => {
    const { code, node } = theRoundChangeWithBlock();
    const header = node.members[1]?.members[0]?.raw ?? new Uint8Array();
    const withOmmer = withReplaced(node, [1, 2], [encodeRlpList([header])]);
    expect(decodeMessage(code, withOmmer)).toMatchObject({
      ok: false,
      error: { code: "malformedBlock" },
    });
    const empty = Uint8Array.of(0xc0);
    const withWithdrawals = withReplaced(node, [1, 2], [empty, empty]);
    expect(decodeMessage(code, withWithdrawals)).toMatchObject({
      ok: false,
      error: { code: "malformed" },
    });
  });
});

describeWithVectors("a flood in one message", () => {
  it("of distinct signatures is refused before they cost much", () => {
    const members = Array.from({ length: 5000 }, (_, round) => anyRoundChange(round));
    expect(reasonOfProposalWith(members)).toBe("tooManySignatures");
  });

  it("of one signature repeated is refused as well", () => {
    const members = new Array<Uint8Array>(30_000).fill(anyRoundChange(1));
    expect(reasonOfProposalWith(members)).toBe("tooManySignatures");
  });
});

describeWithVectors("fifteen megabytes of tiny items", () => {
  const { code, message } = derivedMessage("proposal-round0");
  const genuine = nodeOf(hexToBytes(message));
  const lists = encodeRlpList([new Uint8Array(FLOOD_BYTES).fill(0xc0)]);
  const strings = encodeRlpList([new Uint8Array(FLOOD_BYTES).fill(1)]);
  const cases: [string, Uint8Array][] = [
    ["in place of a message", lists],
    ["in place of a block", withReplaced(genuine, [1], [lists])],
    ["in place of transactions", withReplaced(genuine, [1, 1], [lists])],
    ["in place of a transaction", withReplaced(genuine, [1, 1], [encodeRlpList([strings])])],
    ["as an access list", withReplaced(genuine, [1, 1], [encodeRlpList([withAccessList(lists)])])],
    ["as its keys", withReplaced(genuine, [1, 1], [encodeRlpList([withAccessList(entryWithKeys(strings))])])],
    ["in place of ommers", withReplaced(genuine, [1, 2], [lists])],
    ["in place of a header", withReplaced(genuine, [1, 0], [strings])],
    ["as a certificate", withReplaced(genuine, [2], [encodeRlpList([lists])])],
  ];

  it.each(cases)("are refused before they are read to their end: %s", (_title, payload) => {
    const counted = countedBytes(payload);
    expect(decodeMessage(code, counted.bytes).ok).toBe(false);
    expect(counted.reads + counted.views).toBeLessThan(FLOOD_BYTES / 300);
  });
});

const ANY_KEY = bigintToFixedBytes(7n, 32);
const ANY_SIGNATURE = encodeRlpString(encodeSignature(sign(new Uint8Array(32).fill(1), ANY_KEY)));

/** A transaction of type 1 with this access list, encoded as in a block. */
function withAccessList(list: Uint8Array): Uint8Array {
  const short = Uint8Array.of(1);
  const word = encodeRlpString(new Uint8Array(32).fill(1));
  const to = encodeRlpString(new Uint8Array(20).fill(1));
  const nothing = Uint8Array.of(0x80);
  const fields = [short, short, short, short, to, short, nothing, list, nothing, word, word];
  return encodeRlpString(concatBytes(Uint8Array.of(1), encodeRlpList(fields)));
}

function entryWithKeys(keys: Uint8Array): Uint8Array {
  return encodeRlpList([encodeRlpList([encodeRlpString(new Uint8Array(20).fill(1)), keys])]);
}

/** A plain round change with an arbitrary signature. */
function anyRoundChange(round: number): Uint8Array {
  const height = encodeRlpString(bigintToFixedBytes(1n, 8));
  const fields = [height, encodeRlpString(bigintToFixedBytes(BigInt(round), 4)), Uint8Array.of(0x80)];
  return encodeRlpList([encodeRlpList(fields), ANY_SIGNATURE]);
}

/** The result for a Proposal with these members in its certificate, when every signature has a signer. */
function reasonOfProposalWith(members: readonly Uint8Array[]): string {
  const { code, message } = derivedMessage("proposal-round0");
  const node = nodeOf(hexToBytes(message));
  const payload = withReplaced(node, [2], [encodeRlpList([encodeRlpList(members)])]);
  const signer = addressOfPrivateKey(ANY_KEY);
  const read = decodeMessage(code, payload, { recover: () => signer });
  return read.ok ? "read" : read.error.code;
}

function theRoundChangeWithBlock() {
  const { code, message } = derivedMessage("round-change-to-1-key2-prepared");
  const payload = hexToBytes(message);
  return { code, payload, node: nodeOf(payload, opensMessageStrings), extraDataPath: [1, 0, 12] };
}
