import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TransactionSupply } from "../../src/chain/blockExecution.ts";
import type { BulkImport } from "../../src/chain/bulk/bulkImport.ts";
import type { HeaderRun } from "../../src/chain/bulk/headerRun.ts";
import { GROUP_LIMITS } from "../../src/chain/bulk/limits.ts";
import type { Chain } from "../../src/chain/createChain.ts";
import { IBFT_MIX_HASH } from "../../src/chain/headerRules.ts";
import type { RecoverSigners } from "../../src/chain/signerRecovery.ts";
import { unsealedBlock } from "../../src/chain/unsealedBlock.ts";
import type { ChainSpec } from "../../src/chainspec/chainSpec.ts";
import { DEV_CANCUN_GENESIS_FILE } from "../../src/config/devNetwork.ts";
import { createCandidate, sealedHeader } from "../../src/ibft/candidate.ts";
import { openDataDirectory } from "../../src/node/dataFolder/dataDirectory.ts";
import { type Address, addressFromHex } from "../../src/primitives/address.ts";
import { EMPTY_LIST_HASH, EMPTY_TRIE_ROOT } from "../../src/primitives/hash.ts";
import { compareBytes, EMPTY_BYTES, equalBytes, hexToBytes, toHex } from "../../src/primitives/hex.ts";
import { bigintToFixedBytes } from "../../src/primitives/quantity.ts";
import { SignedDigest } from "../../src/primitives/recoveryBatch.ts";
import { type Signature, sign } from "../../src/primitives/secp256k1.ts";
import type { DatabaseOnDisk } from "../../src/storage/database.ts";
import { openLevelDatabase } from "../../src/storage/leveldb/levelDatabase.ts";
import { openMarkerFile } from "../../src/storage/markerFile.ts";
import type { NamedHeader } from "../../src/types/block.ts";
import { EMPTY_BLOOM } from "../../src/types/bloom.ts";
import { encodeExtraData } from "../../src/types/extraData.ts";
import type { Header } from "../../src/types/header.ts";
import type { SentTransaction } from "../../src/types/transaction.ts";
import { generator, type Random } from "../storage/random.ts";
import { aChain } from "./aChain.ts";
import { aTransaction } from "./aTransaction.ts";
import { createHandClock } from "./handClock.ts";
import { account, accountFromSeed, type TestAccount } from "./testAccounts.ts";

/** What a made chain has. */
export interface MadeChainSettings {
  /** The genesis file and the data folder are written there. */
  readonly folder: string;
  readonly blocks: number;
  /** About so many, over all blocks. */
  readonly transactions: number;
  /** At first; with more than 1,000 blocks the validators vote one more in, unless `hasVote` is false. */
  readonly validators: number;
  readonly hasVote?: boolean;
  /** Wei that each block pays its proposer. */
  readonly reward: bigint;
  readonly seed: number;
  /** How the transactions are spread: as on a real network, or evenly. */
  readonly spread: "varied" | "even";
  /** Transactions of a block at most; 1,500 unless given. */
  readonly mostOfBlock?: number | undefined;
  /** Accounts that transfers go to; 50,000 unless given. With `isFunded` they are all there from the genesis block on. */
  readonly recipients?: { readonly count: number; readonly isFunded: boolean };
  /** Leaves out the calls of a contract, which every tenth transaction is otherwise. */
  readonly transfersOnly?: boolean;
  /** Called after each block with transactions; the next one waits for it. */
  readonly afterBlock?: (stored: {
    readonly chain: Chain;
    readonly database: DatabaseOnDisk;
  }) => Promise<void>;
  readonly onProgress?: (number: number) => void;
}

export interface MadeChain {
  readonly genesisFile: string;
  readonly dataPath: string;
  readonly head: string;
  readonly transactions: number;
  readonly gasUsed: bigint;
}

/** Far enough in the past that no real clock finds these blocks early. */
const START_SECONDS = 1_600_000_000;
const MOST_TRANSACTIONS_OF_BLOCK = 1_500;
const RECIPIENTS = 50_000;
/** A loop that logs and stores as often as its argument says. */
const CONTRACT = "5f355b60205fa08080556001900380600257" as const;

