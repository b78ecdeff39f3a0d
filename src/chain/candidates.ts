import { createYieldPolicy, NEVER_STOPPED, OutOfTime, type StopSignal } from "../execution/yieldPolicy.ts";
import { type Candidate, createCandidate, sealedHeader } from "../ibft/candidate.ts";
import type { Address } from "../primitives/address.ts";
import { AssertionFailed } from "../primitives/assert.ts";
import type { Clock } from "../primitives/clock.ts";
import { EMPTY_LIST_HASH, type Hash } from "../primitives/hash.ts";
import { EMPTY_BYTES, equalBytes } from "../primitives/hex.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import type { Signature } from "../primitives/secp256k1.ts";
import { inSteps } from "../primitives/steps.ts";
import type { StagedState } from "../state/worldState.ts";
import type { NamedHeader } from "../types/block.ts";
import type { ValidatorVote } from "../types/extraData.ts";
import type { Header } from "../types/header.ts";
import { rootOfReceiptsInSteps, rootOfTransactionsInSteps } from "../types/listRoot.ts";
import type { BlockErrorCode } from "./blockError.ts";
import type { BlockExecution, BlockFilling, FilledBlock, TransactionSupply } from "./blockExecution.ts";
import type { ChainWriter } from "./chainWriter.ts";
import type { ExecutedBlocks } from "./executedBlocks.ts";
import { type ExecutionFaults, isBeyondExecution } from "./executionFaults.ts";
import { IBFT_MIX_HASH } from "./headerRules.ts";
import type { Importer } from "./importBlock.ts";
import type { ValidatorSets } from "./validators.ts";

/** The inputs of a candidate. */
interface CandidateRequest {
  readonly parent: NamedHeader;
  readonly round: number;
  /** Timestamp in seconds, already valid against the parent's. */
  readonly timestamp: bigint;
  readonly vote?: ValidatorVote;
  /** Time that the block may take, milliseconds, where it is not due within the block period. */
  readonly periodMs?: number;
}

export interface CandidateSettings {
  /** The node's own account, coinbase of the blocks that it builds. */
  readonly builder: Address;
  /** First bytes of the extra data, 32. */
  readonly vanity: Uint8Array;
}

interface CandidateParts {
  readonly writer: ChainWriter;
  readonly validators: ValidatorSets;
  readonly execution: BlockExecution;
  readonly executedBlocks: ExecutedBlocks;
  readonly importer: Importer;
  readonly clock: Pick<Clock, "nowMs">;
  readonly faults: ExecutionFaults;
  headerByNumber(number: bigint): NamedHeader | undefined;
}

/** Builds, validates and commits the blocks that the validators decide. */
export interface Candidates {
  /** Fills and executes a block on the head. Fails when `parent` is not, or no longer, the head. */
  build(request: CandidateRequest, supply: TransactionSupply): Promise<Result<Candidate, "notAfterHead">>;
  /** Applies all rules of an import except the seals. Fails with "validationStopped" once the signal is aborted. */
  check(candidate: Candidate, signal?: StopSignal): Promise<Result<void, BlockErrorCode>>;
  /**
   * Seals and imports the block. It is validated like any other block, but not executed again. Also succeeds when the block,
   * and perhaps successors, arrived from peers first.
   */
  commit(candidate: Candidate, seals: readonly Signature[]): Promise<Result<NamedHeader, BlockErrorCode>>;
}

