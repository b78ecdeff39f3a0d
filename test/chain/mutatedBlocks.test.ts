import { beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../src/primitives/hex.ts";
import { type Block, decodeBlock, encodeBlock } from "../../src/types/block.ts";
import type { Header } from "../../src/types/header.ts";
import { rootOfList } from "../../src/types/listRoot.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { digestOf } from "../builders/databaseDigest.ts";
import { opensBlockStrings, rlpMutations } from "../builders/rlpMutations.ts";
import { createChance } from "../rpc/mutations.ts";
import { someOf } from "../thorough.ts";
import { describeWithVectors } from "../vectors.ts";
import {
  type BlockFixture,
  type OpenFixture,
  ownFixture,
  recordedFixture,
  reseal,
} from "./mutation/fixture.ts";
import {
  EXTRA_DATA_MUTATIONS,
  HEADER_MUTATIONS,
  type HeaderMutation,
  type ImportResult,
} from "./mutation/headerMutations.ts";
import { LIST_MUTATIONS, resigned, TRANSACTION_MUTATIONS } from "./mutation/transactionMutations.ts";

/** Each test changes one thing in a valid block: the import fails with exactly that error and leaves the database unchanged. */
const SEED = Number(process.env["IBEX_SEED"] ?? 4);

describe("a block of a built chain with one change", () => suite(ownFixture));

/** A call with a log (Berlin), a fee-market call with a log (London), creations under Cancun whose keys are unknown. */
const RECORDED = [
  ["net1", 40],
  ["net2", 114],
  ["net4", 61],
] as const;

describeWithVectors("a block of a recorded chain with one change", () => {
  for (const [network, block] of someOf(RECORDED))
    describe(`${network}, block ${block}`, () => suite(() => recordedFixture(network, block)));
});

function suite(prepare: () => Promise<BlockFixture>): void {
  let fixture: BlockFixture;
  beforeAll(async () => {
    fixture = await prepare();
  });

  it.each(Object.entries(HEADER_MUTATIONS))("is rejected for its %s", async (_, mutations) => {
    const check = await startCheck(fixture);
    for (const mutation of mutations) {
      const { name } = mutation;
      const changes = mutation.change(fixture);
      if (changes === undefined) continue;
      const expected = expectedResults(mutation, fixture);
      const header = { ...fixture.block.header, ...changes } as Header;
      const changesExtraData = "extraData" in changes;
      await check.expectResult(
        { ...fixture.block, header },
        withOriginalSeals(expected),
        `${name}, with the original seals`,
      );
      if (fixture.validatorKeys === undefined || changesExtraData) continue;
      const sealed = reseal(fixture, header, fixture.extra);
      await check.expectResult({ ...fixture.block, header: sealed }, expected, `${name}, resealed`);
    }
    await check.expectUnchangedAccepted();
  });

  it.each(Object.entries(EXTRA_DATA_MUTATIONS))(
    "is rejected for the %s in its extra data",
    async (_, mutations) => {
      const check = await startCheck(fixture);
      const { header } = fixture.block;
      for (const { name, change, expected } of mutations) {
        const changed = change(fixture);
        if (changed === undefined) continue;
        if ("raw" in changed) {
          const mutated = { ...fixture.block, header: { ...header, extraData: changed.raw } };
          await check.expectResult(mutated, [expected], name);
        } else if (fixture.validatorKeys !== undefined) {
          const sealed = reseal(fixture, header, changed.extra, changed.sealers);
          await check.expectResult({ ...fixture.block, header: sealed }, [expected], `${name}, resealed`);
        }
      }
      await check.expectUnchangedAccepted();
    },
  );

  it.each(Object.entries(TRANSACTION_MUTATIONS))(
    "is rejected for the %s of a transaction",
    async (_, mutations) => {
      const check = await startCheck(fixture);
      for (const [index, transaction] of fixture.block.transactions.entries()) {
        for (const { name, change, expected } of mutations) {
          const changes = change(transaction);
          const mutated = changes && resigned(fixture, transaction, changes);
          if (mutated === undefined) continue;
          const transactions = fixture.block.transactions.with(index, mutated);
          await expectListResult(check, transactions, asList(expected), `transaction ${index}: ${name}`);
        }
      }
      await check.expectUnchangedAccepted();
    },
  );

  it("is rejected for the order and the number of its transactions", async () => {
    const check = await startCheck(fixture);
    for (const { name, change, expected } of LIST_MUTATIONS) {
      const transactions = change(fixture.block.transactions);
      if (transactions !== undefined) await expectListResult(check, transactions, expected, name);
    }
    await check.expectUnchangedAccepted();
  });

  it("is rejected for ommers, and for withdrawals, which no IBFT header commits to", async () => {
    const check = await startCheck(fixture);
    const { block } = fixture;
    await check.expectResult({ ...block, ommers: [fixture.parent.header] }, ["ommersNotEmpty"], "an ommer");
    await check.expectResult({ ...block, ommers: [block.header] }, ["ommersNotEmpty"], "itself");
    const credit = [Uint8Array.of(1), Uint8Array.of(1), new Uint8Array(20).fill(9), Uint8Array.of(7)];
    await check.expectResult({ ...block, withdrawals: [credit] }, ["withdrawalsNotEmpty"], "a withdrawal");
    await check.expectUnchangedAccepted();
  });

  it(`is rejected for any change of its bytes (IBEX_SEED=${SEED})`, async () => {
    const check = await startCheck(fixture);
    const original = encodeBlock(fixture.block);
    const chance = createChance(SEED);
    let rejected = 0;
    for (const { path, kind, bytes } of rlpMutations(original, opensBlockStrings, chance.below)) {
      // A fourth list means that there are no withdrawals, which is true.
      if (path.join() === "2" && kind === "doubled") continue;
      await expectRejected(bytes, path, kind);
    }
    for (const length of [0, 1, 2, original.length >> 1, original.length - 1])
      await expectRejected(original.subarray(0, length), [], `cut after ${length} bytes`);
    expect(rejected).toBeGreaterThan(300);
    await check.expectUnchangedAccepted();

    async function expectRejected(bytes: Uint8Array, path: readonly number[], kind: string): Promise<void> {
      const about = `item ${path.join(".")}: ${kind}`;
      const decoded = decodeBlock(bytes);
      rejected++;
      // An item more or less in the header moves those behind it.
      const place = path.length === 2 && /added|doubled|removed/.test(kind) ? path.slice(0, 1) : path;
      if (decoded.ok) await check.expectResult(decoded.value, expectedForBytes(fixture, place), about);
      else expect(decoded.error, about).toMatchObject({ code: "malformedBlock", fault: "peer" });
    }
  });

  async function expectListResult(
    check: MutationCheck,
    transactions: readonly SentTransaction[],
    expected: readonly ImportResult[],
    name: string,
  ): Promise<void> {
    const { block } = fixture;
    await check.expectResult(
      { ...block, transactions },
      ["wrongTransactionsRoot"],
      `${name}, under the original root`,
    );
    if (fixture.validatorKeys === undefined) return;
    const header = { ...block.header, transactionsRoot: rootOfList(transactions.map(({ raw }) => raw)) };
    const sealed = reseal(fixture, header, fixture.extra);
    await check.expectResult({ ...block, header: sealed, transactions }, expected, `${name}, resealed`);
  }
}

interface MutationCheck {
  /** Imports the block, and checks the result, the head and every byte of the database. */
  expectResult(block: Block, expected: readonly ImportResult[], name: string): Promise<void>;
  /** Checks that the original block is still accepted after all rejected ones. */
  expectUnchangedAccepted(): Promise<void>;
}

async function startCheck(fixture: BlockFixture): Promise<MutationCheck> {
  const { chain, database } = await fixture.open();
  const before = await digestOf(database);
  const head = chain.head;

  async function expectResult(block: Block, expected: readonly ImportResult[], name: string): Promise<void> {
    // An accepted mutation moves the head, so it gets a chain of its own.
    const target: OpenFixture = expected.includes("accepted") ? await fixture.open() : { chain, database };
    const outcome = await target.chain.importBlock(block);
    expect(expected, name).toContain(outcome.ok ? "accepted" : outcome.error.code);
    if (outcome.ok) return;
    expect(outcome.error.fault, name).toBe("peer");
    expect(toHex(target.chain.head.hash), name).toBe(toHex(head.hash));
    expect(await digestOf(target.database), name).toBe(before);
  }

  return {
    expectResult,
    async expectUnchangedAccepted() {
      const outcome = await chain.importBlock(fixture.block);
      expect(outcome).toMatchObject({ ok: true });
      expect(chain.head.header.number).toBe(fixture.block.header.number);
      expect(await digestOf(database)).not.toBe(before);
    },
  };
}

function expectedResults(
  { expected }: Pick<HeaderMutation, "expected">,
  fixture: BlockFixture,
): readonly ImportResult[] {
  return asList(typeof expected === "function" ? expected(fixture) : expected);
}

function asList(expected: ImportResult | readonly ImportResult[]): readonly ImportResult[] {
  return typeof expected === "string" ? [expected] : expected;
}

/**
 * Results with the original seals, which do not match a changed header. Only the rules of the header itself come before
 * the seals; body and execution come after them.
 */
function withOriginalSeals(expected: readonly ImportResult[]): readonly ImportResult[] {
  return expected.map((result) => (CHECKED_AFTER_SEALS.has(result) ? "sealerNotValidator" : result));
}

const CHECKED_AFTER_SEALS: ReadonlySet<ImportResult> = new Set<ImportResult>([
  "accepted",
  "wrongTransactionsRoot",
  "invalidTransaction",
  "wrongGasUsed",
  "wrongReceiptsRoot",
  "wrongLogsBloom",
  "wrongStateRoot",
]);

/** Possible results of a change in the bytes of this item, if it can be decoded: errors of its field, or of the seals. */
function expectedForBytes(fixture: BlockFixture, [part, index]: readonly number[]): readonly ImportResult[] {
  if (part === undefined) return [0, 1, 2].flatMap((each) => expectedForBytes(fixture, [each]));
  if (part === 1) return ["wrongTransactionsRoot"];
  if (part === 2) return ["ommersNotEmpty"];
  const fields = Object.values(HEADER_MUTATIONS);
  if (index === undefined) return fields.flatMap((_, each) => expectedForBytes(fixture, [0, each]));
  const seals: readonly ImportResult[] = [
    "sealerNotValidator",
    "unreadableSeal",
    "duplicateSeal",
    "tooFewSeals",
  ];
  if (index === EXTRA_DATA) return [...seals, "malformedExtraData", "wrongValidators"];
  const ofField = (fields[index] ?? []).flatMap((mutation) => expectedResults(mutation, fixture));
  return [...seals, ...ofField.filter((result) => result !== "accepted")];
}

const EXTRA_DATA = 12;