/**
 * Makes a chain with the production code, as its validators would, on a virtual clock: blocks are built, sealed by a quorum
 * and committed into a data folder that a node can go on with. Proposers take turns, some blocks are of later rounds, and a
 * vote changes the validator set. The same settings give the same chain. Runs of empty blocks are imported in bulk.
 */
export async function makeChain(settings: MadeChainSettings): Promise<MadeChain> {
  const { folder, seed, validators, onProgress, hasVote = settings.blocks > 1_000 } = settings;
  const keys = Array.from({ length: validators + 1 }, (_, index) => accountFromSeed(1_000_000 + index));
  const genesisFile = join(folder, "genesis.json");
  const dataPath = join(folder, "data");
  mkdirSync(dataPath, { recursive: true });
  const genesis = genesisOf(settings, keys.slice(0, validators));
  writeFileSync(genesisFile, genesis);
  // Of no validator: the node that goes on with the folder only follows.
  writeFileSync(join(dataPath, "key"), toHex(accountFromSeed(2_000_000).privateKey), { mode: 0o600 });
  const directory = openDataDirectory(dataPath);
  if (!directory.ok) throw new Error(directory.error.message);
  const database = await openLevelDatabase({ path: directory.value.chain });
  const markerFile = openMarkerFile(directory.value.headFile, "the record of the newest block");
  const clock = createHandClock(START_SECONDS * 1000);
  const turn = { builder: keys[0]?.address as Address, vanity: new Uint8Array(32) };
  const seals = new IssuedSeals();
  const { chain, spec } = await aChain({
    genesis,
    database,
    markerFile,
    clock,
    candidates: turn,
    recoverSigners: seals.recoverSigners,
  });
  const random = generator(seed);
  const sender = createSender(random, settings);
  const totals = { transactions: 0, gasUsed: 0n };
  const run = new EmptyRun(chain, { spec, seals, vanity: turn.vanity });
  for (let number = 1; number <= settings.blocks; number++) {
    clock.advanceTo((START_SECONDS + number) * 1000);
    const set = chain.tallyAfter(chain.head).validators;
    const proposer = set[number % set.length] as Address;
    turn.builder = proposer;
    const count = countOf(settings, number, totals.transactions, random);
    const body = number === 1 ? [sender.deployment()] : sender.next(count);
    const order = {
      round: random.below(50) === 0 ? 1 : 0,
      timestamp: BigInt(START_SECONDS + number),
      sealers: keys.filter(({ address }) => set.some((member) => equalBytes(member, address))),
      vote: hasVote && number > 500 && set.length === validators ? keys.at(-1) : undefined,
    };
    if (body.length === 0 && order.vote === undefined && settings.reward === 0n) {
      await run.add({ ...order, proposer, set });
    } else {
      await run.end();
      const header = await commitBlock(chain, { ...order, body });
      totals.transactions += body.length;
      totals.gasUsed += header.gasUsed;
      await settings.afterBlock?.({ chain, database });
    }
    if (number % 1_000 === 0) onProgress?.(number);
  }
  await run.end();
  const head = toHex(chain.head.hash);
  await database.close();
  markerFile.close();
  return { genesisFile, dataPath, head, ...totals };
}

function genesisOf({ reward, recipients }: MadeChainSettings, validators: readonly TestAccount[]): string {
  const genesis = JSON.parse(readFileSync(DEV_CANCUN_GENESIS_FILE, "utf8")) as {
    config: { ibft2: object };
    alloc: Record<string, { balance: string }>;
  };
  if (recipients?.isFunded === true)
    for (let number = 0; number < recipients.count; number++)
      genesis.alloc[toHex(accountOf(number))] = { balance: "0x1" };
  const addresses = validators.map(({ address }) => address).sort(compareBytes);
  return JSON.stringify({
    ...genesis,
    config: {
      ...genesis.config,
      ibft2: { ...genesis.config.ibft2, epochlength: 30_000, blockreward: `0x${reward.toString(16)}` },
    },
    extraData: toHex(
      encodeExtraData({ vanity: new Uint8Array(32), validators: addresses, round: 0, seals: [] }),
    ),
  });
}

