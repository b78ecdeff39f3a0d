import { beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../src/primitives/hex.ts";
import { type Block, decodeBlock, encodeBlock } from "../../src/types/block.ts";
import type { Header } from "../../src/types/header.ts";
import { rootOfList } from "../../src/types/listRoot.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { digestOf } from "../builders/databaseDigest.ts";
import { opensBlockStrings, rlpMutations } from "../builders/rlpMutations.ts";
import { createChance } from "../rpc/mutations.ts";
import { describeWithVectors } from "../vectors.ts";
import { type Ground, type OpenGround, ownGround, recordedGround, sealAnew } from "./mutation/ground.ts";
import { EXTRA_LIES, HEADER_LIES, type HeaderLie, type Verdict } from "./mutation/lies.ts";
import { LIST_LIES, signedAnew, TRANSACTION_LIES } from "./mutation/transactionLies.ts";

/** One thing is changed in a sound block, and nothing else is wrong: each change is refused for just that, without a trace. */
const SEED = Number(process.env["IBEX_SEED"] ?? 4);

describe("a block of a chain of ours with one thing changed", () => suite(ownGround));

describeWithVectors("a block of a recorded chain with one thing changed", () => {
  // A call with a log (Berlin), a fee-market call with a log (London), creations under Cancun whose key nobody has.
  describe("net1, block 40", () => suite(() => recordedGround("net1", 40)));
  describe("net2, block 114", () => suite(() => recordedGround("net2", 114)));
  describe("net4, block 61", () => suite(() => recordedGround("net4", 61)));
});

function suite(prepare: () => Promise<Ground>): void {
  let ground: Ground;
  beforeAll(async () => {
    ground = await prepare();
  });

  it.each(Object.entries(HEADER_LIES))("is refused for its %s", async (_, lies) => {
    const trial = await openTrial(ground);
    for (const { says, change, verdict } of lies) {
      const changes = change(ground);
      if (changes === undefined) continue;
      const expected = verdictsOf({ verdict }, ground);
      const header = { ...ground.block.header, ...changes } as Header;
      const isOfExtraData = "extraData" in changes;
      await trial.expectVerdict({ ...ground.block, header }, besides(expected), `${says}, as it was sealed`);
      if (ground.validatorKeys === undefined || isOfExtraData) continue;
      const sealed = sealAnew(ground, header, ground.extra);
      await trial.expectVerdict({ ...ground.block, header: sealed }, expected, `${says}, sealed anew`);
    }
    await trial.expectGenuine();
  });

  it.each(Object.entries(EXTRA_LIES))("is refused for the %s in its extra data", async (_, lies) => {
    const trial = await openTrial(ground);
    const { header } = ground.block;
    for (const { says, change, verdict } of lies) {
      const changed = change(ground);
      if (changed === undefined) continue;
      if ("raw" in changed) {
        const lie = { ...ground.block, header: { ...header, extraData: changed.raw } };
        await trial.expectVerdict(lie, [verdict], says);
      } else if (ground.validatorKeys !== undefined) {
        const sealed = sealAnew(ground, header, changed.extra, changed.sealers);
        await trial.expectVerdict({ ...ground.block, header: sealed }, [verdict], `${says}, sealed anew`);
      }
    }
    await trial.expectGenuine();
  });

  it.each(Object.entries(TRANSACTION_LIES))("is refused for the %s of a transaction", async (_, lies) => {
    const trial = await openTrial(ground);
    for (const [index, transaction] of ground.block.transactions.entries()) {
      for (const { says, change, verdict } of lies) {
        const changes = change(transaction);
        const lie = changes && signedAnew(ground, transaction, changes);
        if (lie === undefined) continue;
        const transactions = ground.block.transactions.with(index, lie);
        await expectListVerdicts(trial, transactions, listOf(verdict), `transaction ${index}: ${says}`);
      }
    }
    await trial.expectGenuine();
  });

  it("is refused for the order and the number of its transactions", async () => {
    const trial = await openTrial(ground);
    for (const { says, change, verdict } of LIST_LIES) {
      const transactions = change(ground.block.transactions);
      if (transactions !== undefined) await expectListVerdicts(trial, transactions, verdict, says);
    }
    await trial.expectGenuine();
  });

  it("is refused for ommers and withdrawals that no header of ours speaks of", async () => {
    const trial = await openTrial(ground);
    const { block } = ground;
    await trial.expectVerdict({ ...block, ommers: [ground.parent.header] }, ["ommersNotEmpty"], "an ommer");
    await trial.expectVerdict({ ...block, ommers: [block.header] }, ["ommersNotEmpty"], "itself");
    const credit = [Uint8Array.of(1), Uint8Array.of(1), new Uint8Array(20).fill(9), Uint8Array.of(7)];
    await trial.expectVerdict({ ...block, withdrawals: [credit] }, ["withdrawalsNotEmpty"], "a withdrawal");
    await trial.expectGenuine();
  });

  it(`is refused for anything in its bytes (IBEX_SEED=${SEED})`, async () => {
    const trial = await openTrial(ground);
    const genuine = encodeBlock(ground.block);
    const chance = createChance(SEED);
    let refusals = 0;
    for (const { path, kind, bytes } of rlpMutations(genuine, opensBlockStrings, chance.below)) {
      // A fourth list says that there are no withdrawals, which is true.
      if (path.join() === "2" && kind === "doubled") continue;
      await expectRefusedBytes(bytes, path, kind);
    }
    for (const length of [0, 1, 2, genuine.length >> 1, genuine.length - 1])
      await expectRefusedBytes(genuine.subarray(0, length), [], `cut after ${length} bytes`);
    expect(refusals).toBeGreaterThan(300);
    await trial.expectGenuine();

    async function expectRefusedBytes(
      bytes: Uint8Array,
      path: readonly number[],
      kind: string,
    ): Promise<void> {
      const about = `item ${path.join(".")}: ${kind}`;
      const decoded = decodeBlock(bytes);
      refusals++;
      // An item more or less in the header moves those behind it.
      const place = path.length === 2 && /added|doubled|removed/.test(kind) ? path.slice(0, 1) : path;
      if (decoded.ok) await trial.expectVerdict(decoded.value, verdictsOnBytes(ground, place), about);
      else expect(decoded.error, about).toMatchObject({ code: "malformedBlock", fault: "peer" });
    }
  });

  async function expectListVerdicts(
    trial: Trial,
    transactions: readonly SentTransaction[],
    verdicts: readonly Verdict[],
    says: string,
  ): Promise<void> {
    const { block } = ground;
    await trial.expectVerdict(
      { ...block, transactions },
      ["wrongTransactionsRoot"],
      `${says}, under the old root`,
    );
    if (ground.validatorKeys === undefined) return;
    const header = { ...block.header, transactionsRoot: rootOfList(transactions.map(({ raw }) => raw)) };
    const sealed = sealAnew(ground, header, ground.extra);
    await trial.expectVerdict({ ...block, header: sealed, transactions }, verdicts, `${says}, sealed anew`);
  }
}

interface Trial {
  /** Imports, and looks at the answer, the head and every byte of the database. */
  expectVerdict(block: Block, verdicts: readonly Verdict[], says: string): Promise<void>;
  /** After all that was refused, the sound block is still welcome. */
  expectGenuine(): Promise<void>;
}

async function openTrial(ground: Ground): Promise<Trial> {
  const { chain, database } = await ground.open();
  const before = await digestOf(database);
  const head = chain.head;

  async function expectVerdict(block: Block, verdicts: readonly Verdict[], says: string): Promise<void> {
    // A change that no rule forbids makes another block: it is tried where it does no harm.
    const place: OpenGround = verdicts.includes("free") ? await ground.open() : { chain, database };
    const outcome = await place.chain.importBlock(block);
    expect(verdicts, says).toContain(outcome.ok ? "free" : outcome.error.code);
    if (outcome.ok) return;
    expect(outcome.error.fault, says).toBe("peer");
    expect(toHex(place.chain.head.hash), says).toBe(toHex(head.hash));
    expect(await digestOf(place.database), says).toBe(before);
  }

  return {
    expectVerdict,
    async expectGenuine() {
      const outcome = await chain.importBlock(ground.block);
      expect(outcome).toMatchObject({ ok: true });
      expect(chain.head.header.number).toBe(ground.block.header.number);
      expect(await digestOf(database)).not.toBe(before);
    },
  };
}

function verdictsOf({ verdict }: Pick<HeaderLie, "verdict">, ground: Ground): readonly Verdict[] {
  return listOf(typeof verdict === "function" ? verdict(ground) : verdict);
}

function listOf(verdict: Verdict | readonly Verdict[]): readonly Verdict[] {
  return typeof verdict === "string" ? [verdict] : verdict;
}

/**
 * With the genuine seals, which do not fit a changed header. Only the rules on the header itself come before them: what
 * the body or an execution would tell is not asked of a block that nobody sealed.
 */
function besides(verdicts: readonly Verdict[]): readonly Verdict[] {
  return verdicts.map((verdict) => (AFTER_THE_SEALS.has(verdict) ? "sealerNotValidator" : verdict));
}

const AFTER_THE_SEALS: ReadonlySet<Verdict> = new Set<Verdict>([
  "free",
  "wrongTransactionsRoot",
  "invalidTransaction",
  "wrongGasUsed",
  "wrongReceiptsRoot",
  "wrongLogsBloom",
  "wrongStateRoot",
]);

/** Codes for a change in the bytes of this item, where it can be decoded at all: those of its field, or of the seals. */
function verdictsOnBytes(ground: Ground, [part, index]: readonly number[]): readonly Verdict[] {
  if (part === undefined) return [0, 1, 2].flatMap((each) => verdictsOnBytes(ground, [each]));
  if (part === 1) return ["wrongTransactionsRoot"];
  if (part === 2) return ["ommersNotEmpty"];
  const fields = Object.values(HEADER_LIES);
  if (index === undefined) return fields.flatMap((_, each) => verdictsOnBytes(ground, [0, each]));
  const seals: readonly Verdict[] = ["sealerNotValidator", "unreadableSeal", "duplicateSeal", "tooFewSeals"];
  if (index === EXTRA_DATA) return [...seals, "malformedExtraData", "wrongValidators"];
  const ofField = (fields[index] ?? []).flatMap((lie) => verdictsOf(lie, ground));
  return [...seals, ...ofField.filter((verdict) => verdict !== "free")];
}

const EXTRA_DATA = 12;