export function createCandidates(settings: CandidateSettings, parts: CandidateParts): Candidates {
  const { writer, validators, execution, executedBlocks, importer, faults } = parts;
  return {
    async build({ parent, round, timestamp, vote, periodMs }, supply) {
      const base = writer.head;
      if (!equalBytes(parent.hash, base.hash)) return notTheHead(parent);
      const unsealed = execution.unsealed(parent, timestamp);
      const set = validators.after(parent).validators;
      const order = { ...unsealed, coinbase: settings.builder };
      let filled: FilledBlock | undefined;
      const complete = async (filling: FilledBlock): Promise<CompleteBlock | undefined> => {
        filled = filling;
        if (writer.head !== base) return undefined;
        for (const { hash, reason } of filling.dropped) supply.drop(hash, reason);
        const roots = await completeUnlessHeadMoved(parts, filling, unsealed.number, base);
        return roots && { filling, ...roots };
      };
      const completed = await execution
        .fill(order, supply, {
          validatorCount: set.length,
          hasHeadMoved: () => writer.head !== base,
          ...(periodMs !== undefined && { periodMs }),
        })
        .then(complete)
        .catch(async (error: unknown) => {
          if (isBeyondExecution(error)) throw error;
          if (writer.head !== base) return undefined;
          faults.candidateFailed(unsealed.number, filled?.transactions ?? [], error);
          return complete(await execution.fillNothing(order));
        });
      if (completed === undefined) return notTheHead(parent);
      const { filling, staged, ...roots } = completed;
      const candidate = createCandidate(
        headerOf({ ...unsealed, coinbase: settings.builder, parent, filling, ...roots }),
        {
          vanity: settings.vanity,
          validators: set,
          ...(vote !== undefined && { vote }),
          round,
          seals: [],
        },
        filling.transactions,
      );
      const { header, hash } = candidate;
      const block = { header, hash, transactions: filling.transactions, ommers: [] };
      if (filling.isAfterFault) {
        // The failure may have affected more than the one execution, so the block is executed again, like another
        // validator's.
        const checked = await importer.validate(block, NEVER_STOPPED);
        if (writer.head !== base) return notTheHead(parent);
        if (!checked.ok)
          throw new AssertionFailed(`the block built after a fault is invalid: ${checked.error.message}`);
      } else {
        faults.candidateFinished(filling.transactions);
        executedBlocks.keep({ block, receipts: filling.receipts, staged });
      }
      return ok(candidate);
    },
    async check({ header, transactions }, signal = NEVER_STOPPED) {
      execution.onValidationStarted(header.number);
      const validated = await importer.validate({ header, transactions, ommers: [] }, signal);
      return validated.ok ? ok(undefined) : validated;
    },
    async commit(candidate, seals) {
      const { transactions, hash } = candidate;
      const header = sealedHeader(candidate, seals);
      const committed = await importer.import({ header, transactions, ommers: [] });
      if (committed.ok) return committed;
      const known = parts.headerByNumber(header.number);
      return known !== undefined && equalBytes(known.hash, hash) ? ok(known) : committed;
    },
  };
}

/**
 * Derives the state and the roots of a filled block; undefined when the head moves meanwhile. Each takes tens of
 * milliseconds for a full block, so the steps yield. Once the head has moved, no further step reads the state.
 */
async function completeUnlessHeadMoved(
  { writer, execution, clock }: CandidateParts,
  filling: BlockFilling,
  number: bigint,
  base: NamedHeader,
): Promise<(BlockRoots & { readonly staged: StagedState }) | undefined> {
  const signal = {
    get aborted() {
      return writer.head !== base;
    },
  };
  const yieldPolicy = createYieldPolicy(clock, { signal });
  try {
    await yieldPolicy.yield();
    const staged = await execution.stage(filling, number, yieldPolicy);
    const transactionsRoot = await inSteps(rootOfTransactionsInSteps(filling.transactions), yieldPolicy);
    const receiptsRoot = await inSteps(rootOfReceiptsInSteps(filling.receipts), yieldPolicy);
    return signal.aborted ? undefined : { staged, stateRoot: staged.root, transactionsRoot, receiptsRoot };
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error;
    return undefined;
  }
}

interface CompleteBlock extends BlockRoots {
  readonly filling: FilledBlock;
  readonly staged: StagedState;
}

interface BlockRoots {
  readonly stateRoot: Hash;
  readonly transactionsRoot: Hash;
  readonly receiptsRoot: Hash;
}

interface HeaderFields extends BlockRoots {
  readonly parent: NamedHeader;
  readonly coinbase: Address;
  readonly number: bigint;
  readonly timestamp: bigint;
  readonly gasLimit: bigint;
  readonly baseFeePerGas?: bigint;
  readonly filling: BlockFilling;
}

/** The header of a block that we build (ibft2.md#building-a-block), without its extra data. */
function headerOf({ parent, filling, baseFeePerGas, ...fields }: HeaderFields): Header {
  return {
    parentHash: parent.hash,
    ommersHash: EMPTY_LIST_HASH,
    coinbase: fields.coinbase,
    stateRoot: fields.stateRoot,
    transactionsRoot: fields.transactionsRoot,
    receiptsRoot: fields.receiptsRoot,
    logsBloom: filling.logsBloom,
    difficulty: 1n,
    number: fields.number,
    gasLimit: fields.gasLimit,
    gasUsed: filling.gasUsed,
    timestamp: fields.timestamp,
    extraData: EMPTY_BYTES,
    mixHash: IBFT_MIX_HASH,
    nonce: new Uint8Array(8),
    ...(baseFeePerGas !== undefined && { baseFeePerGas }),
  };
}

function notTheHead(parent: NamedHeader): Result<never, "notAfterHead"> {
  const message = `block ${parent.header.number} is no longer the head`;
  return fail("local", "notAfterHead", message);
}