/** Transactions of a block. Varied: most blocks have none or a few, some are full. */
function countOf(
  { blocks, transactions, spread, mostOfBlock = MOST_TRANSACTIONS_OF_BLOCK }: MadeChainSettings,
  number: number,
  sent: number,
  random: Random,
): number {
  const left = Math.max(0, transactions - sent);
  const share = Math.ceil(left / (blocks - number + 1));
  if (spread === "even" || number === blocks) return Math.min(left, share, mostOfBlock);
  const draw = random.below(100);
  if (draw < 50) return 0;
  if (draw < 90) return Math.min(left, random.below(5));
  return Math.min(left, 10 * share, mostOfBlock);
}

interface Sender {
  deployment(): SentTransaction;
  next(count: number): SentTransaction[];
}

/** Transfers of ten accounts to many others; every tenth transaction calls a contract that logs and stores. */
function createSender(
  random: Random,
  { recipients, transfersOnly = false }: Pick<MadeChainSettings, "recipients" | "transfersOnly">,
): Sender {
  const nonces = new Map<number, bigint>();
  const contract = addressFromHex("0x5fbdb2315678afecb367f032d93f642f64180aa3");
  let sent = 0;

  function nonceOf(index: number): bigint {
    const nonce = nonces.get(index) ?? 0n;
    nonces.set(index, nonce + 1n);
    return nonce;
  }

  return {
    deployment() {
      const length = (CONTRACT.length / 2).toString(16).padStart(2, "0");
      const data = hexToBytes(`0x60${length}8060093d393df3${CONTRACT}`);
      const { privateKey } = account(0);
      return aTransaction({
        privateKey,
        nonce: nonceOf(0),
        to: undefined,
        value: 0n,
        gasLimit: 200_000n,
        data,
      });
    },
    next: (count) =>
      Array.from({ length: count }, () => {
        const index = sent++ % 10;
        const { privateKey } = account(index);
        const nonce = nonceOf(index);
        if (index === 9 && !transfersOnly) {
          const data = bigintToFixedBytes(BigInt(1 + random.below(3)), 32);
          return aTransaction({ privateKey, nonce, to: contract, value: 0n, gasLimit: 200_000n, data });
        }
        const to = accountOf(random.below(recipients?.count ?? RECIPIENTS));
        return aTransaction({ privateKey, nonce, to, value: 1n, gasLimit: 21_000n });
      }),
  };
}

function accountOf(number: number): Address {
  return addressFromHex(`0x${(0xabcdef0000000000n + BigInt(number)).toString(16).padStart(40, "0")}`);
}

/** Seals that were made here, whose signers need no recovery. */
class IssuedSeals {
  private readonly sealers = new Map<bigint, Address>();

  sign(digest: Uint8Array, { address, privateKey }: TestAccount): Signature {
    const signature = sign(digest, privateKey);
    this.sealers.set(signature.r, address);
    return signature;
  }

  readonly recoverSigners: RecoverSigners = async (items) =>
    items.map((item) => {
      if (!(item instanceof SignedDigest)) throw new Error("the header run recovers seals");
      return this.sealers.get(item.signature.r);
    });

  forget(): void {
    this.sealers.clear();
  }
}

/** Headers that are checked together. */
const CHECKED_TOGETHER = 128;
const RUN_LIMITS = { ...GROUP_LIMITS, blocks: 4096, ms: Number.POSITIVE_INFINITY };

/**
 * Blocks without transactions, reward and vote, one after another: the state stays, and the production code imports them
 * many in one synced write.
 */
