import { readFileSync } from "node:fs";
import type { Chain } from "../../../src/chain/createChain.ts";
import { DEV_GENESIS_FILE } from "../../../src/config/devNetwork.ts";
import { createCandidate, sealedHeader } from "../../../src/ibft/candidate.ts";
import { type Address, asAddress } from "../../../src/primitives/address.ts";
import { expectDefined } from "../../../src/primitives/assert.ts";
import { compareBytes, hexToBytes, toDigits, toHex } from "../../../src/primitives/hex.ts";
import { addressOfPrivateKey, sign } from "../../../src/primitives/secp256k1.ts";
import { createMemoryDatabase, type MemoryDatabase } from "../../../src/storage/memoryDatabase.ts";
import type { Block, NamedHeader } from "../../../src/types/block.ts";
import { decodeExtraData, type ExtraData, encodeExtraData } from "../../../src/types/extraData.ts";
import type { Header } from "../../../src/types/header.ts";
import type { SentTransaction } from "../../../src/types/transaction.ts";
import { aChain } from "../../builders/aChain.ts";
import { anAuthorization, aTransaction } from "../../builders/aTransaction.ts";
import { createHandClock } from "../../builders/handClock.ts";
import { recordedBlocks } from "../../builders/recordedChain.ts";
import { account, TEST_ACCOUNTS } from "../../builders/testAccounts.ts";
import { readVectorJson, vectorPath } from "../../vectors.ts";

/** A chain and the sealed block that follows its head, from which mutations start. */
export interface BlockFixture {
  readonly block: Block<SentTransaction>;
  readonly extra: ExtraData;
  readonly parent: NamedHeader;
  readonly nowMs: number;
  /** Keys of all validators; absent where a recording does not have them, so that nothing can be resealed. */
  readonly validatorKeys?: readonly Uint8Array[];
  /** Private keys of the senders, by address. */
  readonly senderKeys: ReadonlyMap<string, Uint8Array>;
  /** True when the coinbase earns rewards or fees, so that another coinbase gives another state. */
  readonly paysCoinbase: boolean;
  /** Opens the chain with its head at the parent, on a database of its own. */
  open(): Promise<OpenFixture>;
}

export interface OpenFixture {
  readonly chain: Chain;
  readonly database: MemoryDatabase;
}

/** Seals a header with `keys`, by default those of all validators. */
export function reseal(
  { validatorKeys }: Pick<BlockFixture, "validatorKeys">,
  header: Header,
  extra: ExtraData,
  keys: readonly Uint8Array[] = expectDefined(validatorKeys, "the validators' keys"),
): Header {
  const candidate = createCandidate(header, extra, []);
  return sealedHeader(
    candidate,
    keys.map((key) => sign(candidate.digest, key)),
  );
}

const START_MS = 1_800_000_000_000;

/** A chain built here: four validators, rewards, every type of transaction, logs, a contract, a vote, round 1. */
export async function ownFixture(): Promise<BlockFixture> {
  const validatorKeys = TEST_ACCOUNTS.slice(0, 4)
    .map(({ privateKey }) => privateKey)
    .sort((a, b) => compareBytes(addressOfPrivateKey(a), addressOfPrivateKey(b)));
  const genesis = ownGenesis(validatorKeys.map(addressOfPrivateKey));
  const database = createMemoryDatabase();
  const clock = createHandClock(START_MS);
  // The coinbase is not the sender of any transaction, so that fees change the state.
  const { chain } = await aChain({ genesis, database, clock, builder: account(1).address });
  const contract = aTransaction({ to: undefined, data: LOGGER, value: 0n });
  const first = await chain.importBlock(await nextBlock(chain, validatorKeys, [contract]));
  if (!first.ok) throw new Error(first.error.message);
  const parent = chain.head;
  const block = await nextBlock(chain, validatorKeys, [
    aTransaction({ nonce: 1n }),
    aTransaction({ nonce: 2n, to: LOGGER_ADDRESS, data: Uint8Array.of(1, 2, 3), value: 0n }),
    aTransaction({ type: 1, nonce: 0n, privateKey: account(4).privateKey, accessList: [ENTRY] }),
    aTransaction({ type: 2, nonce: 0n, privateKey: account(5).privateKey, accessList: [ENTRY] }),
    aTransaction({
      type: 4,
      nonce: 0n,
      privateKey: account(6).privateKey,
      authorizationList: [anAuthorization({ privateKey: account(7).privateKey })],
    }),
    aTransaction({ chainId: undefined, nonce: 3n, to: account(8).address }),
  ]);
  return fixtureOf(
    { block, parent, validatorKeys, genesis, database },
    new Map(TEST_ACCOUNTS.map(({ address, privateKey }) => [toDigits(address), privateKey])),
    true,
  );
}

