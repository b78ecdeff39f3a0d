import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { BlockProduction } from "../chain/blockProduction.ts";
import { type Chain, createChain } from "../chain/createChain.ts";
import { createNextBlockView } from "../chain/nextBlockView.ts";
import type { RecoverSigners } from "../chain/signerRecovery.ts";
import type { ThreadTimes } from "../chain/timing/coreContention.ts";
import type { ChainSpec } from "../chainspec/chainSpec.ts";
import { type ForkName, forkAt, isAtLeast } from "../chainspec/forks.ts";
import { parametersAt } from "../chainspec/ibftParameters.ts";
import { silentLogger } from "../observability/logger.ts";
import { expectDefined } from "../primitives/assert.ts";
import type { Clock } from "../primitives/clock.ts";
import { EMPTY_LIST_HASH, EMPTY_TRIE_ROOT, keccak256, ZERO_HASH } from "../primitives/hash.ts";
import { EMPTY_BYTES } from "../primitives/hex.ts";
import { packBytes } from "../primitives/packedBytes.ts";
import { addressOfPrivateKey, sign } from "../primitives/secp256k1.ts";
import { admitPacked } from "../rpc/threads/mainSide/admitPacked.ts";
import { packSubmission } from "../rpc/threads/packedSubmissions.ts";
import { WorldState, type WorldStateLimits } from "../state/worldState.ts";
import { BlockStore, type BlockStoreLimits } from "../storage/blocks/blockStore.ts";
import { createMemoryDatabase } from "../storage/memoryDatabase.ts";
import { AdmissionQueue } from "../txpool/admissionQueue.ts";
import type { TxPoolLimits } from "../txpool/limits.ts";
import { TxPool } from "../txpool/txPool.ts";
import { encodeExtraData, VANITY_BYTES } from "../types/extraData.ts";
import type { Header } from "../types/header.ts";
import { decodeTransaction, type Transaction } from "../types/transaction.ts";
import { recoveryItemOf } from "../types/transactionSignature.ts";
import { MADE_UP_CHAIN_ID, signedTransfer, type TransferKind } from "./madeUpTransfers.ts";

interface MadeUpChainParts {
  readonly spec: ChainSpec;
  /** The real head: the chain follows its rules, gas limit and base fee. */
  readonly head: Header;
  readonly clock: Clock;
  /** The operator's limits; a fee cap below the price of made-up transactions leaves their blocks empty. */
  readonly poolLimits: TxPoolLimits;
  readonly production: BlockProduction;
  /** Recovers the senders of the made-up transactions on the threads that serve the real ones. */
  readonly recoverSigners: RecoverSigners;
  readonly cpuMs: () => number;
  readonly threadTimes: () => ThreadTimes | undefined;
}

/** Cache sizes, which are small because the chain has only a few hundred blocks. */
const STATE_LIMITS: WorldStateLimits = {
  codeCacheBytes: 64 * 1024,
  nodeCacheBytes: 4 * 1024 * 1024,
  accountCacheBytes: 1024 * 1024,
  slotCacheBytes: 64 * 1024,
  pageCacheBytes: 64 * 1024,
};
const BLOCK_LIMITS: BlockStoreLimits = { headers: 64, blockBytes: 1024 * 1024 };
/** Number of senders in a block: a real pool alternates between several. */
const SENDERS = 4;
const BALANCE_WEI = 2n ** 128n;

/** Opens an in-memory chain with a pool of its own. Nothing of it reaches disk, metrics, log or peers. */
export async function openMadeUpChain(parts: MadeUpChainParts): Promise<MadeUpChain> {
  const { head, clock, recoverSigners, production, cpuMs, threadTimes } = parts;
  const fork = forkAt(parts.spec.forks, head.number, head.timestamp);
  const keys = Array.from({ length: SENDERS + 1 }, (_, index) => keccak256(Uint8Array.of(0x1b, 0xe8, index)));
  const [validatorKey = EMPTY_BYTES, ...senderKeys] = keys;
  const spec = madeUpSpec(parts.spec, { head, fork, validatorKey, senderKeys });
  const database = createMemoryDatabase();
  const world = new WorldState({ database }, STATE_LIMITS);
  const blocks = new BlockStore(BLOCK_LIMITS, { database });
  const headMarker = { record: () => undefined, lower: () => undefined };
  const opened = await createChain(
    { builder: addressOfPrivateKey(validatorKey), vanity: new Uint8Array(VANITY_BYTES) },
    {
      ...{ spec, clock, production, cpuMs, threadTimes },
      recoverSenders: (transactions) => recoverSigners(transactions.map(recoveryItemOf)),
      stores: { database, world, blocks, headMarker },
      logger: silentLogger,
    },
  );
  const chain = expectDefined(opened.ok ? opened.value : undefined, "a chain in an empty database");
  const view = createNextBlockView(spec, chain, world.head, clock);
  const pool = new TxPool(parts.poolLimits, { chain: view, clock });
  chain.onHeadChanged("pool", (change) => pool.headChanged(change));
  return new MadeUpChain({ fork, validatorKey, senderKeys }, { chain, pool, recoverSigners });
}

/** Takes transfers all the way from a thread's message to a block that becomes the head. */
export class MadeUpChain {
  readonly #chain: Chain;
  readonly #pool: TxPool;
  readonly #admission: AdmissionQueue;
  readonly #kinds: readonly TransferKind[];
  readonly #validatorKey: Uint8Array;
  readonly #floorWei: bigint;
  readonly #senders: readonly { readonly key: Uint8Array; nonce: bigint }[];
  /** Number of transfers made so far. */
  #made = 0n;