class EmptyRun {
  private readonly chain: Chain;
  private readonly parts: {
    readonly spec: ChainSpec;
    readonly seals: IssuedSeals;
    readonly vanity: Uint8Array;
  };
  private bulk: BulkImport | undefined;
  private headers: HeaderRun | undefined;
  /** The newest block, which may wait to be imported. */
  private newest: NamedHeader | undefined;
  private waiting: Header[] = [];

  constructor(chain: Chain, parts: EmptyRun["parts"]) {
    this.chain = chain;
    this.parts = parts;
  }

  async add({ proposer, set, round, timestamp, sealers }: EmptyOrder): Promise<void> {
    const { spec, seals, vanity } = this.parts;
    const parent = this.newest ?? this.chain.head;
    const unsealed: Header = {
      ...unsealedBlock(spec, parent, { timestamp, targetGasLimit: undefined }),
      ommersHash: EMPTY_LIST_HASH,
      coinbase: proposer,
      stateRoot: parent.header.stateRoot,
      transactionsRoot: EMPTY_TRIE_ROOT,
      receiptsRoot: EMPTY_TRIE_ROOT,
      logsBloom: EMPTY_BLOOM,
      difficulty: 1n,
      gasUsed: 0n,
      extraData: EMPTY_BYTES,
      mixHash: IBFT_MIX_HASH,
      nonce: new Uint8Array(8),
    };
    const candidate = createCandidate(unsealed, { vanity, validators: set, round, seals: [] }, []);
    const header = sealedHeader(
      candidate,
      sealers.map((sealer) => seals.sign(candidate.digest, sealer)),
    );
    this.newest = { header, hash: candidate.hash, totalDifficulty: parent.totalDifficulty + 1n };
    this.waiting.push(header);
    if (this.waiting.length === CHECKED_TOGETHER) await this.importWaiting();
  }

  /** Makes the run durable, and the chain's head its last block. */
  async end(): Promise<void> {
    await this.importWaiting();
    await this.bulk?.close();
    this.bulk = undefined;
    this.headers = undefined;
    this.newest = undefined;
  }

  private async importWaiting(): Promise<void> {
    if (this.waiting.length === 0) return;
    this.bulk ??= await this.chain.bulkImport(RUN_LIMITS);
    this.headers ??= this.chain.headerRun(this.bulk.tip);
    const { checked, error } = await this.headers.extend(this.waiting);
    if (error !== undefined) throw new Error(error.message);
    for (const header of checked) {
      const body = { transactions: [], ommers: [] };
      const imported = await this.bulk.importBlock(this.chain.prepareBlock({ header, body }));
      if (!imported.ok) throw new Error(imported.error.message);
    }
    this.waiting = [];
    this.parts.seals.forget();
  }
}

interface EmptyOrder extends Omit<BlockOrder, "body" | "vote"> {
  readonly proposer: Address;
  readonly set: readonly Address[];
}

interface BlockOrder {
  readonly body: readonly SentTransaction[];
  readonly round: number;
  readonly timestamp: bigint;
  readonly sealers: readonly TestAccount[];
  /** Voted in by this block's proposer. */
  readonly vote: TestAccount | undefined;
}

async function commitBlock(
  chain: Chain,
  { body, round, timestamp, sealers, vote }: BlockOrder,
): Promise<Chain["head"]["header"]> {
  const waiting = [...body];
  const supply: TransactionSupply = {
    select: () => ({ next: () => waiting.shift(), skipSender: () => undefined }),
    drop: (_, reason) => {
      throw new Error(reason);
    },
  };
  const proposal = vote === undefined ? {} : { vote: { recipient: vote.address, kind: "add" as const } };
  const built = await chain.build({ parent: chain.head, round, timestamp, ...proposal }, supply);
  if (!built.ok) throw new Error(built.error.message);
  if (built.value.transactions.length !== body.length) throw new Error("a transaction was left out");
  const seals = sealers.map(({ privateKey }) => sign(built.value.digest, privateKey));
  const committed = await chain.commit(built.value, seals);
  if (!committed.ok) throw new Error(committed.error.message);
  return committed.value.header;
}
