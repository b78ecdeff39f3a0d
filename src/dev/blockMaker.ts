import type { TransactionSupply } from "../chain/blockExecution.ts";
import type { Chain } from "../chain/createChain.ts";
import type { DevelopmentRun } from "../chain/developmentRun.ts";
import type { DevelopmentWriter } from "../chain/developmentWriter.ts";
import { IBFT_MIX_HASH } from "../chain/headerRules.ts";
import { type Candidate, createCandidate, sealedHeader } from "../ibft/candidate.ts";
import { EMPTY_LIST_HASH, EMPTY_TRIE_ROOT } from "../primitives/hash.ts";
import { EMPTY_BYTES } from "../primitives/hex.ts";
import { EventLoopPacer } from "../primitives/pacer.ts";
import { addressOfPrivateKey, sign } from "../primitives/secp256k1.ts";
import { inSteps } from "../primitives/steps.ts";
import type { NamedHeader } from "../types/block.ts";
import { EMPTY_BLOOM } from "../types/bloom.ts";
import { type Alteration, alterInSteps } from "./alteration.ts";

/**
 * Time that a block may take. A transaction that is too slow for a block waits for a later one, and where blocks are made on demand
 * none may come without it. So each may run for 11 s, an eighth of three quarters of this.
 */
const PERIOD_MS = 120_000;

/** What waits comes into blocks of their own, outside of a run. */
const NOTHING: TransactionSupply = {
  select: () => ({ next: () => undefined, skipSender: () => undefined }),
  drop: () => undefined,
};

interface BlockMakerParts {
  readonly chain: Pick<Chain, "head" | "build" | "tallyAfter">;
  readonly writer: DevelopmentWriter;
  /** Begins to make many blocks on the chain's head. */
  readonly beginRun: () => Promise<DevelopmentRun>;
  readonly pool: TransactionSupply;
  /** The only validator's. */
  readonly privateKey: Uint8Array;
  /** First 32 bytes of the extra data, read for each block. */
  readonly vanity: () => Uint8Array;
}

/** Blocks without transactions that are made one after another. */
export interface EmptyBlocks {
  readonly head: NamedHeader;
  mine(timestamp: bigint): Promise<NamedHeader | undefined>;
  close(): Promise<void>;
}

/**
 * Makes the blocks of a development chain. Ordinary ones are built, executed and sealed like any validator's, and break no rule but
 * those of time. An altered block has no transactions and its parent's time; its state is its parent's with changes, so that no rule
 * of an import accepts it. Callers take turns: the head does not move while a block is made.
 */
export class BlockMaker {
  private readonly parts: BlockMakerParts;

  constructor(parts: BlockMakerParts) {
    this.parts = parts;
  }

  /** The newest block that was made, or the chain's head. */
  get head(): NamedHeader {
    return this.parts.chain.head;
  }

  /**
   * Begins to make many blocks without transactions at less cost. Until the run is closed this maker makes none, and the chain's head
   * follows the run's in groups of blocks.
   */
  async beginRun(): Promise<EmptyBlocks> {
    const run = await this.parts.beginRun();
    const { chain, writer } = run;
    const maker = new BlockMaker({ ...this.parts, chain, writer, pool: NOTHING });
    return {
      get head() {
        return maker.head;
      },
      async mine(timestamp) {
        const made = await maker.mine(timestamp);
        await run.onMade();
        return made;
      },
      close: () => run.close(),
    };
  }

  /** Builds a block on the head of what waits in the pool; commits it if `isWanted`. */
  async mine(
    timestamp: bigint,
    isWanted: (candidate: Candidate) => boolean = () => true,
  ): Promise<NamedHeader | undefined> {
    const { chain, pool, writer } = this.parts;
    const request = { parent: chain.head, round: 0, timestamp, periodMs: PERIOD_MS };
    const built = await chain.build(request, pool);
    if (!built.ok) throw new Error(`no block could be built: ${built.error.message}`);
    const candidate = built.value;
    if (!isWanted(candidate)) return undefined;
    return writer.commitBuilt(this.sealed(candidate), candidate.hash);
  }

  /** Makes the altered block that follows the head, of that gas limit if it is given. */
  async alter(alterations: readonly Alteration[], gasLimit?: bigint): Promise<NamedHeader> {
    const { chain, writer } = this.parts;
    const parent = chain.head;
    const overlay = writer.overlay();
    await inSteps(alterInSteps(overlay, alterations), new EventLoopPacer());
    const staged = await writer.stage(overlay);
    const unsealed = writer.unsealed(parent.header.timestamp);
    const candidate = createCandidate(
      {
        ...unsealed,
        ...(gasLimit !== undefined && { gasLimit }),
        ommersHash: EMPTY_LIST_HASH,
        coinbase: addressOfPrivateKey(this.parts.privateKey),
        stateRoot: staged.root,
        transactionsRoot: EMPTY_TRIE_ROOT,
        receiptsRoot: EMPTY_TRIE_ROOT,
        logsBloom: EMPTY_BLOOM,
        gasUsed: 0n,
        extraData: EMPTY_BYTES,
        difficulty: 1n,
        mixHash: IBFT_MIX_HASH,
        nonce: new Uint8Array(8),
      },
      {
        vanity: this.parts.vanity(),
        validators: chain.tallyAfter(parent).validators,
        round: 0,
        seals: [],
      },
      [],
    );
    const { header, hash } = candidate;
    const block = { header, hash, transactions: [], ommers: [] };
    return writer.commit(this.sealed(candidate), { block, receipts: [], staged });
  }

  private sealed(candidate: Candidate) {
    return sealedHeader(candidate, [sign(candidate.digest, this.parts.privateKey)]);
  }
}
