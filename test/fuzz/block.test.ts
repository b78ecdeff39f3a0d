import fc from "fast-check";
import { type Address, asAddress } from "../../src/primitives/address.ts";
import { expectDefined } from "../../src/primitives/assert.ts";
import { asHash } from "../../src/primitives/hash.ts";
import { concatBytes, equalBytes, toHex } from "../../src/primitives/hex.ts";
import { type Block, decodeBlock, encodeBlock } from "../../src/types/block.ts";
import { hashOfHeader } from "../../src/types/blockHash.ts";
import type { ExtraData } from "../../src/types/extraData.ts";
import { decodeHeader, encodeHeader, type Header } from "../../src/types/header.ts";
import { rootOfList } from "../../src/types/listRoot.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { digestOf } from "../builders/databaseDigest.ts";
import { opensBlockStrings } from "../builders/rlpMutations.ts";
import { account } from "../builders/testAccounts.ts";
import {
  type BlockFixture,
  type OpenFixture,
  ownFixture,
  recordedFixture,
  reseal,
} from "../chain/mutation/fixture.ts";
import { vectorsDirectory } from "../vectors.ts";
import { ACCEPTED, fuzz } from "./fuzzing.ts";
import { mutatedRlp } from "./mutatedInputs.ts";

/**
 * Blocks on real chains: decoded ones encode to the same bytes; refused ones leave the database unchanged; accepted
 * ones are the very block that was sent. The first byte of an input selects the chain.
 */
let grounds: readonly TriedGround[] = [];

fuzz({
  name: "blocks",
  dailyInputs: 600,
  spread: { outcomes: 20, accepted: [0.02, 0.5] },
  async inputs() {
    const made = [await ownFixture()];
    if (vectorsDirectory !== undefined)
      made.push(
        await recordedFixture("net1", 40),
        await recordedFixture("net2", 114),
        await recordedFixture("net4", 61),
      );
    grounds = await Promise.all(made.map(tried));
    return fc.oneof(
      ...made.map((ground, index) =>
        blockBytes(ground).map((bytes) => concatBytes(Uint8Array.of(index), bytes)),
      ),
    );
  },
  async validate(input) {
    const ground = expectDefined(grounds[input[0] ?? 0], "the chain of the input");
    const bytes = input.subarray(1);
    const decoded = decodeBlock(bytes);
    if (!decoded.ok) return `undecodable: ${decoded.error.message.replace(/0x\w+|\d+/g, "n")}`;
    expectSameBytes(decoded.value, bytes);
    return ground.offer(decoded.value, bytes);
  },
});

interface TriedGround {
  offer(block: Block, bytes: Uint8Array): Promise<string>;
}

/** Comparing every byte of a database costs more than an import, so it is done every this many inputs. */
const LOOKS_AT_ALL = 20;
/** The chain is reopened after this many inputs, to release its caches of earlier blocks. */
const OFFERS_PER_OPENING = 2_000;

async function tried(ground: BlockFixture): Promise<TriedGround> {
  let open: OpenFixture = await ground.open();
  let offers = 0;
  const before = await digestOf(open.database);

  async function renew(): Promise<void> {
    if ((await digestOf(open.database)) !== before) throw new Error("the database is not what it was");
    open = await ground.open();
  }

  return {
    async offer(block, bytes) {
      offers++;
      if (offers % OFFERS_PER_OPENING === 0) await renew();
      const { chain, database } = open;
      const outcome = await chain.importBlock(block);
      if (outcome.ok) {
        const stored = chain.blockByNumber(block.header.number);
        const isSame =
          stored !== undefined && equalBytes(encodeBlock(stored), encodeBlock(withoutWithdrawals(block)));
        const hash = hashOfHeader(block.header);
        if (!isSame || !hash.ok || !equalBytes(chain.head.hash, hash.value))
          throw new Error("another block was stored");
        open = await ground.open();
        return ACCEPTED;
      }
      const { code, fault } = outcome.error;
      if (fault !== "peer") throw new Error(`${code} is said to be the fault of ${fault}`);
      if (!equalBytes(chain.head.hash, ground.parent.hash)) throw new Error("the head has moved");
      if (offers % LOOKS_AT_ALL === 0 && (await digestOf(database)) !== before)
        throw new Error(`a block refused with ${code}, or one before it, left a trace: ${toHex(bytes)}`);
      return `refused: ${code}`;
    },
  };
}

function withoutWithdrawals({ header, transactions, ommers }: Block): Block {
  return { header, transactions, ommers };
}

function expectSameBytes(block: Block, bytes: Uint8Array): void {
  if (!equalBytes(encodeBlock(block), bytes))
    throw new Error(`encoded otherwise: ${toHex(encodeBlock(block))}`);
  const header = decodeHeader(encodeHeader(block.header));
  if (!header.ok) throw new Error(`its header is refused alone: ${header.error.message}`);
  if (!equalBytes(encodeHeader(header.value), encodeHeader(block.header))) throw new Error("another header");
}