  constructor(
    {
      fork,
      validatorKey,
      senderKeys,
    }: {
      readonly fork: ForkName;
      readonly validatorKey: Uint8Array;
      readonly senderKeys: readonly Uint8Array[];
    },
    {
      chain,
      pool,
      recoverSigners,
    }: { readonly chain: Chain; readonly pool: TxPool; readonly recoverSigners: RecoverSigners },
  ) {
    this.#chain = chain;
    this.#pool = pool;
    const { minGasPriceWei, minPriorityFeeWei } = pool.blockFloors;
    this.#floorWei = minGasPriceWei + minPriorityFeeWei;
    this.#admission = new AdmissionQueue(pool, recoverSigners);
    this.#kinds = isAtLeast(fork, "london") ? ["feeMarket", "feeMarket", "legacy"] : ["legacy"];
    this.#validatorKey = validatorKey;
    this.#senders = senderKeys.map((key) => ({ key, nonce: 0n }));
  }

  get headNumber(): bigint {
    return this.#chain.head.header.number;
  }

  /** Number of transactions of the head. */
  get transactions(): number {
    return this.#chain.blockByNumber(this.headNumber)?.transactions.length ?? 0;
  }

  /** Offers `count` transfers to the pool. Resolves when it has decided, on threads for their senders. */
  async offer(count: number): Promise<void> {
    const submissions: Uint8Array[] = [];
    for (let at = 0; at < count; at++) {
      if (at % SIGNED_AT_ONCE === SIGNED_AT_ONCE - 1) await yieldToEventLoop();
      submissions.push(packSubmission(this.#nextTransfer()));
    }
    const bytes = packBytes(submissions);
    let left = count;
    await new Promise<void>((resolve) =>
      admitPacked(this.#admission, bytes, (decided) => {
        left -= decided.count;
        if (left === 0) resolve();
      }),
    );
  }

  /** Builds a block from the pool, as the only validator, and commits it. */
  async build(): Promise<void> {
    const parent = this.#chain.head;
    const timestamp = parent.header.timestamp + PERIOD_SECONDS;
    const built = await this.#chain.build({ parent, round: 0, timestamp }, this.#pool);
    const candidate = expectDefined(built.ok ? built.value : undefined, "a block on the head");
    await this.#chain.commit(candidate, [sign(candidate.digest, this.#validatorKey)]);
  }

  #nextTransfer(): Transaction {
    const at = this.#made++;
    const sender = expectDefined(this.#senders[Number(at) % this.#senders.length], "a sender");
    const kind = this.#kinds[Number(at) % this.#kinds.length] ?? "legacy";
    // The price is twice the base fee of the head, which falls while blocks are small.
    const priceWei = 2n * (this.#chain.head.header.baseFeePerGas ?? 0n) + this.#floorWei + GWEI;
    const transfer = { nonce: sender.nonce++, priceWei, recipient: at };
    const decoded = decodeTransaction(signedTransfer(kind, transfer, sender.key));
    return expectDefined(decoded.ok ? decoded.value : undefined, "a made-up transfer");
  }
}

/** Number of transfers signed at once, which takes a millisecond, or three while the code is not compiled. */
const SIGNED_AT_ONCE = 16;
const GWEI = 1_000_000_000n;
/** Time between two blocks: more than any period, and all blocks lie far in the past. */
const PERIOD_SECONDS = 3600n;

/** The rules of the real head from block zero on, with a validator and accounts of its own. */
function madeUpSpec(
  spec: ChainSpec,
  {
    head,
    fork,
    validatorKey,
    senderKeys,
  }: {
    readonly head: Header;
    readonly fork: ForkName;
    readonly validatorKey: Uint8Array;
    readonly senderKeys: readonly Uint8Array[];
  },
): ChainSpec {
  const validator = addressOfPrivateKey(validatorKey);
  const extra = { vanity: new Uint8Array(VANITY_BYTES), validators: [validator], round: 0, seals: [] };
  const parameters = parametersAt(spec.ibft, head.number);
  const { coinbase, gasLimit, difficulty, mixHash, nonce, baseFeePerGas } = head;
  return {
    ...spec,
    chainId: MADE_UP_CHAIN_ID,
    forks: {
      activations: [...new Set(["frontier", fork] as const)].map((one) => ({ fork: one, at: { block: 0n } })),
    },
    ibft: { ...spec.ibft, eras: [{ fromBlock: 0n, parameters }] },
    genesis: {
      header: {
        parentHash: ZERO_HASH,
        ommersHash: EMPTY_LIST_HASH,
        stateRoot: EMPTY_TRIE_ROOT,
        transactionsRoot: EMPTY_TRIE_ROOT,
        receiptsRoot: EMPTY_TRIE_ROOT,
        logsBloom: new Uint8Array(256),
        number: 0n,
        gasUsed: 0n,
        timestamp: 0n,
        extraData: encodeExtraData(extra),
        ...{ coinbase, gasLimit, difficulty, mixHash, nonce },
        ...(baseFeePerGas !== undefined && { baseFeePerGas }),
      },
      alloc: senderKeys.map((key) => ({
        address: addressOfPrivateKey(key),
        nonce: 0n,
        balance: BALANCE_WEI,
        code: EMPTY_BYTES,
        storage: [],
      })),
    },
    bootnodes: [],
  };
}