/** A recorded chain up to the block before `number`. */
export async function recordedFixture(
  network: "net1" | "net2" | "net4",
  number: number,
): Promise<BlockFixture> {
  const genesis = readFileSync(vectorPath("besu-ibft", network, "genesis.json"), "utf8");
  const database = createMemoryDatabase();
  const { chain } = await aChain({ genesis, database });
  const blocks = recordedBlocks(["besu-ibft", network]);
  for (const block of blocks.slice(1, number)) {
    const imported = await chain.importBlock(block);
    if (!imported.ok) throw new Error(imported.error.message);
  }
  const { header, transactions, ommers } = expectDefined(blocks[number], "the block to mutate");
  const keysOf = (records: readonly { readonly privateKey: string }[]): Uint8Array[] =>
    records.map(({ privateKey }) => hexToBytes(privateKey));
  const senders = keysOf(readVectorJson("besu-ibft", "accounts.json"));
  const validatorKeys =
    network === "net4" ? undefined : keysOf(readVectorJson("besu-ibft", network, "keys.json"));
  return fixtureOf(
    {
      block: { header, transactions, ommers },
      parent: chain.head,
      genesis,
      database,
      ...(validatorKeys && { validatorKeys }),
    },
    new Map(senders.map((key) => [toDigits(addressOfPrivateKey(key)), key])),
    network !== "net1",
  );
}

interface FixtureParts extends Pick<BlockFixture, "block" | "parent" | "validatorKeys"> {
  readonly genesis: string;
  readonly database: MemoryDatabase;
}

function fixtureOf(
  { genesis, database, ...made }: FixtureParts,
  senderKeys: BlockFixture["senderKeys"],
  paysCoinbase: boolean,
): BlockFixture {
  const extra = decodeExtraData(made.block.header.extraData);
  if (!extra.ok) throw new Error(extra.error.message);
  const nowMs = Number(made.block.header.timestamp) * 1000 + 10_000;
  return {
    ...made,
    extra: extra.value,
    nowMs,
    senderKeys,
    paysCoinbase,
    async open() {
      const own = database.copy();
      const { chain } = await aChain({ genesis, database: own, clock: createHandClock(nowMs) });
      return { chain, database: own };
    },
  };
}

/** Emits its call data as a log with topic 7, and stores the first word in slot 0. */
const LOGGER = hexToBytes("0x600e80600b6000396000f3365f5f376007365fa15f515f5500");
/** Address of the first contract of the first test account. */
const LOGGER_ADDRESS = asAddress(hexToBytes("0x5fbdb2315678afecb367f032d93f642f64180aa3"));
const ENTRY = {
  address: account(3).address,
  storageKeys: [new Uint8Array(32).fill(1) as Header["parentHash"]],
};

function ownGenesis(validators: readonly Address[]): string {
  const text = JSON.parse(readFileSync(DEV_GENESIS_FILE, "utf8")) as Record<string, unknown>;
  const config = text["config"] as Record<string, unknown>;
  const extra = { vanity: new Uint8Array(32), validators, round: 0, seals: [] };
  return JSON.stringify({
    ...text,
    config: { ...config, pragueTime: 0, ibft2: { ...(config["ibft2"] as object), blockreward: "0x10000" } },
    extraData: toHex(encodeExtraData(extra)),
  });
}

async function nextBlock(
  chain: Chain,
  keys: readonly Uint8Array[],
  transactions: readonly SentTransaction[],
): Promise<Block<SentTransaction>> {
  const waiting = [...transactions];
  const parent = chain.head;
  const timestamp = BigInt(START_MS / 1000) - 100n + parent.header.number;
  const built = await chain.build(
    { parent, round: 1, timestamp, vote: { recipient: account(9).address, kind: "add" } },
    {
      select: () => ({ next: () => waiting.shift(), skipSender: () => undefined }),
      drop: (_, reason) => {
        throw new Error(reason);
      },
    },
  );
  if (!built.ok) throw new Error(built.error.message);
  const candidate = built.value;
  if (candidate.transactions.length !== transactions.length) throw new Error("a transaction was left out");
  // Exactly the quorum of four validators, so that no seal can be left out.
  const header = sealedHeader(
    candidate,
    keys.slice(0, 3).map((key) => sign(candidate.digest, key)),
  );
  return { header, transactions: [...transactions], ommers: [] };
}