/** The genuine block, changed in its bytes, or in its fields and then sealed by its validators. */
function blockBytes(ground: BlockFixture): fc.Arbitrary<Uint8Array> {
  const genuine = encodeBlock(ground.block);
  const inBytes = mutatedRlp(fc.constant(genuine), opensBlockStrings).filter(
    (bytes) => !equalBytes(bytes, genuine),
  );
  if (ground.validatorKeys === undefined) return inBytes;
  const sealed = sealedBlock(ground).map(encodeBlock);
  return fc.oneof(
    { weight: 3, arbitrary: inBytes },
    { weight: 4, arbitrary: sealed },
    { weight: 2, arbitrary: mutatedRlp(sealed, opensBlockStrings) },
  );
}

function sealedBlock(ground: BlockFixture): fc.Arbitrary<Block> {
  const keys = expectDefined(ground.validatorKeys, "the validators' keys");
  return fc
    .record({
      header: headerChanges(ground),
      extra: extraChanges(ground),
      sealers: fc.oneof(
        { weight: 6, arbitrary: fc.constant(keys) },
        { weight: 1, arbitrary: fc.subarray([...keys, account(9).privateKey]) },
      ),
      transactions: transactionChanges(ground.block.transactions),
      hasRightRoot: fc.boolean(),
    })
    .map(({ header, extra, sealers, transactions, hasRightRoot }) => {
      const root = hasRightRoot && { transactionsRoot: rootOfList(transactions.map(({ raw }) => raw)) };
      const changed = { ...ground.block.header, ...root, ...header };
      return { ...ground.block, transactions, header: reseal(ground, changed, extra, sealers) };
    });
}

/** Mostly one field is changed, to a value close to the right one, or at a bound. */
function headerChanges({ block, parent, nowMs }: BlockFixture): fc.Arbitrary<Partial<Header>> {
  const hash = fc.constantFrom(
    ...[parent.hash, parent.header.stateRoot, block.header.transactionsRoot, block.header.receiptsRoot],
    asHash(new Uint8Array(32)),
  );
  const near = (value: bigint): fc.Arbitrary<bigint> =>
    fc.oneof(
      fc.constantFrom(0n, 1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n, 2n ** 256n - 1n),
      fc.bigInt({ min: -20n, max: 20n }).map((step) => (value + step < 0n ? 0n : value + step)),
    );
  const now = BigInt(Math.floor(nowMs / 1000));
  const fields: { [F in keyof Header]?: fc.Arbitrary<Header[F]> } = {
    parentHash: hash,
    ommersHash: hash,
    coinbase: fc.constantFrom<Address>(
      block.header.coinbase,
      account(1).address,
      account(9).address,
      asAddress(new Uint8Array(20)),
    ),
    stateRoot: hash,
    transactionsRoot: hash,
    receiptsRoot: hash,
    logsBloom: fc.uint8Array({ minLength: 256, maxLength: 256 }),
    difficulty: near(1n),
    number: near(block.header.number),
    gasLimit: fc.oneof(near(parent.header.gasLimit), near((parent.header.gasLimit * 1025n) / 1024n)),
    gasUsed: near(block.header.gasUsed),
    timestamp: fc.oneof(near(parent.header.timestamp), near(now)),
    mixHash: hash,
    nonce: fc.uint8Array({ minLength: 8, maxLength: 8 }),
    baseFeePerGas: near(block.header.baseFeePerGas ?? 0n),
    withdrawalsRoot: hash,
  };
  const oneField = fc.oneof(
    ...Object.entries(fields).map(([field, values]) =>
      (values as fc.Arbitrary<unknown>).map((value) => ({ [field]: value })),
    ),
  );
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant({}) },
    { weight: 5, arbitrary: oneField },
    { weight: 1, arbitrary: fc.tuple(oneField, oneField).map(([one, other]) => ({ ...one, ...other })) },
  );
}

function extraChanges({ extra }: BlockFixture): fc.Arbitrary<ExtraData> {
  const validators = fc.subarray([...extra.validators, account(9).address]);
  const vote = fc.record({
    recipient: fc.constantFrom<Address>(account(9).address, ...extra.validators),
    kind: fc.constantFrom("add" as const, "drop" as const),
  });
  const changed = fc.oneof<fc.Arbitrary<Partial<ExtraData>>[]>(
    fc.uint8Array({ maxLength: 64 }).map((vanity) => ({ vanity })),
    validators.map((some) => ({ validators: some })),
    vote.map((one) => ({ vote: one })),
    fc.nat(2 ** 31).map((round) => ({ round })),
  );
  return fc
    .oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: changed })
    .map((changes) => ({ ...extra, ...changes }));
}

function transactionChanges(all: readonly SentTransaction[]): fc.Arbitrary<readonly SentTransaction[]> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.constant(all) },
    { weight: 1, arbitrary: fc.subarray([...all]) },
    { weight: 1, arbitrary: fc.shuffledSubarray([...all, ...all]) },
  );
}
