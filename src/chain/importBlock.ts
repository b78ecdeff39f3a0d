import { createYieldPolicy, NEVER_STOPPED, type StopSignal } from "../execution/yieldPolicy.ts";
import { equalBytes } from "../primitives/hex.ts";
import type { Mutex } from "../primitives/mutex.ts";
import { type CodedError, ok, type Result } from "../primitives/result.ts";
import { type Block, type NamedHeader, type StoredBlock, sizeOfBlock } from "../types/block.ts";
import type { Header } from "../types/header.ts";
import type { BadBlocks } from "./badBlocks.ts";
import type { BlockErrorCode } from "./blockError.ts";
import { BodyValidator, type BodyValidatorParts } from "./bodyValidator.ts";
import type { ChainWriter } from "./chainWriter.ts";
import type { ExecutedBlock } from "./executedBlocks.ts";
import { decodeAndHash, HeaderValidator, type HeaderValidatorParts } from "./headerValidator.ts";

interface ImportParts extends HeaderValidatorParts, BodyValidatorParts {
  readonly writer: ChainWriter;
  readonly badBlocks: BadBlocks;
  readonly mutex: Mutex;
}

/** Validates and imports every block of the chain, ours included. */
export class Importer {
  private readonly parts: ImportParts;
  private readonly headers: HeaderValidator;
  private readonly bodies: BodyValidator;

  constructor(parts: ImportParts) {
    this.parts = parts;
    this.headers = new HeaderValidator(parts);
    this.bodies = new BodyValidator(parts);
  }

  /** Validates a header on top of the head, seals included, without its body. */
  async checkNext(header: Header): Promise<Result<void, BlockErrorCode>> {
    const decoded = decodeAndHash(header);
    return decoded.ok ? this.headers.validateSealed(decoded.value, this.parts.writer.head) : decoded;
  }

  /**
   * Validates a block on top of the head by all rules except the seals, executes it and keeps the execution. Stops once the
   * signal is aborted.
   */
  validate(block: Block, signal: StopSignal): Promise<Result<ExecutedBlock, BlockErrorCode>> {
    return this.recordingBadBlock(block, this.validateOnHead(block, signal));
  }

  /** Validates a block, seals included, and commits it. Succeeds for a block that is already the head. */
  import(block: Block): Promise<Result<NamedHeader, BlockErrorCode>> {
    return this.parts.mutex.runExclusive(() => this.recordingBadBlock(block, this.commit(block)));
  }

  /** Imports for a caller that already holds the mutex. */
  importNow(block: Block): Promise<Result<NamedHeader, BlockErrorCode>> {
    return this.recordingBadBlock(block, this.commit(block));
  }

  private async validateOnHead(
    block: Block,
    signal: StopSignal,
  ): Promise<Result<ExecutedBlock, BlockErrorCode>> {
    const decoded = decodeAndHash(block.header);
    if (!decoded.ok) return decoded;
    const parent = this.parts.writer.head;
    const headerResult = this.headers.validate(decoded.value, parent);
    return headerResult.ok ? this.bodies.validate(block, decoded.value.hash, parent, signal) : headerResult;
  }

  /** Checks the seals before the body, so that an unsealed block from an untrusted peer costs no more than that. */
  private async commit(block: Block): Promise<Result<NamedHeader, BlockErrorCode>> {
    const { writer, clock } = this.parts;
    const decoded = decodeAndHash(block.header);
    if (!decoded.ok) return decoded;
    const { hash } = decoded.value;
    const parent = writer.head;
    if (equalBytes(hash, parent.hash)) return ok(parent);
    const headerResult = await this.headers.validateSealed(decoded.value, parent);
    if (!headerResult.ok) return headerResult;
    const executed = await this.bodies.validate(block, hash, parent, NEVER_STOPPED);
    if (!executed.ok) return executed;
    const { staged } = executed.value;
    await writer.commit(
      sealedBlock(executed.value, block.header, writer.head),
      staged,
      createYieldPolicy(clock),
    );
    return ok(writer.head);
  }

  /** Records the block as bad if its validation fails by its own fault. */
  private async recordingBadBlock<T>(
    block: Block,
    validation: Promise<Result<T, BlockErrorCode>>,
  ): Promise<Result<T, BlockErrorCode>> {
    const checked = await validation;
    const decoded = checked.ok || !isInvalid(checked.error) ? undefined : decodeAndHash(block.header);
    if (decoded?.ok) this.parts.badBlocks.keep({ ...block, hash: decoded.value.hash });
    return checked;
  }
}

/** A block with another parent, or from the future, may be valid elsewhere or later. */
function isInvalid({ code, fault }: CodedError<BlockErrorCode>): boolean {
  return fault === "peer" && !["wrongParent", "wrongNumber", "timestampInFuture"].includes(code);
}

/** The block to store: the executed one with the sealed header, which differs only in round and seals. */
export function sealedBlock(
  { block, receipts }: ExecutedBlock,
  header: Header,
  parent: NamedHeader,
): StoredBlock {
  const complete = { ...block, header };
  return {
    ...complete,
    receipts,
    totalDifficulty: parent.totalDifficulty + header.difficulty,
    size: sizeOfBlock(complete),
  };
}
